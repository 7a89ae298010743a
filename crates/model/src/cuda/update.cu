// The end of a step: losses, the norm of the gradients, clipping, AdamW.

// The numbers of one member's update.
struct Update {
    float lr, beta1, beta2, eps, decay, clip, correct1, correct2;
    float place;   // of the step's losses in the history
    u32 number;    // of the updates before this one
    float smoothing;  // of the targets
};

// ---- cross-entropy --------------------------------------------------------------------------------------------------

// A block per row: the row's maximum, then its sum of exponentials, then the gradient of the member's mean loss in place of
// the logits, and the row's loss. The gradient is that of targets which share `smoothing` of their probability with the whole
// vocabulary, the loss is without it. Where rows are whole 16-byte words, the logits stay in registers throughout; else they
// are read three times.
#define CE_CHUNKS ((V / 8 + CE_THREADS - 1) / CE_THREADS)
extern "C" __global__ void __launch_bounds__(CE_THREADS) cross_entropy(
    u16 *__restrict__ logits, const int *__restrict__ targets, const float *__restrict__ weight_of_member,
    const Update *__restrict__ updates, float *__restrict__ losses, int rows) {
    PDL_BEGIN;
    __shared__ float shared[32];
    const u64 row = REVERSED_BLOCK;
    const int target = targets[row];
    u16 *line = logits + row * V;
#if V % 8 == 0
    uint4 *words = (uint4 *)line;
    if (target < 0) {
        for (int c = threadIdx.x; c < V / 8; c += CE_THREADS) words[c] = make_uint4(0, 0, 0, 0);
        if (threadIdx.x == 0) losses[row] = 0.f;
        return;
    }
    uint4 kept[CE_CHUNKS];
    float top = -INFINITY_F;
#pragma unroll
    for (int p = 0; p < CE_CHUNKS; p++) {
        const int c = threadIdx.x + p * CE_THREADS;
        if (c < V / 8) {
            float f[8];
            kept[p] = words[c];
            unpack8(kept[p], f);
#pragma unroll
            for (int j = 0; j < 8; j++) top = fmaxf(top, f[j]);
        }
    }
    const float at_target = widen(line[target]);
    top = block_max(top, shared);
    float sum = 0.f;
#pragma unroll
    for (int p = 0; p < CE_CHUNKS; p++)
        if (threadIdx.x + p * CE_THREADS < V / 8) {
            float f[8];
            unpack8(kept[p], f);
#pragma unroll
            for (int j = 0; j < 8; j++) sum += __expf(f[j] - top);
        }
    sum = block_sum(sum, shared);
    const float weight = weight_of_member[row / rows], part = weight / sum;
    const float smoothing = updates[row / rows].smoothing, of_each = weight * smoothing / V;
    const float of_target = weight * (1.f - smoothing) + of_each;
#pragma unroll
    for (int p = 0; p < CE_CHUNKS; p++) {
        const int c = threadIdx.x + p * CE_THREADS;
        if (c < V / 8) {
            float f[8];
            unpack8(kept[p], f);
#pragma unroll
            for (int j = 0; j < 8; j++) f[j] = __expf(f[j] - top) * part - (8 * c + j == target ? of_target : of_each);
            words[c] = pack8(f);
        }
    }
#else
    if (target < 0) {
        for (int c = threadIdx.x; c < V; c += CE_THREADS) line[c] = 0;
        if (threadIdx.x == 0) losses[row] = 0.f;
        return;
    }
    const float at_target = widen(line[target]);
    float top = -INFINITY_F, sum = 0.f;
    for (int c = threadIdx.x; c < V; c += CE_THREADS) top = fmaxf(top, widen(line[c]));
    top = block_max(top, shared);
    for (int c = threadIdx.x; c < V; c += CE_THREADS) sum += __expf(widen(line[c]) - top);
    sum = block_sum(sum, shared);
    const float weight = weight_of_member[row / rows], part = weight / sum;
    const float smoothing = updates[row / rows].smoothing, of_each = weight * smoothing / V;
    const float of_target = weight * (1.f - smoothing) + of_each;
    for (int c = threadIdx.x; c < V; c += CE_THREADS)
        line[c] = narrow(__expf(widen(line[c]) - top) * part - (c == target ? of_target : of_each));
#endif
    if (threadIdx.x == 0) losses[row] = logf(sum) + top - at_target;
}

// A block per member: the sum of its rows' losses in each group. Every thread adds to a register per group.
extern "C" __global__ void __launch_bounds__(LOSS_THREADS) group_losses(
    const float *__restrict__ losses, const unsigned char *__restrict__ groups, float *__restrict__ sums, int rows) {
    PDL_BEGIN;
    __shared__ float shared[32];
    const u64 base = (u64)blockIdx.x * rows;
    float sum[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) sum[g] = 0.f;
    for (int i = threadIdx.x; i < rows; i += LOSS_THREADS) {
        const float loss = losses[base + i];
        const int group = groups[base + i];
#pragma unroll
        for (int g = 0; g < GROUPS; g++) sum[g] += group == g ? loss : 0.f;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const float total = block_sum(sum[g], shared);
        if (threadIdx.x == 0) sums[blockIdx.x * (GROUPS + 1) + g] = total;
    }
}

// ---- optimizer ------------------------------------------------------------------------------------------------------

// Each block sums the squares of NORM_CHUNK of a member's gradients [from, to), counted in eights. Its sum is number
// `first` + blockIdx.x of the member's `count`. If EMBEDDING, the gradients are the embedding's, and only the rows
// that `was_read` names count.
template <bool EMBEDDING>
__device__ __forceinline__ void sum_squares(
    const u16 *gradients, float *partials, const unsigned char *was_read, u32 from, u32 to, int first, int count) {
    __shared__ float shared[32];
    const uint4 *g = (const uint4 *)(gradients + (u64)blockIdx.y * SIZE);
    const unsigned char *counted = was_read + (u64)blockIdx.y * V;
    const u32 start = from + blockIdx.x * (NORM_CHUNK / 8), end = min(start + NORM_CHUNK / 8, to);
    float sum = 0.f;
#pragma unroll 8
    for (u32 i = start + threadIdx.x; i < end; i += THREADS) {
        if (EMBEDDING && (i - from) / (D / 8) < V && !counted[(i - from) / (D / 8)]) continue;
        float f[8];
        unpack8(g[i], f);
#pragma unroll
        for (int j = 0; j < 8; j++) sum += f[j] * f[j];
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) partials[blockIdx.y * count + first + blockIdx.x] = sum;
}
#define SQUARES_ARGS \
    const u16 *__restrict__ gradients, float *__restrict__ partials, const unsigned char *__restrict__ was_read, u32 from, u32 to, \
        int first, int count

extern "C" __global__ void __launch_bounds__(THREADS) square_sums(SQUARES_ARGS) {
    PDL_BEGIN;
    sum_squares<false>(gradients, partials, was_read, from, to, first, count);
}
extern "C" __global__ void __launch_bounds__(THREADS) square_sums_embedding(SQUARES_ARGS) {
    PDL_BEGIN;
    sum_squares<true>(gradients, partials, was_read, from, to, first, count);
}

__device__ __forceinline__ void adamw_one(float &w, float &m, float &v, float g, const Update &u, float keep) {
    m = u.beta1 * m + (1.f - u.beta1) * g;
    v = u.beta2 * v + (1.f - u.beta2) * g * g;
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(v * u.correct2));
    w = w * keep - __fdividef(u.lr * u.correct1 * m, root + u.eps);
}

// Two master weights as their bf16 copies and their residual bits. A NaN is made the canonical one, whose bf16 copy is NaN
// too: rounding others could carry into the sign.
__device__ __forceinline__ u32 roundable(float a) { return a != a ? 0x7fc00000u : __float_as_uint(a); }
__device__ __forceinline__ void split_masters(float a, float b, u32 &bf16, u32 &residual) {
    const u32 x = roundable(a), y = roundable(b);
    const u32 p = (x + 0x8000u) & 0xffff0000u, q = (y + 0x8000u) & 0xffff0000u;
    bf16 = p >> 16 | q;
    residual = ((x - p) & 0xffffu) | (y - q) << 16;
}

// A block per member adds up its gradient's norm from the sums of squares, and keeps it with the losses of the step in
// the history, [places, members, GROUPS + 1]. What the deferred update needs is copied, also to the place of its number in
// the `log` [UPDATE_LOG, members]: the next batch overwrites the staged `updates`.
extern "C" __global__ void __launch_bounds__(THREADS) clip(
    const float *__restrict__ partials, int blocks, const Update *__restrict__ updates, float *__restrict__ sums,
    float *__restrict__ scales, Update *__restrict__ pending, Update *__restrict__ log, float *__restrict__ history) {
    PDL_BEGIN;
    __shared__ float shared[32];
    float *own = sums + blockIdx.x * (GROUPS + 1);
    const Update u = updates[blockIdx.x];
    float *kept = history + ((u32)u.place * gridDim.x + blockIdx.x) * (GROUPS + 1);
    if (threadIdx.x < GROUPS) kept[threadIdx.x] = own[threadIdx.x];
    float square = 0.f;
    for (int b = threadIdx.x; b < blocks; b += THREADS) square += partials[blockIdx.x * blocks + b];
    const float norm = sqrtf(block_sum(square, shared));
    if (threadIdx.x) return;
    own[GROUPS] = norm;
    kept[GROUPS] = norm;
    scales[blockIdx.x] = norm > u.clip ? u.clip / norm : 1.f;
    pending[blockIdx.x] = log[u.number % UPDATE_LOG * gridDim.x + blockIdx.x] = u;
}

// Four parameters with their moments.
struct Four {
    float4 w, m, v;
};
__device__ __forceinline__ Four load_four(const u16 *bf16, const u16 *residual_bits, const float *means, const float *variances, u64 at) {
    const uint2 h = ((const uint2 *)bf16)[at], r = ((const uint2 *)residual_bits)[at];
    return {make_float4(master_low(h.x, r.x), master_high(h.x, r.x), master_low(h.y, r.y), master_high(h.y, r.y)),
            ((const float4 *)means)[at], ((const float4 *)variances)[at]};
}
__device__ __forceinline__ void store_four(u16 *bf16, u16 *residual_bits, float *means, float *variances, u64 at, const Four &f) {
    ((float4 *)means)[at] = f.m;
    ((float4 *)variances)[at] = f.v;
    uint2 rounded, residual;
    split_masters(f.w.x, f.w.y, rounded.x, residual.x);
    split_masters(f.w.z, f.w.w, rounded.y, residual.y);
    ((uint2 *)bf16)[at] = rounded;
    ((uint2 *)residual_bits)[at] = residual;
}
__device__ __forceinline__ void adamw_four(Four &f, uint2 g, float scale, const Update &u, float keep) {
    adamw_one(f.w.x, f.m.x, f.v.x, low(g.x) * scale, u, keep);
    adamw_one(f.w.y, f.m.y, f.v.y, high(g.x) * scale, u, keep);
    adamw_one(f.w.z, f.m.z, f.v.z, low(g.y) * scale, u, keep);
    adamw_one(f.w.w, f.m.w, f.v.w, high(g.y) * scale, u, keep);
}

// AdamW over the elements 4 · from .. 4 · to of every member: parameters before DECAYED are decayed.
extern "C" __global__ void __launch_bounds__(THREADS) adamw(
    u16 *__restrict__ bf16, u16 *__restrict__ residual_bits, float *__restrict__ means, float *__restrict__ variances,
    const u16 *__restrict__ gradients, const float *__restrict__ scales, const Update *__restrict__ pending, u32 from, u32 to) {
    PDL_BEGIN;
    const Update u = pending[blockIdx.y];
    const float scale = scales[blockIdx.y];
    const u32 i = from + blockIdx.x * THREADS + threadIdx.x;
    if (i >= to) return;
    const u64 at = (u64)blockIdx.y * (SIZE / 4) + i;
    Four four = load_four(bf16, residual_bits, means, variances, at);
    adamw_four(four, ((const uint2 *)gradients)[at], scale, u, 4 * i < DECAYED ? 1.f - u.lr * u.decay : 1.f);
    store_four(bf16, residual_bits, means, variances, at, four);
}

// AdamW over the embedding, a warp per row. A row that no token read has a gradient of zero; it is left alone until a token
// of the loaded batch reads it, and then makes the updates that it missed one after the other, as if each had been made in
// its time: the numbers of the last UPDATE_LOG are in the `log`. `made` [N, V] counts the updates of each row. Every
// UPDATE_LOG-th time, and where ALL is asked for, no row is left out.
extern "C" __global__ void __launch_bounds__(THREADS) adamw_embedding(
    u16 *__restrict__ bf16, u16 *__restrict__ residual_bits, float *__restrict__ means, float *__restrict__ variances,
    const u16 *__restrict__ gradients, const float *__restrict__ scales, const Update *__restrict__ pending,
    const Update *__restrict__ log, u32 *__restrict__ made, const unsigned char *__restrict__ was_read,
    const u32 *__restrict__ first, u64 offset, int all) {
    PDL_BEGIN;
    const int member = blockIdx.y, row = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= V) return;
    const u32 number = pending[member].number, place = member * V + row, start = made[place];
    const u32 *next = first + (u64)member * (V + 1) + row;
    if (start > number) return;
    const bool has_gradient = was_read[place];
    if (!(has_gradient || all || number % UPDATE_LOG == UPDATE_LOG - 1 || next[0] < next[1])) return;
    const float scale = scales[member];
    for (int c = lane; c < D / 4; c += 32) {
        const u64 at = ((u64)member * SIZE + offset + (u64)row * D) / 4 + c;
        Four four = load_four(bf16, residual_bits, means, variances, at);
        for (u32 n = start; n <= number; n++) {
            const Update u = log[n % UPDATE_LOG * gridDim.y + member];
            const uint2 g = n == number && has_gradient ? ((const uint2 *)gradients)[at] : make_uint2(0, 0);
            adamw_four(four, g, scale, u, 1.f - u.lr * u.decay);
        }
        store_four(bf16, residual_bits, means, variances, at, four);
    }
    if (lane == 0) made[place] = number + 1;
}
