// Causal attention within spans, forward and backward.
//
// A block takes one span and the heads that lie in one cache line of a row, BLOCK_HEADS of them. The span's queries, keys and
// values (in the backward also the gradients of the output) lie in shared memory with rotary positions applied; scores live
// in registers. The number of L1 cache lines limits these kernels, so lines are read and written
// whole. Rows are padded to PITCH elements so that the eight rows of a matrix load hit different banks. Spans come in
// classes by length, a launch each: short ones need little shared memory and few warps, so many fit on the chip.

#define PITCH (HD + 8)
#define KSTEPS (HD / 16)
#define NTILES (HD / 8)
#define QKV (3 * D)
#define LANES (HD / 8)                        // lanes that write a row of a head, eight dims each
#define BLOCK_HEADS (HD < 64 ? 64 / HD : 1)   // heads of a block
#define BLOCK_LANES (BLOCK_HEADS * LANES)     // lanes that write a row of a block's heads
#define PAIRS (LANES / 2)                     // lanes that read a row of a head: eight dims, and those they rotate with
#define BLOCK_PAIRS (BLOCK_HEADS * PAIRS)
#define HEAD_GROUPS ((HEADS + BLOCK_HEADS - 1) / BLOCK_HEADS)
// Elements from a head's matrix in shared memory to the next head's: half a line more than its rows, so that two heads'
// parts of a row hit different banks.
#define MATRIX(rows) ((rows) * PITCH + (BLOCK_HEADS > 1 ? 32 : 0))

__device__ __forceinline__ void mma(float *c, const u32 *a, u32 b0, u32 b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void load4(u32 *r, const u16 *p) {
    const u32 at = (u32)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__device__ __forceinline__ void load4_transposed(u32 *r, const u16 *p) {
    const u32 at = (u32)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}

__device__ __forceinline__ uint4 chunk(const u16 *from, bool real) {
    return real ? *(const uint4 *)from : make_uint4(0, 0, 0, 0);
}
// The table of rotary angles has the cosine and sine of every position's HD / 2 dims. Two dims are a float4; those of lanes
// beside each other lie beside each other: dims 8 c + 2 j and + 1 are at j · PAIRS + c.
struct Angles {
    float4 of[4];
};
__device__ __forceinline__ const float4 *angles_at(const float2 *angles, int row) {
    return (const float4 *)(angles + min(row, CONTEXT - 1) * (HD / 2));
}
__device__ __forceinline__ Angles angles_of(const float2 *angles, int row, int c) {
    const float4 *from = angles_at(angles, row) + c;
    return {{from[0], from[PAIRS], from[2 * PAIRS], from[3 * PAIRS]}};
}
// The angle of one dim, of those below HD / 2.
__device__ __forceinline__ float2 angle_of(const float2 *angles, u32 row, u32 dim) {
    return angles[row * (HD / 2) + 2 * (dim / 2 % 4 * PAIRS + dim / 8) + dim % 2];
}
// Eight dims and those half a head further, rotated by their angles, go to shared memory.
__device__ __forceinline__ void put_rotated(u16 *to, uint4 lower, uint4 upper, const Angles &by) {
    const u32 a[4] = {lower.x, lower.y, lower.z, lower.w}, b[4] = {upper.x, upper.y, upper.z, upper.w};
    u32 x[4], y[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float4 at = by.of[i];
        x[i] = pack(low(a[i]) * at.x - low(b[i]) * at.y, high(a[i]) * at.z - high(b[i]) * at.w);
        y[i] = pack(low(b[i]) * at.x + low(a[i]) * at.y, high(b[i]) * at.z + high(a[i]) * at.w);
    }
    *(uint4 *)to = make_uint4(x[0], x[1], x[2], x[3]);
    *(uint4 *)(to + HD / 2) = make_uint4(y[0], y[1], y[2], y[3]);
}
__device__ __forceinline__ void put(u16 *to, uint4 lower, uint4 upper) {
    *(uint4 *)to = lower;
    *(uint4 *)(to + HD / 2) = upper;
}
__device__ __forceinline__ float dot(uint4 p, uint4 q) {
    float x[8], y[8], sum = 0.f;
    unpack8(p, x);
    unpack8(q, y);
#pragma unroll
    for (int j = 0; j < 8; j++) sum += x[j] * y[j];
    return sum;
}

// A 16-row tile of a staged matrix as the left operand. Thread (g, t) of the warp holds rows g and g + 8, dims 2t, 2t + 1
// (+ 8) of every 16-wide step.
__device__ __forceinline__ void load_staged(u32 (*a)[4], const u16 *staged, int first) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int s = 0; s < KSTEPS; s++) load4(a[s], staged + (first + (lane & 15)) * PITCH + s * 16 + (lane >> 4) * 8);
}

// c[16 queries][16 keys] = left tile · rowsᵀ, rows `at`.. of a staged matrix.
__device__ __forceinline__ void scores(float (*c)[4], u32 (*a)[4], const u16 *staged, int at) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < 4; i++) c[0][i] = c[1][i] = 0.f;
#pragma unroll
    for (int s = 0; s < KSTEPS; s++) {
        u32 b[4];
        load4(b, staged + (at + (lane & 7) + ((lane >> 4) << 3)) * PITCH + s * 16 + ((lane >> 3) & 1) * 8);
        mma(c[0], a[s], b[0], b[1]);
        mma(c[1], a[s], b[2], b[3]);
    }
}

// Masks keys after their query on the diagonal tile; thread (g, t) holds these scores.
__device__ __forceinline__ void mask_future(float (*c)[4], int g, int t) {
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (n * 8 + 2 * t + (i & 1) > g + (i >> 1) * 8) c[n][i] = -INFINITY_F;
}

// out[16][HD] += p[16][16] · rows `at`.. of a staged matrix.
__device__ __forceinline__ void combine(float (*out)[4], const u32 *p, const u16 *staged, int at) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int n = 0; n < NTILES; n += 2) {
        u32 b[4];
        load4_transposed(b, staged + (at + (lane & 15)) * PITCH + n * 8 + (lane >> 4) * 8);
        mma(out[n], p, b[0], b[1]);
        mma(out[n + 1], p, b[2], b[3]);
    }
}

__device__ __forceinline__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(FULL, x, 1));
    return fmaxf(x, __shfl_xor_sync(FULL, x, 2));
}

// Writes a 16-row accumulator as bf16, by way of the warp's own `scratch` of 16 rows, so that whole rows are written; if asked,
// scaled and rotated back by the rotary angles.
template <bool ROTATE>
__device__ __forceinline__ void store_tile(u16 *to, int stride, float (*c)[4], u16 *scratch, int first, int len, float scale, const float2 *angles) {
    const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        u16 *line = scratch + (g + 8 * h) * PITCH + 2 * t;
        if (ROTATE) {
            const float4 *by = angles_at(angles, first + g + 8 * h) + t * PAIRS;
#pragma unroll
            for (int n = 0; n < NTILES / 2; n++) {
                const float4 at = by[n];
                const float a0 = c[n][2 * h] * scale, a1 = c[n][2 * h + 1] * scale;
                const float b0 = c[n + NTILES / 2][2 * h] * scale, b1 = c[n + NTILES / 2][2 * h + 1] * scale;
                *(u32 *)(line + 8 * n) = pack(a0 * at.x + b0 * at.y, a1 * at.z + b1 * at.w);
                *(u32 *)(line + 8 * n + HD / 2) = pack(b0 * at.x - a0 * at.y, b1 * at.z - a1 * at.w);
            }
        } else {
#pragma unroll
            for (int n = 0; n < NTILES; n++) *(u32 *)(line + 8 * n) = pack(c[n][2 * h], c[n][2 * h + 1]);
        }
    }
    __syncwarp();
#pragma unroll
    for (int i = lane; i < 16 * LANES; i += 32) {
        const int row = i / LANES, at = i % LANES * 8;
        if (first + row < len) *(uint4 *)(to + (u64)(first + row) * stride + at) = *(const uint4 *)(scratch + row * PITCH + at);
    }
    __syncwarp();
}

// Online softmax: the running maximum and sum of each of the thread's two rows.
struct Softmax {
    float top[2], sum[2];
};
// The next TILES times 16 keys; the last tile may be the diagonal one.
template <int TILES>
__device__ __forceinline__ void attend_keys(
    float (*acc)[4], Softmax &softmax, u32 (*a)[4], const u16 *keys, const u16 *values, int at, int first, float scale) {
    const int lane = threadIdx.x & 31;
    float c[2 * TILES][4];
    u32 p[4 * TILES];
#pragma unroll
    for (int i = 0; i < TILES; i++) scores(c + 2 * i, a, keys, at + 16 * i);
    if (at + 16 * (TILES - 1) == first) mask_future(c + 2 * (TILES - 1), lane >> 2, lane & 3);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float before = softmax.top[r];
        float most = fmaxf(c[0][2 * r], c[0][2 * r + 1]), e[4 * TILES], sum = 0.f;
#pragma unroll
        for (int n = 1; n < 2 * TILES; n++) most = fmaxf(most, fmaxf(c[n][2 * r], c[n][2 * r + 1]));
        const float top = softmax.top[r] = fmaxf(before, quad_max(most) * scale);
#pragma unroll
        for (int i = 0; i < 4 * TILES; i++) e[i] = power2(c[i >> 1][2 * r + (i & 1)] * scale - top);
#pragma unroll
        for (int i = 0; i < 4 * TILES; i += 2) {
            sum += e[i] + e[i + 1];
            p[i / 4 * 4 + i % 4 + r] = pack(e[i], e[i + 1]);
        }
        if (at) {
            const float shrink = power2(before - top);
            sum += softmax.sum[r] * shrink;
#pragma unroll
            for (int n = 0; n < NTILES; n++) {
                acc[n][2 * r] *= shrink;
                acc[n][2 * r + 1] *= shrink;
            }
        }
        softmax.sum[r] = sum;
    }
#pragma unroll
    for (int i = 0; i < TILES; i++) combine(acc, p + 4 * i, values, at + 16 * i);
}

// Tiles of 16 rows go to `warps` warps in a zigzag (0 1 2 3 3 2 1 0 ...), the longest first, so that all end at about the
// same time.
__device__ __forceinline__ int assigned_tile(int round, int warp, int warps) {
    return round * warps + (round & 1 ? warps - 1 - warp : warp);
}

// Grid: (spans of a class) x (groups of heads), the groups of a span side by side: together they read and write whole rows.
// A span is (first row, length) over the rows of all members; unused ones have length 0.
// Filler has the bit FILLER of its length set. Matmuls run over it, those of the weights' gradients too: its gradients
// must be zero, and what they are multiplied with finite, even if a model with NaNs used that memory before.
__device__ __forceinline__ void clear(u16 *to, u32 rows, int stride, u32 width, u32 thread, u32 threads) {
    for (u32 i = thread; i < rows * (width / 8); i += threads)
        *(uint4 *)(to + (u64)(i / (width / 8)) * stride + i % (width / 8) * 8) = make_uint4(0, 0, 0, 0);
}
template <int WARPS>
__device__ __forceinline__ void attend(
    const u16 *__restrict__ qkv, const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ out,
    float *__restrict__ log_sum) {
    extern __shared__ __align__(16) u16 shared[];
    const int group = blockIdx.x % HEAD_GROUPS * BLOCK_HEADS, heads = min(BLOCK_HEADS, HEADS - group);
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    const uint2 span = spans[blockIdx.x / HEAD_GROUPS];
    const int len = span.y, padded = (len + 15) & ~15, matrix = MATRIX(padded);
    const u64 base = span.x;
    if (span.y & FILLER) clear(out + base * D + group * HD, span.y & ~FILLER, D, heads * HD, threadIdx.x, blockDim.x);
    if (len <= 0) return;  // unused, or filler
    const u16 *q = qkv + base * QKV + group * HD;
    u16 *queries = shared, *keys = queries + BLOCK_HEADS * matrix, *values = keys + BLOCK_HEADS * matrix;
    float *sums = (float *)(values + BLOCK_HEADS * matrix);
    // Stage 1: the span, with rotary positions applied.
    {
        const int h = threadIdx.x % BLOCK_PAIRS / PAIRS, c = threadIdx.x % PAIRS, dims = h * HD + 8 * c;
        for (int row = threadIdx.x / BLOCK_PAIRS; row < padded; row += WARPS * 32 / BLOCK_PAIRS) {
            const u16 *from = q + (u64)row * QKV + dims;
            const int to = h * matrix + row * PITCH + 8 * c;
            const bool real = row < len && h < heads;
            const uint4 query = chunk(from, real), key = chunk(from + D, real), value = chunk(from + 2 * D, real);
            from += HD / 2;
            const uint4 query2 = chunk(from, real), key2 = chunk(from + D, real), value2 = chunk(from + 2 * D, real);
            const Angles by = angles_of(angles, row, c);
            put_rotated(queries + to, query, query2, by);
            put_rotated(keys + to, key, key2, by);
            put(values + to, value, value2);
        }
    }
    __syncthreads();
    // Stage 2: each warp takes tiles of 16 queries of a head. What comes out takes their place.
    const float scale = rsqrtf((float)HD) * 1.4426950408889634f;
    for (int round = 0, item; (item = assigned_tile(round, warp, WARPS)) < padded / 16 * heads; round++) {
        const int h = item % heads, first = padded - 16 - item / heads * 16;
        const u16 *key = keys + h * matrix, *value = values + h * matrix;
        u16 *query = queries + h * matrix;
        u32 a[KSTEPS][4];
        load_staged(a, query, first);
        float acc[NTILES][4] = {};
        Softmax softmax = {{-INFINITY_F, -INFINITY_F}, {0.f, 0.f}};
        int at = 0;
        for (; at < first; at += 32) attend_keys<2>(acc, softmax, a, key, value, at, first, scale);
        if (at == first) attend_keys<1>(acc, softmax, a, key, value, at, first, scale);
        __syncwarp();
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float total = quad_sum(softmax.sum[r]), inverse = 1.f / total;
            u16 *line = query + (first + g + 8 * r) * PITCH + 2 * t;
#pragma unroll
            for (int n = 0; n < NTILES; n++) *(u32 *)(line + 8 * n) = pack(acc[n][2 * r] * inverse, acc[n][2 * r + 1] * inverse);
            if (t == 0) sums[(first + g + 8 * r) * BLOCK_HEADS + h] = (softmax.top[r] + log2f(total)) * 0.6931471805599453f;
        }
    }
    __syncthreads();
    // Stage 3: whole rows are written.
    {
        const int h = threadIdx.x % BLOCK_LANES / LANES, c = threadIdx.x % LANES;
        if (h < heads)
            for (int row = threadIdx.x / BLOCK_LANES; row < len; row += WARPS * 32 / BLOCK_LANES)
                *(uint4 *)(out + (base + row) * D + (group + h) * HD + 8 * c) = *(const uint4 *)(queries + h * matrix + row * PITCH + 8 * c);
    }
    for (int i = threadIdx.x; i < len * BLOCK_HEADS; i += WARPS * 32)
        if (i % BLOCK_HEADS < heads) log_sum[(base + i / BLOCK_HEADS) * HEADS + group + i % BLOCK_HEADS] = sums[i];
}

// The transpose of 8 x 8 numbers; each lane holds two.
__device__ __forceinline__ u32 transposed(u32 x) {
    u32 y;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

// Stage 1: queries, keys, values and output gradients go to shared memory, with each row's sum of output · output
// gradient ("delta"). Stage 2: warps take tiles of 16 keys and make the gradients of keys and values. Stage 3: they take
// tiles of 16 queries and make the queries' gradients. Probabilities are recomputed from the saved log-sum-exp; each
// gradient has one writer. Where KEPT, there is room to keep the gradients of the scores from stage 2 for stage 3, a lane's
// four pairs beside the next lane's; else stage 3 computes them again.
template <int WARPS, bool KEPT>
__device__ __forceinline__ void attend_backward(
    const u16 *__restrict__ qkv, const u16 *__restrict__ out, const float *__restrict__ log_sum, const u16 *__restrict__ dout,
    const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ dqkv) {
    extern __shared__ __align__(16) u16 shared[];
    const int group = blockIdx.x % HEAD_GROUPS * BLOCK_HEADS, heads = min(BLOCK_HEADS, HEADS - group);
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    const uint2 span = spans[blockIdx.x / HEAD_GROUPS];
    const int len = span.y, padded = (len + 15) & ~15, tiles = padded / 16, matrix = MATRIX(padded);
    const u64 base = span.x;
    if (span.y & FILLER) clear(dqkv + base * QKV + group * HD * 3, span.y & ~FILLER, QKV, heads * HD * 3, threadIdx.x, blockDim.x);
    if (len <= 0) return;
    const u16 *q = qkv + base * QKV + group * HD, *o = out + base * D + group * HD, *d = dout + base * D + group * HD;
    u16 *queries = shared, *keys = queries + BLOCK_HEADS * matrix, *values = keys + BLOCK_HEADS * matrix, *grads = values + BLOCK_HEADS * matrix;
    float *sums = (float *)(grads + BLOCK_HEADS * matrix), *deltas = sums + BLOCK_HEADS * padded;
    // The kept gradients of the scores, or a place for each warp to write rows by way of.
    uint4 *kept = (uint4 *)(deltas + BLOCK_HEADS * padded);
    u16 *own = (u16 *)kept + 16 * warp * PITCH;
    const float root = rsqrtf((float)HD), log2e = 1.4426950408889634f, scale = root * log2e;
    {
        const int h = threadIdx.x % BLOCK_PAIRS / PAIRS, c = threadIdx.x % PAIRS, dims = h * HD + 8 * c;
        for (int row = threadIdx.x / BLOCK_PAIRS; row < padded; row += WARPS * 32 / BLOCK_PAIRS) {
            const u16 *from = q + (u64)row * QKV + dims, *grad_from = d + (u64)row * D + dims, *result_from = o + (u64)row * D + dims;
            const int to = h * matrix + row * PITCH + 8 * c;
            const bool real = row < len && h < heads;
            const uint4 grad = chunk(grad_from, real), grad2 = chunk(grad_from + HD / 2, real);
            const uint4 result = chunk(result_from, real), result2 = chunk(result_from + HD / 2, real);
            const float sum = real && c == 0 ? log_sum[(base + row) * HEADS + group + h] : 0.f;
            const uint4 query = chunk(from, real), key = chunk(from + D, real), value = chunk(from + 2 * D, real);
            from += HD / 2;
            const uint4 query2 = chunk(from, real), key2 = chunk(from + D, real), value2 = chunk(from + 2 * D, real);
            float delta = dot(grad, result) + dot(grad2, result2);
#pragma unroll
            for (int w = 1; w < PAIRS; w <<= 1) delta += __shfl_xor_sync(FULL, delta, w);
            put(grads + to, grad, grad2);
            put(values + to, value, value2);
            if (c == 0) {
                deltas[h * padded + row] = delta;
                sums[h * padded + row] = sum * log2e;
            }
            const Angles by = angles_of(angles, row, c);
            put_rotated(queries + to, query, query2, by);
            put_rotated(keys + to, key, key2, by);
        }
    }
    __syncthreads();
    for (int round = 0, item; (item = assigned_tile(round, warp, WARPS)) < tiles * heads; round++) {
        const int h = item % heads, tile = item / heads, first = 16 * tile;
        const u16 *query = queries + h * matrix, *grad = grads + h * matrix;
        const float *sum_of = sums + h * padded, *delta_of = deltas + h * padded;
        u16 *value = values + h * matrix, *dk_to = dqkv + base * QKV + D + (group + h) * HD;
        u32 k[KSTEPS][4], v[KSTEPS][4];
        load_staged(k, keys + h * matrix, first);
        load_staged(v, value, first);
        float dk[NTILES][4] = {}, dv[NTILES][4] = {};
        for (int at = first; at < padded; at += 16) {
            float c[2][4], dp[2][4];
            scores(c, k, query, at);
            scores(dp, v, grad, at);
            u32 p[4], ds[4];
            float e[2][4], f[2][4];
#pragma unroll
            for (int n = 0; n < 2; n++) {
                const int at_query = at + n * 8 + 2 * t;
                const float2 sum = *(const float2 *)(sum_of + at_query), delta = *(const float2 *)(delta_of + at_query);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    e[n][i] = power2(c[n][i] * scale - (i & 1 ? sum.y : sum.x));
                    f[n][i] = e[n][i] * (dp[n][i] - (i & 1 ? delta.y : delta.x));
                }
            }
            if (at == first || at + 16 > len) {
#pragma unroll
                for (int n = 0; n < 2; n++)
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        const int of = at + n * 8 + 2 * t + (i & 1);
                        if (of < first + g + (i >> 1) * 8 || of >= len) e[n][i] = f[n][i] = 0.f;
                    }
            }
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int n = 0; n < 2; n++) {
                    p[2 * n + r] = pack(e[n][2 * r], e[n][2 * r + 1]);
                    ds[2 * n + r] = pack(f[n][2 * r], f[n][2 * r + 1]);
                }
            combine(dv, p, grad, at);
            combine(dk, ds, query, at);
            if (KEPT) {
                const int row = at / 16, pair = row * (row + 1) / 2 + tile;
                kept[(h * (tiles * (tiles + 1) / 2) + pair) * 32 + lane] =
                    make_uint4(transposed(ds[0]), transposed(ds[2]), transposed(ds[1]), transposed(ds[3]));
            }
        }
        // Where KEPT, nobody reads these values again.
        u16 *scratch = KEPT ? value + first * PITCH : own;
        store_tile<true>(dk_to, QKV, dk, scratch, first, len, root, angles);
        store_tile<false>(dk_to + D, QKV, dv, scratch, first, len, 1.f, angles);
    }
    if (KEPT) __syncthreads();
    for (int round = 0, item; (item = assigned_tile(round, warp, WARPS)) < tiles * heads; round++) {
        const int h = item % heads, tile = tiles - 1 - item / heads, first = 16 * tile;
        const u16 *key = keys + h * matrix;
        u16 *query = queries + h * matrix;
        float acc[NTILES][4] = {};
        if (KEPT) {
            const uint4 *of = kept + (h * (tiles * (tiles + 1) / 2) + tile * (tile + 1) / 2) * 32 + lane;
            for (int at = 0; at <= first; at += 16) {
                const uint4 ds = of[2 * at];
                const u32 p[4] = {ds.x, ds.y, ds.z, ds.w};
                combine(acc, p, key, at);
            }
        } else {
            u32 a[KSTEPS][4], da[KSTEPS][4];
            load_staged(a, query, first);
            load_staged(da, grads + h * matrix, first);
            const float *sum_of = sums + h * padded + first + g, *delta_of = deltas + h * padded + first + g;
            const float sum[2] = {sum_of[0], sum_of[8]}, delta[2] = {delta_of[0], delta_of[8]};
            for (int at = 0; at <= first; at += 16) {
                float c[2][4], dp[2][4];
                scores(c, a, key, at);
                scores(dp, da, values + h * matrix, at);
                if (at == first) mask_future(c, g, t);
                u32 p[4];
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    float e[4];
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        e[i] = power2(c[i >> 1][2 * r + (i & 1)] * scale - sum[r]) * (dp[i >> 1][2 * r + (i & 1)] - delta[r]);
                    p[r] = pack(e[0], e[1]);
                    p[2 + r] = pack(e[2], e[3]);
                }
                combine(acc, p, key, at);
            }
        }
        u16 *scratch = KEPT ? query + first * PITCH : own;
        store_tile<true>(dqkv + base * QKV + (group + h) * HD, QKV, acc, scratch, first, len, root, angles);
    }
}

#define FORWARD_ARGS \
    const u16 *__restrict__ qkv, const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ out, \
        float *__restrict__ log_sum
#define BACKWARD_ARGS \
    const u16 *__restrict__ qkv, const u16 *__restrict__ out, const float *__restrict__ log_sum, const u16 *__restrict__ dout, \
        const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ dqkv
// Blocks that share the registers of a multiprocessor; wide heads leave room for fewer.
#define SHARE(narrow, wide) (HD == 32 ? (narrow) : HD == 64 ? (wide) : 1)

extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS, SHARE(7, 5)) attention_short(FORWARD_ARGS) {
    PDL_BEGIN;
    attend<SHORT_WARPS>(qkv, spans, angles, out, log_sum);
}
extern "C" __global__ void __launch_bounds__(32 * LONG_WARPS) attention_long(FORWARD_ARGS) {
    PDL_BEGIN;
    attend<LONG_WARPS>(qkv, spans, angles, out, log_sum);
}
extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS, SHARE(5, 4)) attention_backward_short(BACKWARD_ARGS) {
    PDL_BEGIN;
    attend_backward<SHORT_WARPS, true>(qkv, out, log_sum, dout, spans, angles, dqkv);
}
extern "C" __global__ void __launch_bounds__(32 * LONG_WARPS) attention_backward_long(BACKWARD_ARGS) {
    PDL_BEGIN;
    attend_backward<LONG_WARPS, true>(qkv, out, log_sum, dout, spans, angles, dqkv);
}
extern "C" __global__ void __launch_bounds__(32 * LONG_WARPS) attention_backward_longest(BACKWARD_ARGS) {
    PDL_BEGIN;
    attend_backward<LONG_WARPS, false>(qkv, out, log_sum, dout, spans, angles, dqkv);
}
