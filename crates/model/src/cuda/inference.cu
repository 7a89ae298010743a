// Inference: selected rows, and results from their logits.

// out[member, pick] = x[member, pick_rows[member, pick]], a warp per pick.
extern "C" __global__ void __launch_bounds__(THREADS) select_rows(
    const u16 *__restrict__ x, const u32 *__restrict__ pick_rows, u16 *__restrict__ out, int rows, int picks, int total) {
    PDL_BEGIN;
    const int pick = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (pick >= total) return;
    const uint4 *from = (const uint4 *)(x + ((u64)(pick / picks) * rows + pick_rows[pick]) * D);
    for (int c = lane; c < CHUNKS; c += 32) ((uint4 *)(out + (u64)pick * D))[c] = from[c];
}

// x[rows[i]] = values[i], a warp per row.
extern "C" __global__ void __launch_bounds__(THREADS) write_rows(
    u16 *__restrict__ x, const u32 *__restrict__ rows, const u16 *__restrict__ values, int total) {
    PDL_BEGIN;
    const int row = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= total) return;
    uint4 *to = (uint4 *)(x + (u64)rows[row] * D);
    for (int c = lane; c < CHUNKS; c += 32) to[c] = ((const uint4 *)(values + (u64)row * D))[c];
}

// The maximum of a row of logits, known to all threads. Logits are f32 here, so that close ones do not tie.
__device__ __forceinline__ float row_max(const float *line, float *shared) {
    float top = -INFINITY_F;
    for (int i = threadIdx.x; i < V; i += THREADS) top = fmaxf(top, line[i]);
    return block_max(top, shared);
}
// Writes the first of the largest logits. The minimum is the same in whatever order threads come; if all are NaN, it is the
// last token.
__device__ __forceinline__ void write_argmax(const float *line, float top, u32 *out) {
    __shared__ u32 first;
    if (threadIdx.x == 0) first = V;
    __syncthreads();
    for (int i = threadIdx.x; i < V; i += THREADS)
        if (line[i] == top) {
            atomicMin(&first, (u32)i);
            break;
        }
    __syncthreads();
    if (threadIdx.x == 0) *out = min(first, (u32)(V - 1));
}

// The first of the largest logits of each row, a block per row.
extern "C" __global__ void __launch_bounds__(THREADS) argmax(const float *__restrict__ logits, u32 *__restrict__ out) {
    PDL_BEGIN;
    __shared__ float shared[32];
    const float *line = logits + (u64)blockIdx.x * V;
    write_argmax(line, row_max(line, shared), out + blockIdx.x);
}

// A token of each row, drawn by its number in [0, 1): the first at which the probabilities add up to more than it. A number
// below 0 takes the first of the largest logits.
// Each thread adds up a segment of neighbours; thread 0 goes through the segments, then through that of the token.
#define SEGMENT ((V + THREADS - 1) / THREADS)
extern "C" __global__ void __launch_bounds__(THREADS) draw(
    const float *__restrict__ logits, const float *__restrict__ uniforms, u32 *__restrict__ out, float inverse_temperature) {
    PDL_BEGIN;
    __shared__ float shared[32];
    __shared__ float sums[THREADS];
    const float *line = logits + (u64)blockIdx.x * V;
    const float top = row_max(line, shared);
    if (uniforms[blockIdx.x] < 0.f) return write_argmax(line, top, out + blockIdx.x);
    float sum = 0.f;
    for (int i = threadIdx.x * SEGMENT; i < min(V, (int)(threadIdx.x + 1) * SEGMENT); i++)
        sum += __expf((line[i] - top) * inverse_temperature);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    float total = 0.f;
    for (int t = 0; t < THREADS; t++) total += sums[t];
    float left = uniforms[blockIdx.x] * total;
    int t = 0;
    while (t < THREADS - 1 && left >= sums[t]) left -= sums[t++];
    int i = min(t * SEGMENT, V - 1);
    const int last = min(V, (t + 1) * SEGMENT) - 1;
    while (i < last && (left -= __expf((line[i] - top) * inverse_temperature)) >= 0.f) i++;
    out[blockIdx.x] = i;
}

// Log-probability of each row's target, and how many logits are strictly above its own, of the tokens of the row's set,
// a bit per token; set 0 is all tokens.
#define SET_WORDS ((V + 31) / 32)
extern "C" __global__ void __launch_bounds__(THREADS) scores_of(
    const float *__restrict__ logits, const u32 *__restrict__ targets, const u32 *__restrict__ pick_sets,
    const u32 *__restrict__ sets, uint2 *__restrict__ out) {
    PDL_BEGIN;
    __shared__ float shared[32];
    const u32 own_set = pick_sets[blockIdx.x];
    const u32 *set = own_set ? sets + (u64)(own_set - 1) * SET_WORDS : nullptr;
    const float *line = logits + (u64)blockIdx.x * V;
    const float own = line[targets[blockIdx.x]], top = row_max(line, shared);
    float sum = 0.f, above = 0.f;
    for (int i = threadIdx.x; i < V; i += THREADS) {
        const float x = line[i];
        sum += __expf(x - top);
        above += x > own && (!set || set[i / 32] >> i % 32 & 1) ? 1.f : 0.f;
    }
    sum = block_sum(sum, shared);
    above = block_sum(above, shared);
    if (threadIdx.x == 0) out[blockIdx.x] = make_uint2(__float_as_uint(own - top - logf(sum)), (u32)above);
}
