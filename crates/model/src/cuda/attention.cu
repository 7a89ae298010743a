// Causal attention within spans, forward and backward.
//
// A block takes one head of one span. Scores live in registers, 16 queries by 16 keys at a time; the span's queries, keys
// and values (in the backward also the gradients of the output) lie in shared memory with rotary positions applied. What
// limits these kernels is how many cache lines they ask the L1 cache for, so rows are read and written whole.
// Rows are padded to PITCH elements so that the eight rows of a matrix load hit different banks. Spans come in classes
// by length, a launch each: short ones need little shared memory and few warps, so many fit on the chip.

#define PITCH (HD + 8)
#define KSTEPS (HD / 16)
#define NTILES (HD / 8)
#define QKV (3 * D)

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

// Eight dims of one row, a lane's: HD / 8 lanes beside each other read a row whole. The table of rotary angles has the
// cosine and sine of every position's dims, [CONTEXT][HD / 2].
#define LANES (HD / 8)
__device__ __forceinline__ uint4 chunk(const u16 *from, u64 at, bool real) {
    return real ? *(const uint4 *)(from + at) : make_uint4(0, 0, 0, 0);
}
struct Angles {
    float4 of[4];  // cosine and sine of two dims
};
__device__ __forceinline__ Angles angles_of(const float2 *angles, int row, int c) {
    const float4 *from = (const float4 *)(angles + min(row, CONTEXT - 1) * (HD / 2) + c % (LANES / 2) * 8);
    return {{from[0], from[1], from[2], from[3]}};
}
__device__ __forceinline__ u32 rotated(u32 mine, float4 by, bool upper) {
    const u32 other = __shfl_xor_sync(FULL, mine, LANES / 2);
    const float sign = upper ? 1.f : -1.f;
    return pack(low(mine) * by.x + sign * low(other) * by.y, high(mine) * by.z + sign * high(other) * by.w);
}
// Rotated by its angles; the partners half a head away are in another lane.
__device__ __forceinline__ uint4 rotated(uint4 mine, const Angles &by, int c) {
    const bool upper = c >= LANES / 2;
    return make_uint4(rotated(mine.x, by.of[0], upper), rotated(mine.y, by.of[1], upper), rotated(mine.z, by.of[2], upper),
                      rotated(mine.w, by.of[3], upper));
}
__device__ __forceinline__ void put(u16 *to, uint4 chunk) { *(uint4 *)to = chunk; }
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

// Takes out keys after their query on the diagonal tile, of which thread (g, t) holds these scores.
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
            const float4 *by = (const float4 *)(angles + min(first + g + 8 * h, CONTEXT - 1) * (HD / 2) + 2 * t);
#pragma unroll
            for (int n = 0; n < NTILES / 2; n++) {
                const float4 at = by[4 * n];
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

// Tiles of 16 rows go to `warps` warps in a zigzag (0 1 2 3 3 2 1 0 ...), the longest first, so that all end at about the
// same time.
__device__ __forceinline__ int assigned_tile(int round, int warp, int warps) {
    return round * warps + (round & 1 ? warps - 1 - warp : warp);
}

// Grid: (spans of a class) x heads, the heads of a span side by side: together they read and write whole rows.
// A span is (first row, length) over the rows of all members; unused ones have length 0.
// Filler has the bit FILLER of its length set. Matmuls run over it, those of the weights' gradients too: its gradients
// must be zero, and what they are multiplied with finite, even if a model with NaNs used that memory before.
__device__ __forceinline__ void clear(u16 *to, u32 rows, int stride, u32 width) {
    for (u32 i = threadIdx.x; i < rows * (width / 8); i += blockDim.x)
        *(uint4 *)(to + (u64)(i / (width / 8)) * stride + i % (width / 8) * 8) = make_uint4(0, 0, 0, 0);
}
template <int WARPS>
__device__ __forceinline__ void attend(
    const u16 *__restrict__ qkv, const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ out,
    float *__restrict__ log_sum) {
    extern __shared__ __align__(16) u16 shared[];
    const int head = blockIdx.x % HEADS, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const uint2 span = spans[blockIdx.x / HEADS];
    const int len = span.y, padded = (len + 15) & ~15, g = lane >> 2, t = lane & 3;
    const u64 base = span.x;
    if (span.y & FILLER) clear(out + base * D + head * HD, span.y & ~FILLER, D, HD);
    if (len <= 0) return;  // unused, or filler
    const u16 *q = qkv + base * QKV + head * HD;
    u16 *queries = shared, *keys = queries + padded * PITCH, *values = keys + padded * PITCH;
    u16 *scratch = values + (padded + 16 * warp) * PITCH;
    // Stage the span with rotary positions applied, then let each warp take tiles of 16 queries.
    for (int i = threadIdx.x; i < padded * LANES; i += WARPS * 32) {
        const int row = i / LANES, c = i % LANES, to = row * PITCH + 8 * c;
        const u64 at = (u64)row * QKV + 8 * c;
        const uint4 mine = chunk(q, at, row < len), key = chunk(q + D, at, row < len), value = chunk(q + 2 * D, at, row < len);
        const Angles by = angles_of(angles, row, c);
        put(queries + to, rotated(mine, by, c));
        put(keys + to, rotated(key, by, c));
        put(values + to, value);
    }
    __syncthreads();
    const float scale = rsqrtf((float)HD) * 1.4426950408889634f;
    for (int round = 0, first; (first = padded - 16 - 16 * assigned_tile(round, warp, WARPS)) >= 0; round++) {
        u32 a[KSTEPS][4];
        load_staged(a, queries, first);
        // Online softmax: the running maximum and sum of each of the thread's two rows.
        float acc[NTILES][4] = {}, top[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
        for (int at = 0; at <= first; at += 16) {
            float c[2][4];
            scores(c, a, keys, at);
            if (at == first) mask_future(c, g, t);
            u32 p[4];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float before = top[h];
                const float most = fmaxf(fmaxf(c[0][2 * h], c[0][2 * h + 1]), fmaxf(c[1][2 * h], c[1][2 * h + 1]));
                top[h] = fmaxf(before, quad_max(most) * scale);
                const float shrink = power2(before - top[h]);
                float e[4];
#pragma unroll
                for (int i = 0; i < 4; i++) e[i] = power2(c[i >> 1][2 * h + (i & 1)] * scale - top[h]);
                sum[h] = sum[h] * shrink + (e[0] + e[1] + e[2] + e[3]);
                p[h] = pack(e[0], e[1]);
                p[2 + h] = pack(e[2], e[3]);
#pragma unroll
                for (int n = 0; n < NTILES; n++) {
                    acc[n][2 * h] *= shrink;
                    acc[n][2 * h + 1] *= shrink;
                }
            }
            combine(acc, p, values, at);
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float total = quad_sum(sum[h]), inverse = 1.f / total;
#pragma unroll
            for (int n = 0; n < NTILES; n++) {
                acc[n][2 * h] *= inverse;
                acc[n][2 * h + 1] *= inverse;
            }
            const int row = first + g + 8 * h;
            if (t == 0 && row < len) log_sum[(base + row) * HEADS + head] = (top[h] + log2f(total)) * 0.6931471805599453f;
        }
        store_tile<false>(out + base * D + head * HD, D, acc, scratch, first, len, 1.f, angles);
    }
}

// Stage 1: queries, keys, values and output gradients go to shared memory, with each row's sum of output · output
// gradient ("delta"). Stage 2: one half of the warps makes the queries' gradients, the other half those of keys and
// values. Probabilities are recomputed from the saved log-sum-exp; each gradient has one writer.
template <int WARPS>
__device__ __forceinline__ void attend_backward(
    const u16 *__restrict__ qkv, const u16 *__restrict__ out, const float *__restrict__ log_sum, const u16 *__restrict__ dout,
    const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ dqkv) {
    extern __shared__ __align__(16) u16 shared[];
    const int head = blockIdx.x % HEADS, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const uint2 span = spans[blockIdx.x / HEADS];
    const int len = span.y, padded = (len + 15) & ~15, g = lane >> 2, t = lane & 3;
    const u64 base = span.x;
    if (span.y & FILLER) clear(dqkv + base * QKV + head * (QKV / HEADS), span.y & ~FILLER, QKV, QKV / HEADS);
    if (len <= 0) return;
    const u16 *q = qkv + base * QKV + head * HD, *o = out + base * D + head * HD, *d = dout + base * D + head * HD;
    u16 *dq = dqkv + base * QKV + head * HD;
    u16 *queries = shared, *keys = queries + padded * PITCH, *values = keys + padded * PITCH, *grads = values + padded * PITCH;
    float *sums = (float *)(grads + padded * PITCH), *deltas = sums + padded;
    u16 *scratch = (u16 *)(deltas + padded) + 16 * warp * PITCH;
    const float root = rsqrtf((float)HD), log2e = 1.4426950408889634f, scale = root * log2e;
    for (int i = threadIdx.x; i < padded * LANES; i += WARPS * 32) {
        const int row = i / LANES, c = i % LANES, staged = row * PITCH + 8 * c;
        const bool real = row < len;
        const u64 at = (u64)row * QKV + 8 * c, to = (u64)row * D + 8 * c;
        const uint4 query = chunk(q, at, real), key = chunk(q + D, at, real), value = chunk(q + 2 * D, at, real);
        const uint4 grad = chunk(d, to, real), result = chunk(o, to, real);
        const float sum = real ? log_sum[(base + row) * HEADS + head] : 0.f;
        const Angles by = angles_of(angles, row, c);
        put(queries + staged, rotated(query, by, c));
        put(keys + staged, rotated(key, by, c));
        put(values + staged, value);
        put(grads + staged, grad);
        float delta = dot(grad, result);
#pragma unroll
        for (int w = 1; w < LANES; w <<= 1) delta += __shfl_xor_sync(FULL, delta, w);
        if (c == 0) {
            deltas[row] = delta;
            sums[row] = sum * log2e;
        }
    }
    __syncthreads();
    if (warp < WARPS / 2) {
        for (int round = 0, first; (first = padded - 16 - 16 * assigned_tile(round, warp, WARPS / 2)) >= 0; round++) {
            u32 a[KSTEPS][4], da[KSTEPS][4];
            load_staged(a, queries, first);
            load_staged(da, grads, first);
            float acc[NTILES][4] = {};
            const float sum[2] = {sums[first + g], sums[first + g + 8]}, delta[2] = {deltas[first + g], deltas[first + g + 8]};
            for (int at = 0; at <= first; at += 16) {
                float c[2][4], dp[2][4];
                scores(c, a, keys, at);
                scores(dp, da, values, at);
                if (at == first) mask_future(c, g, t);
                u32 p[4];
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float e[4];
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        e[i] = power2(c[i >> 1][2 * h + (i & 1)] * scale - sum[h]) * (dp[i >> 1][2 * h + (i & 1)] - delta[h]);
                    p[h] = pack(e[0], e[1]);
                    p[2 + h] = pack(e[2], e[3]);
                }
                combine(acc, p, keys, at);
            }
            store_tile<true>(dq, QKV, acc, scratch, first, len, root, angles);
        }
    } else {
        for (int round = 0, first; (first = 16 * assigned_tile(round, warp - WARPS / 2, WARPS / 2)) < len; round++) {
            u32 k[KSTEPS][4], v[KSTEPS][4];
            load_staged(k, keys, first);
            load_staged(v, values, first);
            float dk[NTILES][4] = {}, dv[NTILES][4] = {};
            for (int at = first; at < padded; at += 16) {
                float c[2][4], dp[2][4];
                scores(c, k, queries, at);
                scores(dp, v, grads, at);
                u32 p[4], ds[4];
                float e[2][4], f[2][4];
#pragma unroll
                for (int n = 0; n < 2; n++) {
                    const int query = at + n * 8 + 2 * t;
                    const float2 sum = *(const float2 *)(sums + query), delta = *(const float2 *)(deltas + query);
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
                            const int query = at + n * 8 + 2 * t + (i & 1);
                            if (query < first + g + (i >> 1) * 8 || query >= len) e[n][i] = f[n][i] = 0.f;
                        }
                }
#pragma unroll
                for (int h = 0; h < 2; h++)
#pragma unroll
                    for (int n = 0; n < 2; n++) {
                        p[2 * n + h] = pack(e[n][2 * h], e[n][2 * h + 1]);
                        ds[2 * n + h] = pack(f[n][2 * h], f[n][2 * h + 1]);
                    }
                combine(dv, p, grads, at);
                combine(dk, ds, queries, at);
            }
            store_tile<true>(dq + D, QKV, dk, scratch, first, len, root, angles);
            store_tile<false>(dq + 2 * D, QKV, dv, scratch, first, len, 1.f, angles);
        }
    }
}

#define FORWARD_ARGS \
    const u16 *__restrict__ qkv, const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ out, \
        float *__restrict__ log_sum
#define BACKWARD_ARGS \
    const u16 *__restrict__ qkv, const u16 *__restrict__ out, const float *__restrict__ log_sum, const u16 *__restrict__ dout, \
        const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ dqkv

extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS) attention_short(FORWARD_ARGS) {
    PDL_BEGIN;
    attend<SHORT_WARPS>(qkv, spans, angles, out, log_sum);
}
extern "C" __global__ void __launch_bounds__(32 * LONG_WARPS) attention_long(FORWARD_ARGS) {
    PDL_BEGIN;
    attend<LONG_WARPS>(qkv, spans, angles, out, log_sum);
}
extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS, 5) attention_backward_short(BACKWARD_ARGS) {
    PDL_BEGIN;
    attend_backward<SHORT_WARPS>(qkv, out, log_sum, dout, spans, angles, dqkv);
}
extern "C" __global__ void __launch_bounds__(32 * LONG_WARPS) attention_backward_long(BACKWARD_ARGS) {
    PDL_BEGIN;
    attend_backward<LONG_WARPS>(qkv, out, log_sum, dout, spans, angles, dqkv);
}

