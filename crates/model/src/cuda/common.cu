// Shared by all CUDA programs of the engine. NVRTC compiles a program for one model shape when a device is opened; no
// headers are needed. Every size that Rust knows too is a -D option, listed in `sizes.rs`.
//
// Activations are bf16 [N, rows, width]. Reductions are f32 in a fixed order, so that no result depends on which block
// finishes first.

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define INFINITY_F __int_as_float(0x7f800000)
#define FULL 0xffffffffu

// Programmatic dependent launch: a kernel may be started while the one before it ends. It says at once that the next may
// start, and waits here for all that came before.
#if __CUDA_ARCH__ >= 900
#define PDL_BEGIN asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory")
#else
#define PDL_BEGIN
#endif

// ---- bf16 pairs -----------------------------------------------------------------------------------------------------

__device__ __forceinline__ float low(u32 x) { return __uint_as_float(x << 16); }
__device__ __forceinline__ float high(u32 x) { return __uint_as_float(x & 0xffff0000u); }
__device__ __forceinline__ float widen(u16 x) { return __uint_as_float((u32)x << 16); }
__device__ __forceinline__ u32 pack(float a, float b) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
    return r;
}
__device__ __forceinline__ u16 narrow(float a) { return (u16)(pack(a, 0.f) & 0xffffu); }
__device__ __forceinline__ void unpack8(uint4 x, float *f) {
    f[0] = low(x.x); f[1] = high(x.x); f[2] = low(x.y); f[3] = high(x.y);
    f[4] = low(x.z); f[5] = high(x.z); f[6] = low(x.w); f[7] = high(x.w);
}
__device__ __forceinline__ uint4 pack8(const float *f) {
    return make_uint4(pack(f[0], f[1]), pack(f[2], f[3]), pack(f[4], f[5]), pack(f[6], f[7]));
}

// A master weight in f32 is its bf16 copy, rounded to the nearest, plus 16 signed residual bits.
__device__ __forceinline__ float master(u16 bf16, u16 residual) {
    return __uint_as_float(((u32)bf16 << 16) + (u32)(int)(short)residual);
}
__device__ __forceinline__ float master_low(u32 bf16, u32 residual) {
    return __uint_as_float((bf16 << 16) + (u32)(int)(short)(residual & 0xffffu));
}
__device__ __forceinline__ float master_high(u32 bf16, u32 residual) {
    return __uint_as_float((bf16 & 0xffff0000u) + (u32)((int)residual >> 16));
}
__device__ __forceinline__ void master8(const u16 *bf16, const u16 *residual_bits, u64 at, float *f) {
    const uint4 h = *(const uint4 *)(bf16 + at), r = *(const uint4 *)(residual_bits + at);
    f[0] = master_low(h.x, r.x); f[1] = master_high(h.x, r.x); f[2] = master_low(h.y, r.y); f[3] = master_high(h.y, r.y);
    f[4] = master_low(h.z, r.z); f[5] = master_high(h.z, r.z); f[6] = master_low(h.w, r.w); f[7] = master_high(h.w, r.w);
}

// Over the four neighbouring lanes that hold one row of a tensor-core accumulator.
__device__ __forceinline__ float quad_sum(float x) {
    x += __shfl_xor_sync(FULL, x, 1);
    return x + __shfl_xor_sync(FULL, x, 2);
}
