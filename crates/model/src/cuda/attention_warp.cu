// Causal attention within short spans, forward and backward: a warp takes one head of one span and keeps all of it in registers.
//
// Tensor cores contract dims in any order as long as both operands have the same, so a lane reads the dims that it can read at
// once and rotate alone, and no row goes through shared memory. Lane (g, t) = (lane / 4, lane % 4) holds of every eighth row,
// g, WORDS words of two dims:
// - of queries and keys, HD / 8 neighbours from dim t · HD / 8 on, and those they rotate with, half a head further;
// - of values, outputs and their gradients, eight neighbours from dim 8 t of every 32.
// Word w of eight rows is an 8 x 8 matrix; its transpose is an operand of matmuls that contract rows, whose result has word w of
// the rows in the same lane again.

#define WORDS (HD / 8)

// Two times eight rows of a head.
struct Tile {
    u32 of[2][WORDS];
    // As the left operand of step s over the dims.
    __device__ __forceinline__ void left(u32 *a, int s) const {
        a[0] = of[0][2 * s], a[1] = of[1][2 * s], a[2] = of[0][2 * s + 1], a[3] = of[1][2 * s + 1];
    }
    // c[16][8] += left · the eight rows `half`ᵀ
    __device__ __forceinline__ void times(float *c, const Tile &right, int half) const {
#pragma unroll
        for (int s = 0; s < KSTEPS; s++) {
            u32 a[4];
            left(a, s);
            mma(c, a, right.of[half][2 * s], right.of[half][2 * s + 1]);
        }
    }
    __device__ __forceinline__ void transpose() {
#pragma unroll
        for (int w = 0; w < WORDS; w++) of[0][w] = transposed(of[0][w]), of[1][w] = transposed(of[1][w]);
    }
    // out[16][HD] += p[16][16] · these rows
    __device__ __forceinline__ void combined(float (*out)[4], const u32 *p) const {
#pragma unroll
        for (int w = 0; w < WORDS; w++) mma(out[w], p, transposed(of[0][w]), transposed(of[1][w]));
    }
};

// A warp's head of a span, and the lane in it.
struct WarpSpan {
    u64 base;
    int len, head, g, t;
};
__device__ __forceinline__ void find_span(WarpSpan &at, const uint2 *spans, u32 &filler) {
    const u32 item = blockIdx.x * SHORT_WARPS + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    const uint2 span = spans[item / HEADS];
    filler = span.y & FILLER ? span.y & ~FILLER : 0;
    at = {span.x, (int)span.y, (int)(item % HEADS), (int)(lane >> 2), (int)(lane & 3)};
}

// The lane's words of a row of values, outputs or their gradients.
__device__ __forceinline__ void load_row(u32 *to, const u16 *row, int t, bool real) {
#pragma unroll
    for (int c = 0; c < HD / 32; c++) {
        const uint4 x = chunk(row + 32 * c + 8 * t, real);
        to[4 * c] = x.x, to[4 * c + 1] = x.y, to[4 * c + 2] = x.z, to[4 * c + 3] = x.w;
    }
}
// The lane's words of a row of queries or keys.
__device__ __forceinline__ void load_rotary_row(u32 *to, const u16 *row, int t, bool real) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const u16 *from = row + half * (HD / 2) + t * (HD / 8);
#if HD == 32
        const uint2 x = real ? *(const uint2 *)from : make_uint2(0, 0);
        to[2 * half] = x.x, to[2 * half + 1] = x.y;
#else
#pragma unroll
        for (int c = 0; c < HD / 64; c++) {
            const uint4 x = chunk(from + 8 * c, real);
            u32 *words = to + half * (WORDS / 2) + 4 * c;
            words[0] = x.x, words[1] = x.y, words[2] = x.z, words[3] = x.w;
        }
#endif
    }
}
__device__ __forceinline__ void load_rows(Tile &tile, const u16 *from, int stride, int first, const WarpSpan &at) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = first + at.g + 8 * h;
        load_row(tile.of[h], from + (u64)row * stride, at.t, row < at.len);
    }
}
__device__ __forceinline__ void load_rotary_rows(Tile &tile, const u16 *from, int first, const WarpSpan &at) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = first + at.g + 8 * h;
        load_rotary_row(tile.of[h], from + (u64)row * QKV, at.t, row < at.len);
    }
}
// The lane's angles of a row: cosine and sine of both dims of each word of the lower half.
__device__ __forceinline__ void load_angles(float4 *by, const float2 *angles, int row, int t) {
    const float4 *from = angles_at(angles, row);
#pragma unroll
    for (int j = 0; j < WORDS / 2; j++) {
        const int pair = t * (WORDS / 2) + j;
        by[j] = from[pair % 4 * PAIRS + pair / 4];
    }
}
__device__ __forceinline__ void rotate(u32 *row, const float4 *by) {
#pragma unroll
    for (int j = 0; j < WORDS / 2; j++) {
        const u32 a = row[j], b = row[j + WORDS / 2];
        row[j] = pack(low(a) * by[j].x - low(b) * by[j].y, high(a) * by[j].z - high(b) * by[j].w);
        row[j + WORDS / 2] = pack(low(b) * by[j].x + low(a) * by[j].y, high(b) * by[j].z + high(a) * by[j].w);
    }
}
__device__ __forceinline__ void rotate_both(Tile &queries, Tile &keys, const float2 *angles, int first, const WarpSpan &at) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float4 by[WORDS / 2];
        load_angles(by, angles, first + at.g + 8 * h, at.t);
        rotate(queries.of[h], by);
        rotate(keys.of[h], by);
    }
}
__device__ __forceinline__ void store_rows(u16 *to, int stride, float (*c)[4], int first, const WarpSpan &at, const float *scale) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = first + at.g + 8 * h;
        if (row < at.len)
#pragma unroll
            for (int n = 0; n < HD / 32; n++) {
                u32 x[4];
#pragma unroll
                for (int j = 0; j < 4; j++) x[j] = pack(c[4 * n + j][2 * h] * scale[h], c[4 * n + j][2 * h + 1] * scale[h]);
                *(uint4 *)(to + (u64)row * stride + 32 * n + 8 * at.t) = make_uint4(x[0], x[1], x[2], x[3]);
            }
    }
}
// Writes gradients of rotated rows, scaled and rotated back.
__device__ __forceinline__ void store_rotary_rows(u16 *to, float (*c)[4], int first, const WarpSpan &at, float scale, const float2 *angles) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = first + at.g + 8 * h;
        float4 by[WORDS / 2];
        u32 x[WORDS];
        load_angles(by, angles, row, at.t);
#pragma unroll
        for (int j = 0; j < WORDS / 2; j++) {
            const float a0 = c[j][2 * h] * scale, a1 = c[j][2 * h + 1] * scale;
            const float b0 = c[j + WORDS / 2][2 * h] * scale, b1 = c[j + WORDS / 2][2 * h + 1] * scale;
            x[j] = pack(a0 * by[j].x + b0 * by[j].y, a1 * by[j].z + b1 * by[j].w);
            x[j + WORDS / 2] = pack(b0 * by[j].x - a0 * by[j].y, b1 * by[j].z - a1 * by[j].w);
        }
        if (row < at.len)
#pragma unroll
            for (int half = 0; half < 2; half++)
                *(uint2 *)(to + (u64)row * QKV + half * (HD / 2) + at.t * (HD / 8)) = make_uint2(x[2 * half], x[2 * half + 1]);
    }
}

// Scores as the left operand of a matmul over their columns.
__device__ __forceinline__ void pack_scores(u32 *p, const float (*c)[4]) {
    p[0] = pack(c[0][0], c[0][1]), p[1] = pack(c[0][2], c[0][3]), p[2] = pack(c[1][0], c[1][1]), p[3] = pack(c[1][2], c[1][3]);
}

template <int TILES>
__device__ __forceinline__ void attend_warp(
    const u16 *__restrict__ qkv, const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ out,
    float *__restrict__ log_sum) {
    WarpSpan at;
    u32 filler;
    find_span(at, spans, filler);
    u16 *to = out + at.base * D + at.head * HD;
    if (filler) clear(to, filler, D, HD, threadIdx.x & 31, 32);
    if (at.len <= 0) return;
    const u16 *from = qkv + at.base * QKV + at.head * HD;
    Tile queries[TILES], keys[TILES], values[TILES];
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        load_rotary_rows(queries[i], from, 16 * i, at);
        load_rotary_rows(keys[i], from + D, 16 * i, at);
        load_rows(values[i], from + 2 * D, QKV, 16 * i, at);
    }
#pragma unroll
    for (int i = 0; i < TILES; i++) rotate_both(queries[i], keys[i], angles, 16 * i, at);
#pragma unroll
    for (int i = 0; i < TILES; i++) values[i].transpose();
    const float scale = rsqrtf((float)HD) * 1.4426950408889634f;
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        if (16 * i >= at.len) break;
        float c[2 * TILES][4], acc[WORDS][4] = {}, inverse[2];
#pragma unroll
        for (int n = 0; n < 2 * (i + 1); n++) {
            c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0.f;
            queries[i].times(c[n], keys[n / 2], n % 2);
        }
        mask_future(c + 2 * i, at.g, at.t);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float most = c[0][2 * r], sum = 0.f;
#pragma unroll
            for (int n = 0; n < 2 * (i + 1); n++) most = fmaxf(most, fmaxf(c[n][2 * r], c[n][2 * r + 1]));
            const float top = quad_max(most) * scale;
#pragma unroll
            for (int n = 0; n < 2 * (i + 1); n++)
#pragma unroll
                for (int j = 2 * r; j < 2 * r + 2; j++) {
                    c[n][j] = power2(c[n][j] * scale - top);
                    sum += c[n][j];
                }
            sum = quad_sum(sum);
            inverse[r] = 1.f / sum;
            const int row = 16 * i + at.g + 8 * r;
            if (at.t == 0 && row < at.len) log_sum[(at.base + row) * HEADS + at.head] = (top + log2f(sum)) * 0.6931471805599453f;
        }
#pragma unroll
        for (int j = 0; j <= i; j++) {
            u32 p[4];
            pack_scores(p, c + 2 * j);
#pragma unroll
            for (int w = 0; w < WORDS; w++) mma(acc[w], p, values[j].of[0][w], values[j].of[1][w]);
        }
        store_rows(to, D, acc, 16 * i, at, inverse);
    }
}

template <int TILES>
__device__ __forceinline__ void attend_warp_backward(
    const u16 *__restrict__ qkv, const u16 *__restrict__ out, const float *__restrict__ log_sum, const u16 *__restrict__ dout,
    const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ dqkv) {
    WarpSpan at;
    u32 filler;
    find_span(at, spans, filler);
    u16 *to = dqkv + at.base * QKV + at.head * HD;
    if (filler)
        for (int part = 0; part < 3; part++) clear(to + part * D, filler, QKV, HD, threadIdx.x & 31, 32);
    if (at.len <= 0) return;
    const u16 *from = qkv + at.base * QKV + at.head * HD, *results = out + at.base * D + at.head * HD, *grads_of = dout + at.base * D + at.head * HD;
    const float root = rsqrtf((float)HD), log2e = 1.4426950408889634f, scale = root * log2e, one[2] = {1.f, 1.f};
    Tile queries[TILES], keys[TILES], values[TILES], grads[TILES];
    // Of queries 2 t and 2 t + 1 of every eight: log-sum-exp of the scores, base 2, and output · output gradient.
    float2 sums[TILES][2], deltas[TILES][2];
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        load_rotary_rows(queries[i], from, 16 * i, at);
        load_rotary_rows(keys[i], from + D, 16 * i, at);
        load_rows(values[i], from + 2 * D, QKV, 16 * i, at);
        load_rows(grads[i], grads_of, D, 16 * i, at);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int row = 16 * i + 8 * h + 2 * at.t;
            const float *sum = log_sum + (at.base + row) * HEADS + at.head;
            // Rows past the end get no probability.
            sums[i][h].x = row < at.len ? sum[0] * log2e : INFINITY_F;
            sums[i][h].y = row + 1 < at.len ? sum[HEADS] * log2e : INFINITY_F;
        }
    }
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        Tile result;
        load_rows(result, results, D, 16 * i, at);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float delta = 0.f;
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                const u32 a = result.of[h][w], b = grads[i].of[h][w];
                delta += low(a) * low(b) + high(a) * high(b);
            }
            delta = quad_sum(delta);
            deltas[i][h].x = __shfl_sync(FULL, delta, 8 * at.t);
            deltas[i][h].y = __shfl_sync(FULL, delta, 8 * at.t + 4);
        }
    }
#pragma unroll
    for (int i = 0; i < TILES; i++) rotate_both(queries[i], keys[i], angles, 16 * i, at);
    // The gradients of the scores, queries by keys.
    u32 kept[TILES][TILES][4];
#pragma unroll
    for (int j = 0; j < TILES; j++) {
        if (16 * j >= at.len) break;
        float dk[WORDS][4] = {}, dv[WORDS][4] = {};
#pragma unroll
        for (int i = j; i < TILES; i++) {
            if (16 * i >= at.len) break;
            float c[2][4] = {}, dp[2][4] = {};
            u32 p[4], ds[4];
#pragma unroll
            for (int n = 0; n < 2; n++) {
                keys[j].times(c[n], queries[i], n);
                values[j].times(dp[n], grads[i], n);
                const float2 sum = sums[i][n], delta = deltas[i][n];
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    const bool future = i == j && n * 8 + 2 * at.t + (x & 1) < at.g + (x >> 1) * 8;
                    c[n][x] = future ? 0.f : power2(c[n][x] * scale - (x & 1 ? sum.y : sum.x));
                    dp[n][x] = c[n][x] * (dp[n][x] - (x & 1 ? delta.y : delta.x));
                }
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    p[2 * n + r] = pack(c[n][2 * r], c[n][2 * r + 1]);
                    ds[2 * n + r] = pack(dp[n][2 * r], dp[n][2 * r + 1]);
                }
            }
            grads[i].combined(dv, p);
            queries[i].combined(dk, ds);
            u32 *keep = kept[i][j];
            keep[0] = transposed(ds[0]), keep[1] = transposed(ds[2]), keep[2] = transposed(ds[1]), keep[3] = transposed(ds[3]);
        }
        store_rotary_rows(to + D, dk, 16 * j, at, root, angles);
        store_rows(to + 2 * D, QKV, dv, 16 * j, at, one);
    }
#pragma unroll
    for (int j = 0; j < TILES; j++) keys[j].transpose();
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        if (16 * i >= at.len) break;
        float dq[WORDS][4] = {};
#pragma unroll
        for (int j = 0; j <= i; j++)
#pragma unroll
            for (int w = 0; w < WORDS; w++) mma(dq[w], kept[i][j], keys[j].of[0][w], keys[j].of[1][w]);
        store_rotary_rows(to, dq, 16 * i, at, root, angles);
    }
}

// Only narrow heads fit: for wider ones these are not launched, and empty.
#if HD == 32
#define NARROW(call) call
#else
#define NARROW(call)
#endif
extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS) attention_32(FORWARD_ARGS) {
    PDL_BEGIN;
    NARROW(attend_warp<32 / 16>(qkv, spans, angles, out, log_sum));
}
extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS) attention_48(FORWARD_ARGS) {
    PDL_BEGIN;
    NARROW(attend_warp<48 / 16>(qkv, spans, angles, out, log_sum));
}
extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS) attention_64(FORWARD_ARGS) {
    PDL_BEGIN;
    NARROW(attend_warp<64 / 16>(qkv, spans, angles, out, log_sum));
}
extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS) attention_backward_32(BACKWARD_ARGS) {
    PDL_BEGIN;
    NARROW(attend_warp_backward<32 / 16>(qkv, out, log_sum, dout, spans, angles, dqkv));
}
extern "C" __global__ void __launch_bounds__(32 * SHORT_WARPS) attention_backward_48(BACKWARD_ARGS) {
    PDL_BEGIN;
    NARROW(attend_warp_backward<48 / 16>(qkv, out, log_sum, dout, spans, angles, dqkv));
}
