//! Settings: the device, the schedule, the initial weights, the memory.

use invitro_model::cpu::{Buffer, Cpu};
use invitro_model::init::initial_weights;
use invitro_model::memory::population_bytes;
use invitro_model::transformer::{Transformer, elements_per_row};
use invitro_model::{Decay, Device, Layout, ModelKind, Shape, TrainConfig, Update};

#[test]
fn names_are_read_and_others_refused() {
    assert_eq!(Device::parse("cpu").unwrap(), Device::Cpu);
    assert_eq!(Device::parse("cuda").unwrap(), Device::Cuda(0));
    assert_eq!(Device::parse("cuda:3").unwrap(), Device::Cuda(3));
    assert_eq!(Device::parse_list("cpu").unwrap(), [Device::Cpu]);
    assert_eq!(Device::parse_list("cuda:0,cuda:2,cuda:0").unwrap(), [0, 2, 0].map(Device::Cuda));
    for list in ["cuda:0,cpu", "cuda:0,", "auto,cuda:0", "cuda:all,cuda:0"] {
        assert!(Device::parse_list(list).is_err(), "{list}");
    }
    for several in ["cuda:all", "cuda:0,cuda:1"] {
        let error = Device::parse(several).unwrap_err().to_string();
        assert!(error.contains(several) && error.contains("study run"), "{error}");
    }
    let error = Device::parse("gpu").unwrap_err().to_string();
    assert!(error.contains("gpu") && error.contains("cuda:NUMBER"), "{error}");
}

#[test]
fn more_steps_have_other_rates_after_the_warm_up() {
    let train = TrainConfig { steps: 100, warmup: 10, ..TrainConfig::default() };
    assert_eq!((train.first_other_rate(100, 100), train.first_other_rate(200, 10)), (None, None));
    assert_eq!(train.first_other_rate(200, 100), Some(11));
    let stays = TrainConfig { decay: Decay::None, ..train };
    assert_eq!((stays.first_other_rate(200, 100), stays.rate(5), stays.rate(90)), (None, stays.lr / 2.0, stays.lr));
}

#[test]
fn warms_up_linearly_and_falls_as_a_cosine() {
    let train = TrainConfig { steps: 1256, ..TrainConfig::default() };
    assert_eq!(train.rate(1), 1e-4 / 256.0);
    assert_eq!(train.rate(128), 0.5e-4);
    assert!((train.rate(256 + 500) - 0.5e-4).abs() < 1e-18);
    assert!(train.rate(1256).abs() < 1e-18);
    assert!((2..=256).all(|s| train.rate(s) > train.rate(s - 1)));
    assert!((257..=1256).all(|s| train.rate(s) < train.rate(s - 1)));
}

#[test]
fn no_warm_up_and_no_clipping_are_possible() {
    let train = TrainConfig { warmup: 0, clip: 0.0, steps: 10, ..TrainConfig::default() };
    assert!(train.rate(1) > 0.9e-4);
    assert_eq!(Update::at(&train, 1).clip, f64::INFINITY);
    assert!(train.validate().is_ok());
}

#[test]
fn nonsense_is_refused() {
    let bad = TrainConfig { beta2: 1.0, ..TrainConfig::default() };
    assert_eq!(bad.validate().unwrap_err().to_string(), "`train.beta2` is 1, but must be at least 0 and below 1");
    assert!(TrainConfig { batch: 0, ..TrainConfig::default() }.validate().is_err());
    assert!(TrainConfig { eps: 0.0, ..TrainConfig::default() }.validate().is_err());
    assert!(TrainConfig { lr: f64::NAN, ..TrainConfig::default() }.validate().is_err());
}

fn shape(layers: usize) -> Shape {
    Shape { layers, width: 32, heads: 2, hidden: 48, vocab: 100, ..Shape::paper(100) }
}

#[test]
fn matrices_are_normal_and_gains_one() {
    let shape = shape(2);
    let (layout, weights) = (Layout::new(&shape), initial_weights(&shape, 7));
    let matrix = &weights[layout.layers[1].gate_up.weight.range()];
    let mean = matrix.iter().sum::<f32>() / matrix.len() as f32;
    let spread = (matrix.iter().map(|w| w * w).sum::<f32>() / matrix.len() as f32).sqrt();
    assert!(mean.abs() < 2e-3 && (spread - 0.02).abs() < 1e-3, "mean {mean}, spread {spread}");
    assert!(weights[layout.layers[0].norm2.gain.range()].iter().all(|&gain| gain == 1.0));
    assert!(weights[layout.norm.gain.range()].iter().all(|&gain| gain == 1.0));
}

#[test]
fn streams_do_not_move_each_other() {
    let (one, two) = (shape(1), shape(2));
    let (a, b) = (initial_weights(&one, 3), initial_weights(&two, 3));
    let (la, lb) = (Layout::new(&one), Layout::new(&two));
    assert_eq!(a[la.head.weight.range()], b[lb.head.weight.range()]);
    assert_eq!(a[la.layers[0].qkv.weight.range()], b[lb.layers[0].qkv.weight.range()]);
    assert_ne!(b[lb.layers[0].qkv.weight.range()], b[lb.layers[1].qkv.weight.range()]);
    assert_ne!(initial_weights(&one, 4), a);
}

/// These numbers must never change: a seed means the same model in every version.
#[test]
fn a_seed_means_the_same_weights_for_ever() {
    let weights = initial_weights(&shape(1), 0);
    let bits: Vec<u32> = weights[..4].iter().map(|w| w.to_bits()).collect();
    assert_eq!(bits, [1012314765, 3161597872, 1007118262, 3157115635]);
}

#[test]
fn the_paper_s_models_take_hundreds_of_megabytes_each() {
    for device in [Device::Cpu, Device::Cuda(0)] {
        let bytes = |members| population_bytes(device, &Shape::paper(2048), members, 3840);
        assert!((300_000_000..900_000_000).contains(&bytes(1)), "{device:?}: {}", bytes(1));
        let (one, more) = (bytes(2) - bytes(1), bytes(64) - bytes(63));
        assert!(one.abs_diff(more) < 1_000_000, "{device:?}: each takes as much as the first");
    }
}

#[test]
fn a_row_takes_as_many_elements_as_are_said() {
    for kind in ModelKind::ALL {
        let shape = Shape { kind, layers: 3, width: 16, heads: 2, hidden: 24, context: 8, ..Shape::paper(32) };
        elements_are_as_said(&shape);
    }
}

fn elements_are_as_said(shape: &Shape) {
    const ROWS: usize = 16;
    let model = Transformer::new(Cpu::<f32>::new(shape, 1, ROWS).unwrap(), ROWS).unwrap();
    let total = |buffers: &[&Buffer<f32>]| buffers.iter().map(|buffer| buffer.len()).sum::<usize>();
    let (bufs, stats) = model.buffers();
    let (buf, stat) = (total(&bufs), total(&stats));
    let (per_row, statistics) = elements_per_row(shape);
    assert_eq!((buf, stat), (ROWS * per_row, ROWS * statistics));
}

#[test]
fn gpt2_has_biases_of_zero_and_a_tied_model_one_matrix() {
    let of = |kind, tied| Layout::new(&Shape { kind, tied, ..shape(2) });
    let gpt2 = Shape { kind: ModelKind::Gpt2, ..shape(2) };
    let (layout, weights) = (Layout::new(&gpt2), initial_weights(&gpt2, 7));
    let layer = layout.layers[1];
    for bias in
        [layer.norm1.bias, layer.qkv.bias, layer.out.bias, layer.gate_up.bias, layer.down.bias, layout.norm.bias]
    {
        assert!(weights[bias.unwrap().range()].iter().all(|&bias| bias == 0.0));
    }
    assert!(weights[layer.norm2.gain.range()].iter().all(|&gain| gain == 1.0));
    let positions = layout.positions.unwrap();
    assert_eq!((positions.rows, positions.cols), (gpt2.context, gpt2.width));
    assert!(weights[positions.range()].iter().any(|&weight| weight != 0.0));
    for kind in ModelKind::ALL {
        let (untied, tied) = (of(kind, false), of(kind, true));
        assert_eq!(tied.head.weight, tied.embed);
        assert_eq!(untied.size - tied.size, untied.embed.len().next_multiple_of(invitro_model::layout::ALIGN));
    }
}
