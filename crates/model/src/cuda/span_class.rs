//! Classes of spans by length. Attention launches a kernel for each class.

/// The longest span of each class: spans are put into classes by length, each with its own launch.
pub const CLASSES: [usize; 5] = [32, 48, 64, 128, usize::MAX];
/// The first classes, whose spans a block of SHORT_WARPS warps takes.
pub const SHORT_CLASSES: usize = 3;
/// The class of all short spans where they do not fill a GPU class by class.
pub const MERGED_CLASS: usize = SHORT_CLASSES - 1;

/// The class of a span of so many rows, in a small batch or not.
pub fn class_of(rows: usize, small: bool) -> usize {
    let class = CLASSES.iter().position(|&most| rows <= most).unwrap_or(CLASSES.len() - 1);
    if small { class.max(MERGED_CLASS) } else { class }
}
