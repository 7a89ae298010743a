// What GPT-2 has and Llama has not: learned positions, biases, LayerNorm, GELU. After `common.cu` and `rows.cu`; a program of
// its own, which is compiled for models of this kind alone.

// ---- embedding and positions ----------------------------------------------------------------------------------------

// One warp per row: out[row] = weight[token[row]] + positions[position[row]].
extern "C" __global__ void __launch_bounds__(THREADS) embed_positions(
    const u16 *__restrict__ bf16, u64 offset, u64 positions_offset, const u32 *__restrict__ tokens,
    const u32 *__restrict__ positions, u16 *__restrict__ out, int rows, int total) {
    PDL_BEGIN;
    const int row = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= total) return;
    const u16 *member = bf16 + (u64)(row / rows) * SIZE;
    const uint4 *token = (const uint4 *)(member + offset + (u64)tokens[row] * D);
    const uint4 *position = (const uint4 *)(member + positions_offset + (u64)positions[row] * D);
    for (int c = lane; c < CHUNKS; c += 32) {
        float a[8], b[8];
        unpack8(token[c], a);
        unpack8(position[c], b);
#pragma unroll
        for (int j = 0; j < 8; j++) a[j] += b[j];
        ((uint4 *)(out + (u64)row * D))[c] = pack8(a);
    }
}

// One warp per position of a member: its gradient is the sum over the rows at that position, zeros where there are none.
// `first` [N, CONTEXT + 1] and `order` [N, rows] list each position's rows.
extern "C" __global__ void __launch_bounds__(THREADS) positions_backward(
    const u16 *__restrict__ dx, const u32 *__restrict__ first, const u32 *__restrict__ order, u16 *__restrict__ gradients,
    u64 offset, int rows) {
    PDL_BEGIN;
    const int member = blockIdx.y, position = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (position >= CONTEXT) return;
    const u32 *range = first + (u64)member * (CONTEXT + 1) + position;
    const u32 from = range[0], to = range[1];
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
        ((uint4 *)(gradients + (u64)member * SIZE + offset + (u64)position * D))[c] = pack8(sum);
    }
}

// ---- biases ---------------------------------------------------------------------------------------------------------

// y += bias, eight elements per thread; `chunks` counts the eights of all rows, `chunks_of_row` those of a row.
extern "C" __global__ void __launch_bounds__(THREADS) add_bias(
    u16 *__restrict__ y, const u16 *__restrict__ bf16, const u16 *__restrict__ residual_bits, u64 bias, u32 chunks_of_row,
    int rows, u32 chunks) {
    PDL_BEGIN;
    const u32 i = REVERSED_BLOCK * THREADS + threadIdx.x;
    if (i >= chunks) return;
    const u32 row = i / chunks_of_row, c = i % chunks_of_row;
    float f[8], b[8];
    unpack8(((uint4 *)y)[i], f);
    master8(bf16, residual_bits, (u64)(row / rows) * SIZE + bias + 8 * c, b);
#pragma unroll
    for (int j = 0; j < 8; j++) f[j] += b[j];
    ((uint4 *)y)[i] = pack8(f);
}

// A block sums `per_block` rows of one member into `partials` [N, blocks, SIZE - DECAYED], which `gain_backward` sums.
extern "C" __global__ void __launch_bounds__(THREADS) bias_backward(
    const u16 *__restrict__ dy, float *__restrict__ partials, u64 bias, int width, int rows, int per_block) {
    PDL_BEGIN;
    const int block = REVERSED_BLOCK, member = blockIdx.y, end = min(rows, (block + 1) * per_block);
    const u16 *from = dy + (u64)member * rows * width;
    float *partial = partials + ((u64)member * gridDim.x + block) * (SIZE - DECAYED) + (bias - DECAYED);
    for (int i = threadIdx.x; i < width; i += THREADS) {
        float sum = 0.f;
#pragma unroll 8
        for (int row = block * per_block; row < end; row++) sum += widen(from[(u64)row * width + i]);
        partial[i] = sum;
    }
}

// ---- LayerNorm ------------------------------------------------------------------------------------------------------

// The mean of a row whose chunks a warp holds.
__device__ __forceinline__ float row_mean(const float (*f)[8], int lane) {
    float sum = 0.f;
#pragma unroll
    for (int p = 0; p < PER_LANE; p++)
        if (lane + 32 * p < CHUNKS)
#pragma unroll
            for (int j = 0; j < 8; j++) sum += f[p][j];
    return warp_sum(sum) * (1.f / D);
}

// out = (x - mean) · inverse · gain + bias, one row by one warp; inverse = 1 / sqrt(variance + EPS) is kept.
extern "C" __global__ void __launch_bounds__(THREADS) layer_norm(
    const u16 *__restrict__ x, const u16 *__restrict__ bf16, const u16 *__restrict__ residual_bits, u64 gain, u64 bias,
    u16 *__restrict__ out, float *__restrict__ inverse, int rows, int total) {
    PDL_BEGIN;
    const int row = REVERSED_BLOCK * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= total) return;
    const u64 member = (u64)(row / rows) * SIZE;
    float f[PER_LANE][8];
#pragma unroll
    for (int p = 0; p < PER_LANE; p++)
        if (lane + 32 * p < CHUNKS) unpack8(((const uint4 *)(x + (u64)row * D))[lane + 32 * p], f[p]);
    const float mean = row_mean(f, lane);
    float square = 0.f;
#pragma unroll
    for (int p = 0; p < PER_LANE; p++)
        if (lane + 32 * p < CHUNKS)
#pragma unroll
            for (int j = 0; j < 8; j++) {
                f[p][j] -= mean;
                square += f[p][j] * f[p][j];
            }
    const float r = rsqrtf(warp_sum(square) * (1.f / D) + EPS);
    if (lane == 0) inverse[row] = r;
#pragma unroll
    for (int p = 0; p < PER_LANE; p++) {
        const int c = lane + 32 * p;
        if (c < CHUNKS) {
            float g[8], b[8];
            master8(bf16, residual_bits, member + gain + 8 * c, g);
            master8(bf16, residual_bits, member + bias + 8 * c, b);
#pragma unroll
            for (int j = 0; j < 8; j++) f[p][j] = f[p][j] * r * g[j] + b[j];
            ((uint4 *)(out + (u64)row * D))[c] = pack8(f[p]);
        }
    }
}

// A warp's sums go to its line of `lines`, and the sum of all lines to `partial`.
__device__ __forceinline__ void leave_partial(const float (*sums)[8], float (*lines)[D], float *partial) {
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < PER_LANE; p++)
        if (lane + 32 * p < CHUNKS)
#pragma unroll
            for (int j = 0; j < 8; j++) lines[warp][8 * (lane + 32 * p) + j] = sums[p][j];
    __syncthreads();
    for (int i = threadIdx.x; i < D; i += THREADS) {
        float sum = 0.f;
#pragma unroll
        for (int w = 0; w < WARPS_PER_BLOCK; w++) sum += lines[w][i];
        partial[i] = sum;
    }
}

// With n = (x - mean) · inverse and g = gain · dy: dx (+)= inverse · (g - Σ g / D - n · Σ g · n / D), dgain = Σ over rows of
// dy · n, dbias = Σ over rows of dy. A block takes `per_block` rows of one member, a warp one row at a time; its parts of the
// gain's and the bias's gradients go to `partials`, as in `rms_norm_backward`.
extern "C" __global__ void __launch_bounds__(THREADS) layer_norm_backward(
    const u16 *__restrict__ dy, const u16 *__restrict__ x, const float *__restrict__ inverse, const u16 *__restrict__ bf16,
    const u16 *__restrict__ residual_bits, u64 gain, u64 bias, u16 *__restrict__ dx, int add, float *__restrict__ partials,
    int rows, int per_block) {
    PDL_BEGIN;
    __shared__ float lines[WARPS_PER_BLOCK][D];
    const int block = REVERSED_BLOCK, member = blockIdx.y, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    float dgain[PER_LANE][8], dbias[PER_LANE][8];
#pragma unroll
    for (int p = 0; p < PER_LANE; p++)
#pragma unroll
        for (int j = 0; j < 8; j++) dgain[p][j] = dbias[p][j] = 0.f;
    const int end = min(rows, (block + 1) * per_block);
    for (int local = block * per_block + warp; local < end; local += WARPS_PER_BLOCK) {
        const u64 row = (u64)member * rows + local;
        const float r = inverse[row];
        float n[PER_LANE][8], dn[PER_LANE][8];
#pragma unroll
        for (int p = 0; p < PER_LANE; p++)
            if (lane + 32 * p < CHUNKS) unpack8(((const uint4 *)(x + row * D))[lane + 32 * p], n[p]);
        const float mean = row_mean(n, lane);
        float constant = 0.f, along = 0.f;
#pragma unroll
        for (int p = 0; p < PER_LANE; p++) {
            const int c = lane + 32 * p;
            if (c < CHUNKS) {
                float g[8];
                unpack8(((const uint4 *)(dy + row * D))[c], dn[p]);
                master8(bf16, residual_bits, (u64)member * SIZE + gain + 8 * c, g);
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    n[p][j] = (n[p][j] - mean) * r;
                    dgain[p][j] += dn[p][j] * n[p][j];
                    dbias[p][j] += dn[p][j];
                    dn[p][j] *= g[j];
                    constant += dn[p][j];
                    along += dn[p][j] * n[p][j];
                }
            }
        }
        // The parts of the gradient along a constant and along x, which the norm takes away.
        constant = warp_sum(constant) * (1.f / D);
        along = warp_sum(along) * (1.f / D);
#pragma unroll
        for (int p = 0; p < PER_LANE; p++) {
            const int c = lane + 32 * p;
            if (c < CHUNKS) {
                uint4 *to = (uint4 *)(dx + row * D) + c;
                float old[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f};
                if (add) unpack8(*to, old);
#pragma unroll
                for (int j = 0; j < 8; j++) old[j] += r * (dn[p][j] - constant - n[p][j] * along);
                *to = pack8(old);
            }
        }
    }
    float *partial = partials + ((u64)member * gridDim.x + block) * (SIZE - DECAYED) - DECAYED;
    leave_partial(dgain, lines, partial + gain);
    leave_partial(dbias, lines, partial + bias);
}

// ---- GELU -----------------------------------------------------------------------------------------------------------

// The sigmoid of twice u = sqrt(2 / π) · (x + 0.044715 x³): x times it is GELU by its approximation with tanh.
__device__ __forceinline__ float gelu_sigmoid(float x) {
    return 1.f / (1.f + __expf(-1.5957691216057308f * (x + 0.044715f * x * x * x)));
}

// out = the GELU of x, eight elements per thread.
extern "C" __global__ void __launch_bounds__(THREADS) gelu(const u16 *__restrict__ x, u16 *__restrict__ out, u32 chunks) {
    PDL_BEGIN;
    const u32 i = REVERSED_BLOCK * THREADS + threadIdx.x;
    if (i >= chunks) return;
    float f[8];
    unpack8(((const uint4 *)x)[i], f);
#pragma unroll
    for (int j = 0; j < 8; j++) f[j] *= gelu_sigmoid(f[j]);
    ((uint4 *)out)[i] = pack8(f);
}

// dx = dout · the slope of GELU at x.
extern "C" __global__ void __launch_bounds__(THREADS) gelu_backward(
    const u16 *__restrict__ x, const u16 *__restrict__ dout, u16 *__restrict__ dx, u32 chunks) {
    PDL_BEGIN;
    const u32 i = REVERSED_BLOCK * THREADS + threadIdx.x;
    if (i >= chunks) return;
    float f[8], d[8];
    unpack8(((const uint4 *)x)[i], f);
    unpack8(((const uint4 *)dout)[i], d);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float s = gelu_sigmoid(f[j]);
        d[j] *= s + f[j] * s * (1.f - s) * 1.5957691216057308f * (1.f + 0.134145f * f[j] * f[j]);
    }
    ((uint4 *)dx)[i] = pack8(d);
}
