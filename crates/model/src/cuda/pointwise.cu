// The kernels of a training step that are neither matmuls nor attention nor the update: embedding, RMSNorm, SwiGLU. After
// `common.cu` and `rows.cu`; `update.cu` and `inference.cu` follow in the same program.

// ---- embedding ------------------------------------------------------------------------------------------------------

// One warp per row: out[row] = weight[token[row]].
extern "C" __global__ void __launch_bounds__(THREADS) embed(
    const u16 *__restrict__ bf16, u64 offset, const u32 *__restrict__ tokens, u16 *__restrict__ out, int rows, int total) {
    PDL_BEGIN;
    const int row = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= total) return;
    const uint4 *from = (const uint4 *)(bf16 + (u64)(row / rows) * SIZE + offset + (u64)tokens[row] * D);
    uint4 *to = (uint4 *)(out + (u64)row * D);
#pragma unroll
    for (int c = lane; c < CHUNKS; c += 32) to[c] = from[c];
}

// Gradient of the embedding: a warp sums up to EMBED_ROWS rows that read one vocabulary entry. `first` [N, V + 1] and
// `order` [N, rows] list each entry's rows. The rows of a frequent entry beyond its first EMBED_ROWS are listed in
// `overflow` [N, overflows] as (token, from, to), summed to `partials` and added by `embed_backward_overflow`.
// `was_read` [N, V] says which entries have a gradient; those of the others, zeros, are not written. If `add`, the sums are
// added to the gradients, those of the head of a tied model.
extern "C" __global__ void __launch_bounds__(THREADS) embed_backward(
    const u16 *__restrict__ dx, const u32 *__restrict__ first, const u32 *__restrict__ order, const uint4 *__restrict__ overflow,
    u16 *__restrict__ gradients, u64 offset, float *__restrict__ partials, unsigned char *__restrict__ was_read, int rows,
    int overflows, int add) {
    PDL_BEGIN;
    const int member = blockIdx.y, item = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (item >= V + overflows) return;
    u32 from, to;
    if (item < V) {
        from = first[(u64)member * (V + 1) + item];
        to = min(first[(u64)member * (V + 1) + item + 1], from + EMBED_ROWS);
        if (lane == 0) was_read[(u64)member * V + item] = from < to;
    } else {
        const uint4 piece = overflow[member * overflows + item - V];
        from = piece.y;
        to = piece.z;
    }
    if (from == to) return;
    const u16 *base = dx + (u64)member * rows * D;
    order += (u64)member * rows;
    for (int c = lane; c < CHUNKS; c += 32) {
        float sum[8] = {}, f[8];
#pragma unroll 8
        for (u32 i = from; i < to; i++) {
            unpack8(((const uint4 *)(base + (u64)order[i] * D))[c], f);
#pragma unroll
            for (int j = 0; j < 8; j++) sum[j] += f[j];
        }
        if (item < V) {
            uint4 *to = (uint4 *)(gradients + (u64)member * SIZE + offset + (u64)item * D) + c;
            if (add) {
                unpack8(*to, f);
#pragma unroll
                for (int j = 0; j < 8; j++) sum[j] += f[j];
            }
            *to = pack8(sum);
        } else {
            float4 *to = (float4 *)(partials + ((u64)member * overflows + item - V) * D);
            to[2 * c] = make_float4(sum[0], sum[1], sum[2], sum[3]);
            to[2 * c + 1] = make_float4(sum[4], sum[5], sum[6], sum[7]);
        }
    }
}

// A block per piece of `overflow`; the block of a token's first piece adds all of them, in order.
extern "C" __global__ void __launch_bounds__(THREADS) embed_backward_overflow(
    const uint4 *__restrict__ overflow, u16 *__restrict__ gradients, u64 offset, const float *__restrict__ partials, int overflows) {
    PDL_BEGIN;
    const int member = blockIdx.y;
    const uint4 *mine = overflow + member * overflows;
    const u32 token = mine[blockIdx.x].x;
    if (mine[blockIdx.x].y == mine[blockIdx.x].z || (blockIdx.x && mine[blockIdx.x - 1].x == token)) return;
    u16 *grad = gradients + (u64)member * SIZE + offset + (u64)token * D;
    for (int i = threadIdx.x; i < D; i += THREADS) {
        float sum = widen(grad[i]);
        for (int e = blockIdx.x; e < overflows && mine[e].x == token && mine[e].y < mine[e].z; e++)
            sum += partials[((u64)member * overflows + e) * D + i];
        grad[i] = narrow(sum);
    }
}

// ---- RMSNorm --------------------------------------------------------------------------------------------------------

// out = x · inv_rms · gain, one row by one warp: the row stays in registers between the sum of squares and the scaling.
__device__ __forceinline__ void norm_row(
    const uint4 *from, const u16 *bf16, const u16 *residual_bits, u64 gain, u16 *out, float *inv_rms, u64 row) {
    const int lane = threadIdx.x & 31;
    uint4 *to = (uint4 *)(out + row * D);
    float f[PER_LANE][8];
    float square = 0.f;
#pragma unroll
    for (int p = 0; p < PER_LANE; p++) {
        const int c = lane + 32 * p;
        if (c < CHUNKS) {
            unpack8(from[c], f[p]);
#pragma unroll
            for (int j = 0; j < 8; j++) square += f[p][j] * f[p][j];
        }
    }
    const float r = rsqrtf(warp_sum(square) * (1.f / D) + EPS);
    if (lane == 0) inv_rms[row] = r;
#pragma unroll
    for (int p = 0; p < PER_LANE; p++) {
        const int c = lane + 32 * p;
        if (c < CHUNKS) {
            float g[8];
            master8(bf16, residual_bits, gain + 8 * c, g);
#pragma unroll
            for (int j = 0; j < 8; j++) f[p][j] *= r * g[j];
            to[c] = pack8(f[p]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) rms_norm(
    const u16 *__restrict__ x, const u16 *__restrict__ bf16, const u16 *__restrict__ residual_bits, u64 gain,
    u16 *__restrict__ out, float *__restrict__ inv_rms, int rows, int total) {
    PDL_BEGIN;
    const int row = REVERSED_BLOCK * WARPS_PER_BLOCK + (threadIdx.x >> 5);
    if (row >= total) return;
    norm_row((const uint4 *)(x + (u64)row * D), bf16, residual_bits, (u64)(row / rows) * SIZE + gain, out, inv_rms, row);
}

// out[row] = weight[token[row]], and its norm.
extern "C" __global__ void __launch_bounds__(THREADS) embed_rms_norm(
    const u16 *__restrict__ bf16, const u16 *__restrict__ residual_bits, u64 offset, u64 gain, const u32 *__restrict__ tokens,
    u16 *__restrict__ out, u16 *__restrict__ norm, float *__restrict__ inv_rms, int rows, int total) {
    PDL_BEGIN;
    const int row = REVERSED_BLOCK * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= total) return;
    const u64 member = (u64)(row / rows) * SIZE;
    const uint4 *from = (const uint4 *)(bf16 + member + offset + (u64)tokens[row] * D);
#pragma unroll
    for (int c = lane; c < CHUNKS; c += 32) ((uint4 *)(out + (u64)row * D))[c] = from[c];
    norm_row(from, bf16, residual_bits, member + gain, norm, inv_rms, row);
}

// dx (+)= r · gain · dy - x · r³ / D · Σ gain · dy · x, with r = inv_rms; dgain = Σ over rows of dy · x · r.
// A block takes `per_block` rows of one member, a warp one row at a time. It leaves its part of the gain's gradient in
// `partials` [N, blocks, SIZE - DECAYED], which `gain_backward` sums.
extern "C" __global__ void __launch_bounds__(THREADS) rms_norm_backward(
    const u16 *__restrict__ dy, const u16 *__restrict__ x, const float *__restrict__ inv_rms,
    const u16 *__restrict__ bf16, const u16 *__restrict__ residual_bits, u64 offset, u16 *__restrict__ dx, int add,
    float *__restrict__ partials, int rows, int per_block) {
    PDL_BEGIN;
    __shared__ float partial_sums[WARPS_PER_BLOCK][D];
    const int block = REVERSED_BLOCK, member = blockIdx.y, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const u64 gain = (u64)member * SIZE + offset;
    float dgain[PER_LANE][8];
#pragma unroll
    for (int p = 0; p < PER_LANE; p++)
#pragma unroll
        for (int j = 0; j < 8; j++) dgain[p][j] = 0.f;
    const int end = min(rows, (block + 1) * per_block);
    for (int local = block * per_block + warp; local < end; local += WARPS_PER_BLOCK) {
        const u64 row = (u64)member * rows + local;
        const float r = inv_rms[row];
        float fx[PER_LANE][8], fy[PER_LANE][8];
        float dot = 0.f;
#pragma unroll
        for (int p = 0; p < PER_LANE; p++) {
            const int c = lane + 32 * p;
            if (c < CHUNKS) {
                unpack8(((const uint4 *)(x + row * D))[c], fx[p]);
                unpack8(((const uint4 *)(dy + row * D))[c], fy[p]);
                float g[8];
                master8(bf16, residual_bits, gain + 8 * c, g);
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    dgain[p][j] += fy[p][j] * fx[p][j] * r;
                    fy[p][j] *= g[j];
                    dot += fy[p][j] * fx[p][j];
                }
            }
        }
        // The part of the gradient along x that the norm takes away.
        const float pull = warp_sum(dot) * r * r * r * (1.f / D);
#pragma unroll
        for (int p = 0; p < PER_LANE; p++) {
            const int c = lane + 32 * p;
            if (c < CHUNKS) {
                uint4 *to = (uint4 *)(dx + row * D) + c;
                float old[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f};
                if (add) unpack8(*to, old);
#pragma unroll
                for (int j = 0; j < 8; j++) old[j] += fy[p][j] * r - fx[p][j] * pull;
                *to = pack8(old);
            }
        }
    }
#pragma unroll
    for (int p = 0; p < PER_LANE; p++) {
        const int c = lane + 32 * p;
        if (c < CHUNKS)
#pragma unroll
            for (int j = 0; j < 8; j++) partial_sums[warp][8 * c + j] = dgain[p][j];
    }
    __syncthreads();
    float *partial = partials + ((u64)member * gridDim.x + block) * (SIZE - DECAYED) + (offset - DECAYED);
    for (int i = threadIdx.x; i < D; i += THREADS) {
        float sum = 0.f;
#pragma unroll
        for (int w = 0; w < WARPS_PER_BLOCK; w++) sum += partial_sums[w][i];
        partial[i] = sum;
    }
}

// The gradients of all gains and biases at once. A block sums 32 elements over the blocks of `rms_norm_backward`: each warp takes every
// WARPS_PER_BLOCK-th block, then the warps' sums are added in order.
extern "C" __global__ void __launch_bounds__(THREADS) gain_backward(const float *__restrict__ partials, u16 *__restrict__ gradients, int blocks) {
    PDL_BEGIN;
    __shared__ float partial_sums[WARPS_PER_BLOCK][32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = blockIdx.x * 32 + lane, member = blockIdx.y;
    const float *partial = partials + (u64)member * blocks * (SIZE - DECAYED) + i;
    float sum = 0.f;
#pragma unroll 4
    for (int b = warp; b < blocks; b += WARPS_PER_BLOCK) sum += partial[(u64)b * (SIZE - DECAYED)];
    partial_sums[warp][lane] = sum;
    __syncthreads();
    if (warp) return;
    for (int w = 1; w < WARPS_PER_BLOCK; w++) sum += partial_sums[w][lane];
#if GPT2
    // Nothing was ever written between the tensors.
    gradients[(u64)member * SIZE + DECAYED + i] = narrow(sum);
#else
    gradients[(u64)member * SIZE + DECAYED + i] = (i % GAIN_STRIDE) < D ? narrow(sum) : 0;
#endif
}

// ---- SwiGLU ---------------------------------------------------------------------------------------------------------

// out = silu(gate) · up, eight elements per thread.
extern "C" __global__ void __launch_bounds__(THREADS) swiglu(const u16 *__restrict__ gate_up, u16 *__restrict__ out, u32 chunks) {
    PDL_BEGIN;
    const u32 i = REVERSED_BLOCK * THREADS + threadIdx.x;
    if (i >= chunks) return;
    const u32 row = i / (HIDDEN / 8), c = i % (HIDDEN / 8);
    const uint4 *from = (const uint4 *)(gate_up + (u64)row * 2 * HIDDEN);
    float g[8], u[8];
    unpack8(from[c], g);
    unpack8(from[c + HIDDEN / 8], u);
#pragma unroll
    for (int j = 0; j < 8; j++) u[j] *= g[j] / (1.f + __expf(-g[j]));
    ((uint4 *)out)[i] = pack8(u);
}

// dgate = dout · up · silu'(gate), dup = dout · silu(gate).
extern "C" __global__ void __launch_bounds__(THREADS) swiglu_backward(
    const u16 *__restrict__ gate_up, const u16 *__restrict__ dout, u16 *__restrict__ dgate_up, u32 chunks) {
    PDL_BEGIN;
    const u32 i = REVERSED_BLOCK * THREADS + threadIdx.x;
    if (i >= chunks) return;
    const u32 row = i / (HIDDEN / 8), c = i % (HIDDEN / 8);
    const uint4 *from = (const uint4 *)(gate_up + (u64)row * 2 * HIDDEN);
    uint4 *to = (uint4 *)(dgate_up + (u64)row * 2 * HIDDEN);
    float g[8], u[8], d[8];
    unpack8(from[c], g);
    unpack8(from[c + HIDDEN / 8], u);
    unpack8(((const uint4 *)dout)[i], d);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float s = 1.f / (1.f + __expf(-g[j])), silu = g[j] * s;
        g[j] = d[j] * u[j] * (s + silu * (1.f - s));
        u[j] = d[j] * silu;
    }
    to[c] = pack8(g);
    to[c + HIDDEN / 8] = pack8(u);
}

