//! Sorts the rows of a batch by token, for the gradient of the embedding.

/// Counting sort: token v has the rows `by_token[starts[v]..starts[v + 1]]`, in row order.
pub fn sort_by_token(tokens: &[u32], starts: &mut [u32], by_token: &mut [u32]) {
    starts.fill(0);
    for &token in tokens {
        starts[token as usize + 1] += 1;
    }
    for v in 1..starts.len() {
        starts[v] += starts[v - 1];
    }
    // Filling moves every start to the next token's start; the last loop moves them back.
    for (row, &token) in tokens.iter().enumerate() {
        by_token[starts[token as usize] as usize] = row as u32;
        starts[token as usize] += 1;
    }
    for v in (1..starts.len()).rev() {
        starts[v] = starts[v - 1];
    }
    starts[0] = 0;
}
