//! The products of linear layers: by fused multiply-adds, or on the tile unit where a processor has one.

use super::Float;
#[cfg(target_arch = "x86_64")]
use super::amx;
use super::tile::Kernel;
use super::{pack, product, simd};
#[cfg(target_arch = "x86_64")]
use std::any::TypeId;

#[derive(Clone, Copy)]
pub enum Products<F> {
    Fused(Kernel<F>),
    /// f32 only.
    #[cfg(target_arch = "x86_64")]
    Amx,
}

/// The same numbers under their own name: the tile unit's products exist for f32 alone.
#[cfg(target_arch = "x86_64")]
fn own<F: Float>(values: &[F]) -> &[f32] {
    assert_eq!(TypeId::of::<F>(), TypeId::of::<f32>());
    // Sound: the types are one.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

#[cfg(target_arch = "x86_64")]
fn own_mut<F: Float>(values: &mut [F]) -> &mut [f32] {
    assert_eq!(TypeId::of::<F>(), TypeId::of::<f32>());
    // Sound: the types are one.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
}

impl<F: Float> Products<F> {
    /// The fastest of this machine, or of the level it is held to.
    pub fn pick() -> Self {
        #[cfg(target_arch = "x86_64")]
        if simd::level() == simd::Level::Amx && TypeId::of::<F>() == TypeId::of::<f32>() {
            return Products::Amx;
        }
        Products::Fused(F::kernel())
    }

    /// Elements that a right factor `[k, n]` fills when packed.
    pub fn packed_len(&self, k: usize, n: usize) -> usize {
        match self {
            Products::Fused(kernel) => pack::packed_len(kernel, k, n),
            #[cfg(target_arch = "x86_64")]
            Products::Amx => amx::packed_len(k, n),
        }
    }

    /// Packs wᵀ, w being `[n, k]`: the weights on the way forward.
    pub fn pack_transposed(&self, w: &[F], n: usize, k: usize, out: &mut [F]) {
        match self {
            Products::Fused(kernel) => pack::pack_transposed(kernel, w, n, k, out),
            #[cfg(target_arch = "x86_64")]
            Products::Amx => amx::pack_transposed(own(w), n, k, own_mut(out)),
        }
    }

    /// Packs b, `[k, n]`, as it lies: the weights on the way back.
    pub fn pack(&self, b: &[F], k: usize, n: usize, out: &mut [F]) {
        match self {
            Products::Fused(kernel) => pack::pack(kernel, b, k, n, out),
            #[cfg(target_arch = "x86_64")]
            Products::Amx => amx::pack(own(b), k, n, own_mut(out)),
        }
    }

    /// y\[m, n\] = x\[m, k\] · B, plus `residual` where given, B packed.
    pub fn rows(&self, size: (usize, usize, usize), x: &[F], panels: &[F], residual: Option<&[F]>, y: &mut [F]) {
        match self {
            Products::Fused(kernel) => product::rows_product(kernel, size, x, panels, residual, y),
            #[cfg(target_arch = "x86_64")]
            Products::Amx => amx::rows_product(size, own(x), own(panels), residual.map(own), own_mut(y)),
        }
    }

    /// grad\[n, k\] = dyᵀ · x over (rows, n, k), dy being `[rows, n]` and x `[rows, k]`; `panels` is scratch.
    pub fn weight_gradient(&self, size: (usize, usize, usize), dy: &[F], x: &[F], panels: &mut [F], grad: &mut [F]) {
        match self {
            Products::Fused(kernel) => product::weight_gradient(kernel, size, dy, x, panels, grad),
            #[cfg(target_arch = "x86_64")]
            Products::Amx => amx::weight_gradient(size, own(dy), own(x), own_mut(grad)),
        }
    }
}
