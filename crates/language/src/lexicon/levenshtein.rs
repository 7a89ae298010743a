//! Levenshtein distance: bit-parallel for short lower-case words (Myers 1999), and the dynamic-programming table, which
//! takes any letters.

/// Edits between two words of at most 64 letters a to z.
pub fn levenshtein(a: &[u8], b: &[u8]) -> usize {
    debug_assert!(a.len() <= 64 && a.iter().chain(b).all(u8::is_ascii_lowercase));
    if a.is_empty() || b.is_empty() {
        return a.len().max(b.len());
    }
    // positions[l]: the positions of letter l in a, one bit each.
    let mut positions = [0u64; 32];
    for (i, &letter) in a.iter().enumerate() {
        positions[(letter & 31) as usize] |= 1 << i;
    }
    let last = 1u64 << (a.len() - 1);
    let (mut rises, mut falls, mut distance) = (!0u64, 0u64, a.len());
    for &letter in b {
        let matches = positions[(letter & 31) as usize];
        let diagonal = (((matches & rises).wrapping_add(rises)) ^ rises) | matches | falls;
        let up = falls | !(diagonal | rises);
        let down = rises & diagonal;
        distance += usize::from(up & last != 0);
        distance -= usize::from(down & last != 0);
        let up = (up << 1) | 1;
        rises = (down << 1) | !(diagonal | up);
        falls = up & diagonal;
    }
    distance
}

/// Edits between two words of any letters, by dynamic programming.
pub fn edits<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (corner + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

/// Distance over the longer word's length: 0 for equal words, at most 1.
pub fn normalised(a: &[u8], b: &[u8]) -> f64 {
    levenshtein(a, b) as f64 / a.len().max(b.len()).max(1) as f64
}

/// The same for words of any letters.
pub fn normalised_letters(a: &[char], b: &[char]) -> f64 {
    edits(a, b) as f64 / a.len().max(b.len()).max(1) as f64
}
