//! Just enough linear algebra for regressions of a handful of columns: symmetric systems stored row by row.

/// The inverse of a symmetric positive definite matrix of `size` rows, or the index of the first column that is a
/// linear combination of those before it.
pub fn inverse(matrix: &[f64], size: usize) -> Result<Vec<f64>, usize> {
    let lower = cholesky(matrix, size)?;
    let mut result = vec![0.0; size * size];
    for column in 0..size {
        let mut unit = vec![0.0; size];
        unit[column] = 1.0;
        let solved = solve_with(&lower, &unit);
        for row in 0..size {
            result[row * size + column] = solved[row];
        }
    }
    Ok(result)
}

/// Solves `matrix` x = `right`; the error is as in [`inverse`].
pub fn solve(matrix: &[f64], right: &[f64]) -> Result<Vec<f64>, usize> {
    Ok(solve_with(&cholesky(matrix, right.len())?, right))
}

fn cholesky(matrix: &[f64], size: usize) -> Result<Vec<f64>, usize> {
    let mut lower = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| lower[row * size + k] * lower[column * size + k]).sum();
            let remainder = matrix[row * size + column] - known;
            if row == column {
                // A pivot that lost ten digits against its own diagonal is a dependent column, not a small one.
                if remainder <= 1e-10 * matrix[row * size + row].abs() || !remainder.is_finite() {
                    return Err(row);
                }
                lower[row * size + row] = remainder.sqrt();
            } else {
                lower[row * size + column] = remainder / lower[column * size + column];
            }
        }
    }
    Ok(lower)
}

fn solve_with(lower: &[f64], right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut x = right.to_vec();
    for row in 0..size {
        let known: f64 = (0..row).map(|k| lower[row * size + k] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row * size + row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| lower[k * size + row] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row * size + row];
    }
    x
}
