//! The tile unit itself: whether it may be used, and a block of C.

use super::{EDGE, WORDS};
use std::arch::asm;
use std::arch::x86_64::*;

/// Whether the processor has the unit and the system lets this process use it.
pub fn available() -> bool {
    let leaf = __cpuid_count(7, 0);
    let (bf16, tile) = (leaf.edx >> 22 & 1, leaf.edx >> 24 & 1);
    bf16 == 1 && tile == 1 && permitted()
}

/// Linux gives the unit's large registers only to who asks.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    unsafe extern "C" {
        fn syscall(number: i64, ...) -> i64;
    }
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const XTILEDATA: i64 = 18;
    // Sound: the call only asks for leave.
    unsafe { syscall(ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

/// The unit, set up on this thread for tiles of 16 rows of 64 bytes until it is dropped.
pub struct Unit;

impl Unit {
    pub fn start() -> Self {
        #[repr(C, align(64))]
        struct Setup {
            palette: [u8; 16],
            row_bytes: [u16; 16],
            rows: [u8; 16],
        }
        let mut setup = Setup { palette: [0; 16], row_bytes: [0; 16], rows: [0; 16] };
        setup.palette[0] = 1;
        setup.row_bytes[..8].fill(64);
        setup.rows[..8].fill(16);
        // Sound: only reached where `available`.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &setup, options(nostack, readonly)) };
        Unit
    }

    /// A block of C, `size` of it, = init + left · right; `init` is null for zero, or lies like C.
    ///
    /// # Safety
    /// `c` and a non-null `init` reach `size` with rows `stride` apart.
    pub unsafe fn multiply(
        &self,
        left: &[f32],
        right: &[f32],
        (rows, columns): (usize, usize),
        (c, stride): (*mut f32, usize),
        init: *const f32,
    ) {
        assert_eq!(left.len(), right.len());
        unsafe {
            if (rows, columns) == (EDGE, EDGE) {
                return chain(left, right, c, stride, init);
            }
            // Less than a block: through one of its own.
            let mut whole = [0f32; EDGE * EDGE];
            if !init.is_null() {
                for i in 0..rows {
                    init.add(i * stride).copy_to_nonoverlapping(whole.as_mut_ptr().add(i * EDGE), columns);
                }
            }
            chain(left, right, whole.as_mut_ptr(), EDGE, whole.as_ptr());
            for i in 0..rows {
                whole.as_ptr().add(i * EDGE).copy_to_nonoverlapping(c.add(i * stride), columns);
            }
        }
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // Sound: as `start`.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// Tiles 0 to 3 are the block of C, 4 and 5 of the left factor, 6 and 7 of the right one.
unsafe fn chain(left: &[f32], right: &[f32], c: *mut f32, stride: usize, init: *const f32) {
    unsafe {
        let below = 16 * stride;
        if init.is_null() {
            asm!("tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3", options(nostack, nomem));
        } else {
            asm!(
                "tileloadd tmm0, [{upper} + {stride}]",
                "tileloadd tmm1, [{upper} + {stride} + 64]",
                "tileloadd tmm2, [{lower} + {stride}]",
                "tileloadd tmm3, [{lower} + {stride} + 64]",
                upper = in(reg) init,
                lower = in(reg) init.add(below),
                stride = in(reg) 4 * stride,
                options(nostack, readonly),
            );
        }
        for (step, (left, right)) in left.as_chunks::<WORDS>().0.iter().zip(right.as_chunks::<WORDS>().0).enumerate() {
            // What is stored in the end is fetched meanwhile, a few rows a step.
            for row in 4 * step..(4 * step + 4).min(EDGE) {
                _mm_prefetch::<_MM_HINT_T1>(c.add(row * stride).cast());
                _mm_prefetch::<_MM_HINT_T1>(c.add(row * stride + 16).cast());
            }
            macro_rules! four {
                () => {
                    "tdpbf16ps tmm0, tmm4, tmm6
                     tdpbf16ps tmm1, tmm4, tmm7
                     tdpbf16ps tmm2, tmm5, tmm6
                     tdpbf16ps tmm3, tmm5, tmm7"
                };
            }
            // Parts lie 2048 bytes apart. In this order few tiles are loaded again:
            // x₁w₃, x₁w₂, x₁w₁, x₃w₁, x₂w₁, x₂w₂.
            asm!(
                "tileloadd tmm4, [{x} + {row}]",
                "tileloadd tmm5, [{x} + {row} + 1024]",
                "tileloadd tmm6, [{w} + {row} + 4096]",
                "tileloadd tmm7, [{w} + {row} + 5120]",
                four!(),
                "tileloadd tmm6, [{w} + {row} + 2048]",
                "tileloadd tmm7, [{w} + {row} + 3072]",
                four!(),
                "tileloadd tmm6, [{w} + {row}]",
                "tileloadd tmm7, [{w} + {row} + 1024]",
                four!(),
                "tileloadd tmm4, [{x} + {row} + 4096]",
                "tileloadd tmm5, [{x} + {row} + 5120]",
                four!(),
                "tileloadd tmm4, [{x} + {row} + 2048]",
                "tileloadd tmm5, [{x} + {row} + 3072]",
                four!(),
                "tileloadd tmm6, [{w} + {row} + 2048]",
                "tileloadd tmm7, [{w} + {row} + 3072]",
                four!(),
                x = in(reg) left,
                w = in(reg) right,
                row = in(reg) 64usize,
                options(nostack, readonly),
            );
        }
        asm!(
            "tilestored [{upper} + {stride}], tmm0",
            "tilestored [{upper} + {stride} + 64], tmm1",
            "tilestored [{lower} + {stride}], tmm2",
            "tilestored [{lower} + {stride} + 64], tmm3",
            upper = in(reg) c,
            lower = in(reg) c.add(below),
            stride = in(reg) 4 * stride,
            options(nostack),
        );
    }
}
