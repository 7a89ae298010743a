//! Blocks of 32 × 32 numbers, each split into three of bf16 and arranged as the tile unit reads them.

use super::{EDGE, WORDS};
use std::arch::x86_64::*;

/// Pairs are neighbours in a row of the source, or in a column.
pub const ALONG: bool = false;
pub const ACROSS: bool = true;

/// Arranges the block at (row, column) of a source `[rows, columns]`; what the source lacks is zero. A tile's rows run over
/// the source's rows if pairs lie along them and over the pairs if they lie across; transposed, the other way round.
pub fn arrange<const PAIRS: bool, const TRANSPOSED: bool>(
    source: &[f32],
    (rows, columns): (usize, usize),
    (row, column): (usize, usize),
    out: &mut [f32],
) {
    let out: &mut [f32; WORDS] = out.try_into().expect("a block");
    let (tall, wide) = (EDGE.min(rows - row), EDGE.min(columns - column));
    let source = &source[row * columns + column..(row + tall - 1) * columns + column + wide];
    // Sound: only reached where `available`, on processors that have AVX-512 too; a whole block lies within the source.
    if (tall, wide) == (EDGE, EDGE) {
        return unsafe { arrange_whole::<PAIRS, TRANSPOSED>(source.as_ptr(), columns, out) };
    }
    let mut whole = [0f32; EDGE * EDGE];
    for (line, source) in whole.chunks_exact_mut(EDGE).zip(source.chunks(columns)) {
        line[..wide].copy_from_slice(&source[..wide]);
    }
    unsafe { arrange_whole::<PAIRS, TRANSPOSED>(whole.as_ptr(), EDGE, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn arrange_whole<const PAIRS: bool, const TRANSPOSED: bool>(
    source: *const f32,
    stride: usize,
    out: &mut [f32; WORDS],
) {
    // Sound: the source is a whole block with rows `stride` apart, and every line of `out` holds a vector.
    unsafe {
        let upper = _mm512_loadu_si512(UPPER.as_ptr().cast());
        let tiles = out.as_chunks_mut::<16>().0.as_chunks_mut::<16>().0;
        for (half, line) in (0..32).map(|i| (i / 16, i % 16)) {
            let (from, next) = match PAIRS {
                ALONG => ((16 * half + line) * stride, 16),
                ACROSS => (2 * line * stride + 16 * half, stride),
            };
            let (one, other) = (_mm512_loadu_ps(source.add(from)), _mm512_loadu_ps(source.add(from + next)));
            for (part, (one, other)) in parts(one).into_iter().zip(parts(other)).enumerate() {
                let pairs = match PAIRS {
                    ALONG => _mm512_permutex2var_epi16(one, upper, other),
                    ACROSS => _mm512_or_si512(_mm512_srli_epi32(one, 16), other),
                };
                _mm512_storeu_si512(tiles[2 * part + half][line].as_mut_ptr().cast(), pairs);
            }
        }
        if TRANSPOSED {
            tiles.iter_mut().for_each(|tile| transpose(tile));
        }
    }
}

/// The upper halves of 16 + 16 words, in order.
const UPPER: [u16; 32] = {
    let mut upper = [0; 32];
    let mut i = 0;
    while i < 32 {
        upper[i] = 2 * i as u16 + 1;
        i += 1;
    }
    upper
};

/// x₁, x₂, x₃: each the upper half of its word, the nearest to what the ones before leave; the lower halves are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn parts(x: __m512) -> [__m512i; 3] {
    let upper = |x: __m512| {
        let rounded = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
        _mm512_and_si512(rounded, _mm512_set1_epi32(0xffff_0000_u32 as i32))
    };
    let first = upper(x);
    let rest = _mm512_sub_ps(x, _mm512_castsi512_ps(first));
    let second = upper(rest);
    // At most eight of a number's 24 bits are left.
    [first, second, _mm512_castps_si512(_mm512_sub_ps(rest, _mm512_castsi512_ps(second)))]
}

/// 16 × 16 words, by exchanging quarters, then quarters of those, down to single words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn transpose(tile: &mut [[f32; 16]; 16]) {
    // Sound: every line holds a vector.
    let mut rows: [__m512i; 16] = std::array::from_fn(|i| unsafe { _mm512_loadu_si512(tile[i].as_ptr().cast()) });
    let lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for distance in [8, 4, 2, 1] {
        let far = _mm512_set1_epi32(distance as i32);
        let upper = _mm512_test_epi32_mask(lanes, far);
        // From the second of two rows come the lanes 16 and on.
        let first = _mm512_mask_add_epi32(lanes, upper, lanes, _mm512_sub_epi32(_mm512_set1_epi32(16), far));
        let second = _mm512_mask_add_epi32(_mm512_add_epi32(lanes, far), upper, lanes, _mm512_set1_epi32(16));
        for i in (0..16).filter(|i| i & distance == 0) {
            let (a, b) = (rows[i], rows[i + distance]);
            rows[i] = _mm512_permutex2var_epi32(a, first, b);
            rows[i + distance] = _mm512_permutex2var_epi32(a, second, b);
        }
    }
    for (line, row) in tile.iter_mut().zip(rows) {
        unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), row) };
    }
}
