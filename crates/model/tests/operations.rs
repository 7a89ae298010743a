//! Operations of the CPU against the obvious loops, and the self-test against the f64 twin.

use invitro_model::cpu::{Cpu, Float, copy_lines, transpose};
use invitro_model::selftest::selftest;
use invitro_model::{Batch, Device, ModelKind, Ops, Population, Shape, TokenSequence, Vector};

/// One member of a shape, with one sequence of so many rows loaded.
fn loaded(shape: &Shape, tokens: Vec<u32>) -> Cpu<f64> {
    let batch = Batch::pack(&[vec![TokenSequence { tokens, group: 0 }]], 1, shape.context).unwrap();
    let mut ops = Cpu::new(shape, 1, batch.rows).unwrap();
    ops.load(&batch, &[]).unwrap();
    ops
}

fn numbers(len: usize, seed: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f64 / 1009.0 - 0.5).collect()
}

/// c[i][j] = sum of a(i, p) b(p, j), the obvious way.
fn naive(
    (m, n, k): (usize, usize, usize),
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    (0..m * n).map(|at| (0..k).map(|p| a(at / n, p) * b(p, at % n)).sum()).collect()
}

fn close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() < 1e-12, "{g} is not {e}");
    }
}

/// Below, between and above the tiles and blocks that matmuls are cut into.
#[test]
fn matmuls_equal_three_loops_at_awkward_sizes() {
    for (m, width, hidden, vocab) in
        [(1, 2, 1, 1), (5, 4, 3, 7), (49, 40, 33, 33), (13, 600, 40, 100), (60, 1100, 16, 16)]
    {
        let shape = Shape { layers: 1, heads: 1, width, hidden, context: m, ..Shape::paper(vocab) };
        let mut ops = loaded(&shape, vec![0; m + 1]);
        for linear in [ops.layout().head, ops.layout().layers[0].down] {
            let tensor = linear.weight;
            let (n, k) = (tensor.rows, tensor.cols);
            let mut buffer = |values: &[f64]| {
                let mut buffer = ops.buf(values.len()).unwrap();
                buffer.copy_from_slice(values);
                buffer
            };
            let (x, r, w) = (buffer(&numbers(m * k, 1)), buffer(&numbers(m * n, 3)), numbers(n * k, 2));
            let (mut y, mut dx) = (buffer(&vec![0.0; m * n]), buffer(&vec![0.0; m * k]));
            ops.vector_mut(0, Vector::Weights)[tensor.range()].copy_from_slice(&w);

            ops.linear(&x, linear, Some(&r), &mut y).unwrap();
            let mut expected = naive((m, n, k), |i, p| x[i * k + p], |p, j| w[j * k + p]);
            expected.iter_mut().zip(r.iter()).for_each(|(e, r)| *e += r);
            close(&y, &expected);

            ops.linear_backward_input(&y, tensor, &mut dx).unwrap();
            close(&dx, &naive((m, k, n), |i, p| y[i * n + p], |p, j| w[p * k + j]));

            ops.linear_backward_weight(&y, &x, linear).unwrap();
            let gradient = &ops.vector(0, Vector::Gradients)[tensor.range()];
            close(gradient, &naive((n, k, m), |i, p| y[p * n + i], |p, j| x[p * k + j]));
        }
    }
}

#[test]
fn the_gradient_of_a_token_is_summed_over_its_rows_in_order() {
    let shape = Shape { layers: 1, heads: 1, width: 2, hidden: 1, context: 6, ..Shape::paper(5) };
    let mut ops = loaded(&shape, vec![2, 0, 2, 3, 0, 2, 4]);
    let embed = ops.layout().embed;
    let mut dx = ops.buf(6 * 2).unwrap();
    // Token 2 has the rows 0, 2 and 5: only in this order does its second sum lose the one.
    dx.copy_from_slice(&[1.0, 1.0, 2.0, 2.0, 4.0, 1e16, 8.0, 8.0, 16.0, 16.0, 32.0, -1e16]);
    ops.embed_backward(&dx, embed).unwrap();
    let gradient = &ops.vector(0, Vector::Gradients)[embed.range()];
    assert_eq!(gradient, [18.0, 18.0, 0.0, 0.0, 37.0, 0.0, 8.0, 8.0, 0.0, 0.0]);
}

#[test]
fn exp_is_accurate_over_its_range() {
    let mut worst = 0.0f64;
    for i in -870_000..880_000 {
        let x = i as f32 * 1e-4;
        let exact = (x as f64).exp();
        let ulp = f32::EPSILON as f64 * exact;
        worst = worst.max((Float::exp(x) as f64 - exact).abs() / ulp);
    }
    assert!(worst < 2.0, "off by {worst} units in the last place");
    assert_eq!(Float::exp(0.0f32), 1.0);
    assert!(Float::exp(-1e30f32) < 1e-37);
    assert!(Float::exp(1e30f32).is_finite());
}

fn twin_passes(shape: &Shape) {
    let population = |shape: &Shape, seeds: &[u64], rows| Population::new(Device::Cpu, shape, seeds, rows);
    let (mut worst, mut count) = (0f64, 0);
    let passed = selftest(shape, 2, Cpu::<f64>::new, population, |_| (), &mut |difference| {
        worst = worst.max(difference.relative);
        count += 1;
    });
    assert!(passed.unwrap() && count > 40, "{count} tensors, worst {worst:e}");
    assert!(worst < 1e-4, "f32 and f64 differ by {worst:e}");
}

fn twin_shape() -> Shape {
    Shape { layers: 2, width: 64, heads: 2, hidden: 48, ..Shape::paper(101) }
}

#[test]
fn the_f64_twin_of_a_tied_gpt2_passes() {
    twin_passes(&Shape { kind: ModelKind::Gpt2, tied: true, ..twin_shape() });
}

#[test]
fn the_f64_twin_passes_and_wrong_weights_do_not() {
    let shape = twin_shape();
    twin_passes(&shape);
    let other = |shape: &Shape, _: &[u64], rows| Population::new(Device::Cpu, shape, &[8, 9], rows);
    let mut wrong = Vec::new();
    let passed = selftest(&shape, 2, Cpu::<f64>::new, other, |_| (), &mut |difference| {
        if !difference.passes() {
            wrong.push(difference.name.clone());
        }
    });
    assert!(!passed.unwrap() && wrong.contains(&"weights after training".to_string()), "{wrong:?}");
}

#[test]
fn transposes_whole_squares_and_edges() {
    for (rows, columns, wide) in [(32, 16, 32), (9, 11, 16), (1, 1, 8), (8, 20, 8)] {
        let source: Vec<f32> = (0..rows * (columns + 3)).map(|i| i as f32).collect();
        let mut out = vec![-1.0; columns * wide];
        transpose(&source, columns + 3, rows, columns, wide, &mut out);
        for j in 0..columns {
            for i in 0..wide {
                let expected = if i < rows { source[i * (columns + 3) + j] } else { 0.0 };
                assert_eq!(out[j * wide + i], expected, "row {i}, column {j} of {rows} x {columns}");
            }
        }
    }
}

#[test]
fn copies_lines_and_fills_them_up() {
    let source: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut lines = vec![-1.0; 3 * 16];
    copy_lines(&source, 20, 16, 16, &mut lines);
    assert_eq!((lines[0], lines[15], lines[16], lines[47]), (0.0, 15.0, 20.0, 55.0));
    copy_lines(&source, 20, 5, 16, &mut lines);
    assert_eq!((lines[4], lines[5], lines[20], lines[21]), (4.0, 0.0, 24.0, 0.0));
}
