//! The inner kernel of a matmul: a tile of C in registers, looping over k.
//!
//! Each element of C is one chain of fused multiply-adds in the order of k. So its bits do not depend on the tile, the
//! blocks of k (C is stored and read back exactly), the number of threads, or the other rows.

use crate::cpu::float::Float;
use crate::cpu::simd;

/// tile\[i\]\[j\] = init\[i\]\[j\] + sum over k of a\[i\]\[k\] · b\[k\]\[j\], for all rows i of the tile.
///
/// A's rows or its columns are contiguous and `lda` apart. B is a panel, `nr` contiguous elements per k. `init`
/// may be null for zero, and may be `c` itself.
///
/// Safety: A must have the tile's rows × k, B `nr` × k, C and a non-null init the whole tile.
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
pub struct MatmulKernel<F> {
    pub nr: usize,
    pub tiles: [Tiles<F>; 3],
}

/// The largest number of elements of a tile.
pub const TILE_MAX: usize = 12 * 32;

impl<F> MatmulKernel<F> {
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
    // SAFETY: as required by [`Tile`].
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
            // SAFETY: as for `run`.
            unsafe { run::<F, MR, NR, BY_ROWS>(k, a, lda, b, c, ldc, init, ldi) }
        }
    };
}

compiled_for!(base);
#[cfg(target_arch = "x86_64")]
compiled_for!(avx2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled_for!(avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma");

/// A floating-point type with matmul kernels.
pub trait MatmulFloat: Float {
    /// The kernel for the current SIMD level.
    fn kernel() -> MatmulKernel<Self>;
}

macro_rules! tiles {
    ($code:ident, $float:ty, $nr:literal, $($rows:literal),*) => {
        MatmulKernel {
            nr: $nr,
            tiles: [$(Tiles {
                rows: $rows,
                by_rows: $code::<$float, $rows, $nr, true>,
                by_columns: $code::<$float, $rows, $nr, false>,
            }),*],
        }
    };
}

/// Tiles are two vectors wide; 12 rows with 32 registers, 6 with 16.
macro_rules! kernels {
    ($float:ty, $avx512:literal, $avx2:literal, $base:literal) => {
        impl MatmulFloat for $float {
            fn kernel() -> MatmulKernel<Self> {
                match simd::level() {
                    #[cfg(target_arch = "x86_64")]
                    simd::Level::Avx512 => tiles!(avx512, $float, $avx512, 12, 4, 1),
                    #[cfg(target_arch = "x86_64")]
                    simd::Level::Avx2 => tiles!(avx2, $float, $avx2, 6, 3, 1),
                    _ => tiles!(base, $float, $base, 12, 4, 1),
                }
            }
        }
    };
}

kernels!(f32, 32, 16, 8);
kernels!(f64, 16, 8, 4);
