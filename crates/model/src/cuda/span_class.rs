//! Classes of spans by length. Attention launches a kernel for each class.

/// The longest span of each class.
pub const CLASSES: [usize; 5] = [32, 48, 64, 128, usize::MAX];
/// The number of classes of short spans, with blocks of SHORT_WARPS warps.
pub const SHORT_CLASSES: usize = 3;
/// The class of all short spans in small batches.
pub const MERGED_CLASS: usize = SHORT_CLASSES - 1;

/// The class of a span.
pub fn class_of(rows: usize, small: bool) -> usize {
    let class = CLASSES.iter().position(|&most| rows <= most).unwrap_or(CLASSES.len() - 1);
    if small { class.max(MERGED_CLASS) } else { class }
}
