// Forward-only attention over a cache of keys and values.

// Rows that read a cache: row i of the span has position prefix_len + i. It attends to slots prefix .. prefix +
// prefix_len and, causally, to slots slot ..= slot + i; slot + i holds its own key and value.
struct CachedSpan {
    u32 start, len, prefix, prefix_len, slot;
};

// Block (span, member): stores the rotated keys and the values of the span's rows in cache [N, slots, 2 D].
extern "C" __global__ void __launch_bounds__(THREADS) cache_store(
    const u16 *__restrict__ qkv, const CachedSpan *__restrict__ spans, const float2 *__restrict__ angles,
    u16 *__restrict__ cache, int rows, int span_cap, int slots) {
    PDL_BEGIN;
    const CachedSpan span = spans[blockIdx.y * span_cap + blockIdx.x];
    for (u32 i = threadIdx.x; i < span.len * (D / 2); i += THREADS) {
        const u32 row = i / (D / 2), pair = i % (D / 2), head = pair / (HD / 2), dim = pair % (HD / 2);
        const u16 *from = qkv + ((u64)blockIdx.y * rows + span.start + row) * QKV + D + head * HD + dim;
        u16 *to = cache + ((u64)blockIdx.y * slots + span.slot + row) * 2 * D + head * HD + dim;
        const float2 by = angle_of(angles, span.prefix_len + row, dim);
        const float a = widen(from[0]), b = widen(from[HD / 2]);
        to[0] = narrow(a * by.x - b * by.y);
        to[HD / 2] = narrow(b * by.x + a * by.y);
        to[D] = from[D];
        to[D + HD / 2] = from[D + HD / 2];
    }
}

// Block (span, CACHED_WARPS heads, member), a warp per head, as in `attention_warp.cu`: tiles of 16 queries, each over tiles of 16
// keys with a running maximum and sum.
extern "C" __global__ void __launch_bounds__(32 * CACHED_WARPS) attention_cached(
    const u16 *__restrict__ qkv, const CachedSpan *__restrict__ spans, const float2 *__restrict__ angles,
    const u16 *__restrict__ cache, u16 *__restrict__ out, int rows, int span_cap, int slots) {
    PDL_BEGIN;
    const int head = blockIdx.y * CACHED_WARPS + (threadIdx.x >> 5), member = blockIdx.z, lane = threadIdx.x & 31;
    if (head >= HEADS) return;
    const CachedSpan span = spans[member * span_cap + blockIdx.x];
    const WarpSpan at = {(u64)member * rows + span.start, (int)span.len, head, lane >> 2, lane & 3};
    const u16 *from = qkv + at.base * QKV + head * HD, *cached = cache + (u64)member * slots * 2 * D + head * HD;
    u16 *to = out + at.base * D + head * HD;
    const int prefix = span.prefix_len, seen = prefix + at.len;
    const float scale = rsqrtf((float)HD) * 1.4426950408889634f;
    for (int first = 0; first < at.len; first += 16) {
        Tile queries;
        float acc[WORDS][4] = {}, top[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
        load_rotary_rows(queries, from, first, at);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float4 by[WORDS / 2];
            load_angles(by, angles, prefix + first + at.g + 8 * h, at.t);
            rotate(queries.of[h], by);
        }
        for (int key = 0; key < min(seen, prefix + first + 16); key += 16) {
            Tile keys, values;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int k = key + at.g + 8 * h, slot = k < prefix ? (int)span.prefix + k : (int)span.slot + k - prefix;
                const u16 *row = cached + (u64)slot * 2 * D;
                load_rotary_row(keys.of[h], row, at.t, k < seen);
                load_row(values.of[h], row + D, at.t, k < seen);
            }
            float c[2][4] = {};
#pragma unroll
            for (int n = 0; n < 2; n++) {
                queries.times(c[n], keys, n);
#pragma unroll
                for (int x = 0; x < 4; x++)
                    if (key + 8 * n + 2 * at.t + (x & 1) > prefix + first + at.g + 8 * (x >> 1)) c[n][x] = -INFINITY_F;
            }
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const float most = fmaxf(fmaxf(c[0][2 * r], c[0][2 * r + 1]), fmaxf(c[1][2 * r], c[1][2 * r + 1]));
                const float next = fmaxf(top[r], quad_max(most) * scale), shrink = power2(top[r] - next);
                top[r] = next;
                sum[r] *= shrink;
#pragma unroll
                for (int w = 0; w < WORDS; w++) acc[w][2 * r] *= shrink, acc[w][2 * r + 1] *= shrink;
#pragma unroll
                for (int n = 0; n < 2; n++)
#pragma unroll
                    for (int x = 2 * r; x < 2 * r + 2; x++) sum[r] += c[n][x] = power2(c[n][x] * scale - next);
            }
            u32 p[4];
            pack_scores(p, c);
            values.combined(acc, p);
        }
        const float inverse[2] = {1.f / quad_sum(sum[0]), 1.f / quad_sum(sum[1])};
        store_rows(to, D, acc, first, at, inverse);
    }
}
