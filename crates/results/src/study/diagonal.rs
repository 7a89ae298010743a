//! The order of a study's cells: whatever is done first holds about as much of every level.

/// Every combination of levels once, along the diagonal: the digits of a counter, each shifted by the sum of the
/// faster ones before it. The map is triangular, so it stays one to one.
pub fn diagonal(sizes: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = sizes.iter().product();
    (0..count)
        .map(|mut number| {
            let mut shift = 0;
            sizes
                .iter()
                .map(|&size| {
                    shift += number % size;
                    number /= size;
                    shift % size
                })
                .collect()
        })
        .collect()
}
