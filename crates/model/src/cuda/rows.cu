// For kernels over rows: their order, their reductions. After `common.cu`.

// Matmuls run over rows from the first to the last. The kernels between two matmuls run from the last row to the first:
// they start with what the matmul before wrote last, which is still in the L2 cache, and end with what the next reads
// first.
#define REVERSED_BLOCK (gridDim.x - 1 - blockIdx.x)
#define WARPS_PER_BLOCK (THREADS / 32)

// ---- reductions: butterflies, the same order whatever the data ------------------------------------------------------

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int o = 16; o; o >>= 1) x += __shfl_xor_sync(FULL, x, o);
    return x;
}
__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
    for (int o = 16; o; o >>= 1) x = fmaxf(x, __shfl_xor_sync(FULL, x, o));
    return x;
}
// All threads of a block of up to 1024 get the sum (or maximum); `shared` holds 32 floats.
__device__ __forceinline__ float block_sum(float x, float *shared) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
    x = warp_sum(x);
    __syncthreads();
    if (lane == 0) shared[warp] = x;
    __syncthreads();
    return warp_sum(lane < warps ? shared[lane] : 0.f);
}
__device__ __forceinline__ float block_max(float x, float *shared) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
    x = warp_max(x);
    __syncthreads();
    if (lane == 0) shared[warp] = x;
    __syncthreads();
    return warp_max(lane < warps ? shared[lane] : -INFINITY_F);
}

// ---- chunks of eight elements, a warp per row -------------------------------------------------------------------------

#define CHUNKS (D / 8)
#define PER_LANE ((CHUNKS + 31) / 32)
