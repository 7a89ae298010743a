//! The matrix product's inner kernel: a tile of C held in registers while k runs.
//!
//! Each element of C is one chain of fused multiply-adds in the order of k. So its bits depend on neither the tile it
//! falls in, nor the blocks k is cut into (C is stored and read back exactly), nor the number of threads, nor how many
//! other rows are computed beside it.

use super::Float;
use super::simd;

/// tile\[i\]\[j\] = init\[i\]\[j\] + sum over k of a\[i\]\[k\] · b\[k\]\[j\], for as many rows i as the tile has.
///
/// A's rows, or else its columns, are contiguous, and `lda` apart. B is a panel, `nr` contiguous elements per k. `init`
/// may be null for zero, and may be `c` itself.
pub type Tile<F> =
    unsafe fn(k: usize, a: *const F, lda: usize, b: *const F, c: *mut F, ldc: usize, init: *const F, ldi: usize);

/// A tile's rows, and its code for an A with contiguous rows and one with contiguous columns.
#[derive(Clone, Copy)]
pub struct Tiles<F> {
    pub rows: usize,
    pub by_rows: Tile<F>,
    pub by_columns: Tile<F>,
}

/// The tiles of one instruction set: all `nr` columns wide, from many rows down to one.
#[derive(Clone, Copy)]
pub struct Kernel<F> {
    pub nr: usize,
    pub tiles: [Tiles<F>; 3],
}

/// The most elements a tile has.
pub const TILE_MAX: usize = 12 * 32;

impl<F> Kernel<F> {
    /// Rows of the largest tile.
    pub fn mr(&self) -> usize {
        self.tiles[0].rows
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments, clippy::needless_range_loop)]
unsafe fn run<F: Float, const MR: usize, const NR: usize, const BY_ROWS: bool>(
    k: usize,
    mut a: *const F,
    lda: usize,
    mut b: *const F,
    c: *mut F,
    ldc: usize,
    init: *const F,
    ldi: usize,
) {
    let (row, column) = if BY_ROWS { (lda, 1) } else { (1, lda) };
    unsafe {
        let mut acc = [[F::ZERO; NR]; MR];
        if !init.is_null() {
            for i in 0..MR {
                for j in 0..NR {
                    acc[i][j] = *init.add(i * ldi + j);
                }
            }
        }
        for _ in 0..k {
            let right = &*(b as *const [F; NR]);
            for i in 0..MR {
                let left = *a.add(i * row);
                for j in 0..NR {
                    acc[i][j] = left.mul_add(right[j], acc[i][j]);
                }
            }
            a = a.add(column);
            b = b.add(NR);
        }
        for i in 0..MR {
            for j in 0..NR {
                *c.add(i * ldc + j) = acc[i][j];
            }
        }
    }
}

macro_rules! compiled_for {
    ($name:ident $(, $features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<F: Float, const MR: usize, const NR: usize, const BY_ROWS: bool>(
            k: usize,
            a: *const F,
            lda: usize,
            b: *const F,
            c: *mut F,
            ldc: usize,
            init: *const F,
            ldi: usize,
        ) {
            unsafe { run::<F, MR, NR, BY_ROWS>(k, a, lda, b, c, ldc, init, ldi) }
        }
    };
}

compiled_for!(base);
#[cfg(target_arch = "x86_64")]
compiled_for!(v3, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled_for!(v4, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma");

macro_rules! tiles {
    ($code:ident, $float:ty, $nr:literal, $($rows:literal),*) => {
        Kernel {
            nr: $nr,
            tiles: [$(Tiles {
                rows: $rows,
                by_rows: $code::<$float, $rows, $nr, true>,
                by_columns: $code::<$float, $rows, $nr, false>,
            }),*],
        }
    };
}

/// Two vectors wide; 12 rows where there are 32 registers, 6 where there are 16.
macro_rules! pick {
    ($float:ty, $v4:literal, $v3:literal, $base:literal) => {
        impl Kernel<$float> {
            pub fn pick() -> Self {
                match simd::level() {
                    #[cfg(target_arch = "x86_64")]
                    simd::Level::V4 | simd::Level::Amx => tiles!(v4, $float, $v4, 12, 4, 1),
                    #[cfg(target_arch = "x86_64")]
                    simd::Level::V3 => tiles!(v3, $float, $v3, 6, 3, 1),
                    _ => tiles!(base, $float, $base, 12, 4, 1),
                }
            }
        }
    };
}

pick!(f32, 32, 16, 8);
pick!(f64, 16, 8, 4);
