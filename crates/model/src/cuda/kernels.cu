// Every kernel of the CUDA engine, compiled at start by NVRTC for one model shape. No headers are needed.
//
// Compile-time constants: D width, HEADS, HD head width, HIDDEN, V vocabulary, CONTEXT, SIZE parameters per member,
// DECAYED parameters that decay, GROUPS loss groups. Activations are bf16 [N, rows, width]; reductions are f32 in a
// fixed order, so no result depends on which block finishes first.

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define INFINITY_F __int_as_float(0x7f800000)
#define FULL 0xffffffffu

// Products run over rows forwards. What stands between two of them runs backwards: it starts with what the product
// before wrote last, which is still in the cache, and ends with what the product after reads first.
#define BACKWARDS (gridDim.x - 1 - blockIdx.x)
#define WARPS_PER_BLOCK 8

// A kernel may be started while the one before it ends: it says at once that the next may be, and waits here for all that
// came before.
#if __CUDA_ARCH__ >= 900
#define BEGIN asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory")
#else
#define BEGIN
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

// A master weight is its bf16 copy, rounded to the nearest, and what that lacks of the f32: 16 more bits, with a sign.
__device__ __forceinline__ float whole_low(u32 half, u32 rest) { return __uint_as_float((half << 16) + (u32)(int)(short)(rest & 0xffffu)); }
__device__ __forceinline__ float whole_high(u32 half, u32 rest) { return __uint_as_float((half & 0xffff0000u) + (u32)((int)rest >> 16)); }
__device__ __forceinline__ void whole8(const u16 *halves, const u16 *rests, u64 at, float *f) {
    const uint4 h = *(const uint4 *)(halves + at), r = *(const uint4 *)(rests + at);
    f[0] = whole_low(h.x, r.x); f[1] = whole_high(h.x, r.x); f[2] = whole_low(h.y, r.y); f[3] = whole_high(h.y, r.y);
    f[4] = whole_low(h.z, r.z); f[5] = whole_high(h.z, r.z); f[6] = whole_low(h.w, r.w); f[7] = whole_high(h.w, r.w);
}

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

// ---- embedding ------------------------------------------------------------------------------------------------------

#define CHUNKS (D / 8)
#define PER_LANE ((CHUNKS + 31) / 32)

// One warp per row: out[row] = weight[token[row]].
extern "C" __global__ void __launch_bounds__(256) embed(
    const u16 *__restrict__ halves, u64 offset, const u32 *__restrict__ tokens, u16 *__restrict__ out, int rows, int total) {
    BEGIN;
    const int row = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= total) return;
    const uint4 *from = (const uint4 *)(halves + (u64)(row / rows) * SIZE + offset + (u64)tokens[row] * D);
    uint4 *to = (uint4 *)(out + (u64)row * D);
#pragma unroll
    for (int c = lane; c < CHUNKS; c += 32) to[c] = from[c];
}

// Gradients of the embedding: a warp sums up to CROWD rows that read one vocabulary entry. `first` [N, V + 1] and `order`
// [N, rows] list each entry's rows; what a crowded entry has beyond its first CROWD rows is listed in `extra` [N, extras]
// as (token, from, to), summed to `partials` and added by `embed_crowds`. Every entry's gradient is written.
#define CROWD 64
extern "C" __global__ void __launch_bounds__(256) embed_backward(
    const u16 *__restrict__ dx, const u32 *__restrict__ first, const u32 *__restrict__ order, const uint4 *__restrict__ extra,
    u16 *__restrict__ gradients, u64 offset, float *__restrict__ partials, int rows, int extras) {
    BEGIN;
    const int member = blockIdx.y, item = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (item >= V + extras) return;
    u32 from, to;
    if (item < V) {
        from = first[(u64)member * (V + 1) + item];
        to = min(first[(u64)member * (V + 1) + item + 1], from + CROWD);
    } else {
        const uint4 rest = extra[member * extras + item - V];
        from = rest.y;
        to = rest.z;
        if (from == to) return;
    }
    const u16 *base = dx + (u64)member * rows * D;
    order += (u64)member * rows;
    for (int c = lane; c < CHUNKS; c += 32) {
        float sum[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f}, f[8];
#pragma unroll 8
        for (u32 i = from; i < to; i++) {
            unpack8(((const uint4 *)(base + (u64)order[i] * D))[c], f);
#pragma unroll
            for (int j = 0; j < 8; j++) sum[j] += f[j];
        }
        if (item < V) {
            ((uint4 *)(gradients + (u64)member * SIZE + offset + (u64)item * D))[c] = pack8(sum);
        } else {
            float4 *to = (float4 *)(partials + ((u64)member * extras + item - V) * D);
            to[2 * c] = make_float4(sum[0], sum[1], sum[2], sum[3]);
            to[2 * c + 1] = make_float4(sum[4], sum[5], sum[6], sum[7]);
        }
    }
}

// A block per extra; the first of its token adds them all, in order.
extern "C" __global__ void __launch_bounds__(256) embed_crowds(
    const uint4 *__restrict__ extra, u16 *__restrict__ gradients, u64 offset, const float *__restrict__ partials, int extras) {
    BEGIN;
    const int member = blockIdx.y;
    const uint4 *mine = extra + member * extras;
    const u32 token = mine[blockIdx.x].x;
    if (mine[blockIdx.x].y == mine[blockIdx.x].z || (blockIdx.x && mine[blockIdx.x - 1].x == token)) return;
    u16 *grad = gradients + (u64)member * SIZE + offset + (u64)token * D;
    for (int i = threadIdx.x; i < D; i += 256) {
        float sum = widen(grad[i]);
        for (int e = blockIdx.x; e < extras && mine[e].x == token && mine[e].y < mine[e].z; e++)
            sum += partials[((u64)member * extras + e) * D + i];
        grad[i] = narrow(sum);
    }
}

// ---- RMSNorm --------------------------------------------------------------------------------------------------------

// A warp norms one row.
__device__ __forceinline__ void norm_row(
    const uint4 *from, const u16 *halves, const u16 *rests, u64 gain, u16 *out, float *inv_rms, u64 row) {
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
            whole8(halves, rests, gain + 8 * c, g);
#pragma unroll
            for (int j = 0; j < 8; j++) f[p][j] *= r * g[j];
            to[c] = pack8(f[p]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) rms_norm(
    const u16 *__restrict__ x, const u16 *__restrict__ halves, const u16 *__restrict__ rests, u64 gain, u16 *__restrict__ out,
    float *__restrict__ inv_rms, int rows, int total) {
    BEGIN;
    const int row = BACKWARDS * WARPS_PER_BLOCK + (threadIdx.x >> 5);
    if (row >= total) return;
    norm_row((const uint4 *)(x + (u64)row * D), halves, rests, (u64)(row / rows) * SIZE + gain, out, inv_rms, row);
}

// out[row] = weight[token[row]], and its norm.
extern "C" __global__ void __launch_bounds__(256) embed_rms_norm(
    const u16 *__restrict__ halves, const u16 *__restrict__ rests, u64 offset, u64 gain, const u32 *__restrict__ tokens,
    u16 *__restrict__ out, u16 *__restrict__ norm, float *__restrict__ inv_rms, int rows, int total) {
    BEGIN;
    const int row = BACKWARDS * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= total) return;
    const u64 member = (u64)(row / rows) * SIZE;
    const uint4 *from = (const uint4 *)(halves + member + offset + (u64)tokens[row] * D);
#pragma unroll
    for (int c = lane; c < CHUNKS; c += 32) ((uint4 *)(out + (u64)row * D))[c] = from[c];
    norm_row(from, halves, rests, member + gain, norm, inv_rms, row);
}

// A block takes `per_block` rows of one member, and leaves its share of the gain's gradient in `partials`
// [N, blocks, SIZE - DECAYED], which `gain_backward` sums.
extern "C" __global__ void __launch_bounds__(256) rms_norm_backward(
    const u16 *__restrict__ dy, const u16 *__restrict__ x, const float *__restrict__ inv_rms,
    const u16 *__restrict__ halves, const u16 *__restrict__ rests, u64 offset, u16 *__restrict__ dx, int add, float *__restrict__ partials, int rows, int per_block) {
    BEGIN;
    __shared__ float share[WARPS_PER_BLOCK][D];
    const int block = BACKWARDS, member = blockIdx.y, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
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
                whole8(halves, rests, gain + 8 * c, g);
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    dgain[p][j] += fy[p][j] * fx[p][j] * r;
                    fy[p][j] *= g[j];
                    dot += fy[p][j] * fx[p][j];
                }
            }
        }
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
            for (int j = 0; j < 8; j++) share[warp][8 * c + j] = dgain[p][j];
    }
    __syncthreads();
    float *partial = partials + ((u64)member * gridDim.x + block) * (SIZE - DECAYED) + (offset - DECAYED);
    for (int i = threadIdx.x; i < D; i += 256) {
        float sum = 0.f;
#pragma unroll
        for (int w = 0; w < WARPS_PER_BLOCK; w++) sum += share[w][i];
        partial[i] = sum;
    }
}

// All gains' gradients at once: 8 warps sum the blocks' shares of 32 elements, each every eighth, then the warps' sums.
extern "C" __global__ void __launch_bounds__(256) gain_backward(const float *__restrict__ partials, u16 *__restrict__ gradients, int blocks) {
    BEGIN;
    __shared__ float share[WARPS_PER_BLOCK][32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = blockIdx.x * 32 + lane, member = blockIdx.y;
    const float *partial = partials + (u64)member * blocks * (SIZE - DECAYED) + i;
    float sum = 0.f;
#pragma unroll 4
    for (int b = warp; b < blocks; b += WARPS_PER_BLOCK) sum += partial[(u64)b * (SIZE - DECAYED)];
    share[warp][lane] = sum;
    __syncthreads();
    if (warp) return;
    for (int w = 1; w < WARPS_PER_BLOCK; w++) sum += share[w][lane];
    gradients[(u64)member * SIZE + DECAYED + i] = (i % GAIN_STRIDE) < D ? narrow(sum) : 0;
}

// ---- SwiGLU ---------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(256) swiglu(const u16 *__restrict__ gate_up, u16 *__restrict__ out, u32 chunks) {
    BEGIN;
    const u32 i = BACKWARDS * 256 + threadIdx.x;
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

extern "C" __global__ void __launch_bounds__(256) swiglu_backward(
    const u16 *__restrict__ gate_up, const u16 *__restrict__ dout, u16 *__restrict__ dgate_up, u32 chunks) {
    BEGIN;
    const u32 i = BACKWARDS * 256 + threadIdx.x;
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

// ---- attention ------------------------------------------------------------------------------------------------------
//
// A block takes one head of one span. Scores live in registers, 16 queries by 16 keys at a time; the span's queries, keys
// and values (on the way back the output's gradients too) lie in shared memory with rotary positions applied. What limits
// these kernels is how many lines of memory they ask the first cache for, so rows are read and written whole.
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
__device__ __forceinline__ u32 turned(u32 mine, float4 by, bool upper) {
    const u32 other = __shfl_xor_sync(FULL, mine, LANES / 2);
    const float sign = upper ? 1.f : -1.f;
    return pack(low(mine) * by.x + sign * low(other) * by.y, high(mine) * by.z + sign * high(other) * by.w);
}
// Rotated by its angles; the partners half a head away are in another lane.
__device__ __forceinline__ uint4 turned(uint4 mine, const Angles &by, int c) {
    const bool upper = c >= LANES / 2;
    return make_uint4(turned(mine.x, by.of[0], upper), turned(mine.y, by.of[1], upper), turned(mine.z, by.of[2], upper),
                      turned(mine.w, by.of[3], upper));
}
__device__ __forceinline__ void keep(u16 *to, uint4 chunk) { *(uint4 *)to = chunk; }
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
__device__ __forceinline__ float quad_sum(float x) {
    x += __shfl_xor_sync(FULL, x, 1);
    return x + __shfl_xor_sync(FULL, x, 2);
}

// Writes a 16-row accumulator as bf16, by way of the warp's own `place` of 16 rows, so that whole rows are written; if asked,
// scaled and turned back by the rotary angles.
template <bool ROTATE>
__device__ __forceinline__ void store_tile(u16 *to, int stride, float (*c)[4], u16 *place, int first, int len, float scale, const float2 *angles) {
    const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        u16 *line = place + (g + 8 * h) * PITCH + 2 * t;
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
        if (first + row < len) *(uint4 *)(to + (u64)(first + row) * stride + at) = *(const uint4 *)(place + row * PITCH + at);
    }
    __syncwarp();
}

// Tiles of 16 rows go to `warps` warps there and back, the longest first, so that all end at about the same time.
__device__ __forceinline__ int dealt(int round, int warp, int warps) {
    return round * warps + (round & 1 ? warps - 1 - warp : warp);
}

// Grid: (spans of a class) x heads, the heads of a span side by side: together they read and write whole rows.
// A span is (first row, length) over the rows of all members; unused ones have length 0.
// Filler has the highest bit of its length set. Products run over it, those of the weights' gradients too: its gradients
// must be zero, and what they are multiplied with a number, whatever model left its own in that memory.
#define FILLER 0x80000000u
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
    u16 *place = values + (padded + 16 * warp) * PITCH;
    for (int i = threadIdx.x; i < padded * LANES; i += WARPS * 32) {
        const int row = i / LANES, c = i % LANES, to = row * PITCH + 8 * c;
        const u64 at = (u64)row * QKV + 8 * c;
        const uint4 mine = chunk(q, at, row < len), key = chunk(q + D, at, row < len), value = chunk(q + 2 * D, at, row < len);
        const Angles by = angles_of(angles, row, c);
        keep(queries + to, turned(mine, by, c));
        keep(keys + to, turned(key, by, c));
        keep(values + to, value);
    }
    __syncthreads();
    const float scale = rsqrtf((float)HD) * 1.4426950408889634f;
    for (int round = 0, first; (first = padded - 16 - 16 * dealt(round, warp, WARPS)) >= 0; round++) {
        u32 a[KSTEPS][4];
        load_staged(a, queries, first);
        float acc[NTILES][4], top[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
#pragma unroll
        for (int n = 0; n < NTILES; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) acc[n][i] = 0.f;
        for (int at = 0; at <= first; at += 16) {
            float c[2][4];
            scores(c, a, keys, at);
            if (at == first) {
#pragma unroll
                for (int n = 0; n < 2; n++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        if (n * 8 + 2 * t + (i & 1) > g + (i >> 1) * 8) c[n][i] = -INFINITY_F;
            }
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
        store_tile<false>(out + base * D + head * HD, D, acc, place, first, len, 1.f, angles);
    }
}

// All four matrices are staged at once, with each row's sum of output · output gradient; then one half of the warps
// makes the queries' gradients and the other half the keys' and values'. Each gradient has one writer.
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
    u16 *place = (u16 *)(deltas + padded) + 16 * warp * PITCH;
    const float root = rsqrtf((float)HD), log2e = 1.4426950408889634f, scale = root * log2e;
    for (int i = threadIdx.x; i < padded * LANES; i += WARPS * 32) {
        const int row = i / LANES, c = i % LANES, staged = row * PITCH + 8 * c;
        const bool real = row < len;
        const u64 at = (u64)row * QKV + 8 * c, to = (u64)row * D + 8 * c;
        const uint4 query = chunk(q, at, real), key = chunk(q + D, at, real), value = chunk(q + 2 * D, at, real);
        const uint4 grad = chunk(d, to, real), result = chunk(o, to, real);
        const float sum = real ? log_sum[(base + row) * HEADS + head] : 0.f;
        const Angles by = angles_of(angles, row, c);
        keep(queries + staged, turned(query, by, c));
        keep(keys + staged, turned(key, by, c));
        keep(values + staged, value);
        keep(grads + staged, grad);
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
        for (int round = 0, first; (first = padded - 16 - 16 * dealt(round, warp, WARPS / 2)) >= 0; round++) {
            u32 a[KSTEPS][4], da[KSTEPS][4];
            load_staged(a, queries, first);
            load_staged(da, grads, first);
            float acc[NTILES][4];
#pragma unroll
            for (int n = 0; n < NTILES; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) acc[n][i] = 0.f;
            const float sum[2] = {sums[first + g], sums[first + g + 8]}, delta[2] = {deltas[first + g], deltas[first + g + 8]};
            for (int at = 0; at <= first; at += 16) {
                float c[2][4], dp[2][4];
                scores(c, a, keys, at);
                scores(dp, da, values, at);
                if (at == first) {
#pragma unroll
                    for (int n = 0; n < 2; n++)
#pragma unroll
                        for (int i = 0; i < 4; i++)
                            if (n * 8 + 2 * t + (i & 1) > g + (i >> 1) * 8) c[n][i] = -INFINITY_F;
                }
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
            store_tile<true>(dq, QKV, acc, place, first, len, root, angles);
        }
    } else {
        for (int round = 0, first; (first = 16 * dealt(round, warp - WARPS / 2, WARPS / 2)) < len; round++) {
            u32 k[KSTEPS][4], v[KSTEPS][4];
            load_staged(k, keys, first);
            load_staged(v, values, first);
            float dk[NTILES][4], dv[NTILES][4];
#pragma unroll
            for (int n = 0; n < NTILES; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) dk[n][i] = dv[n][i] = 0.f;
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
            store_tile<true>(dq + D, QKV, dk, place, first, len, root, angles);
            store_tile<false>(dq + 2 * D, QKV, dv, place, first, len, 1.f, angles);
        }
    }
}

#define FORWARD_ARGS \
    const u16 *__restrict__ qkv, const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ out, \
        float *__restrict__ log_sum
#define BACKWARD_ARGS \
    const u16 *__restrict__ qkv, const u16 *__restrict__ out, const float *__restrict__ log_sum, const u16 *__restrict__ dout, \
        const uint2 *__restrict__ spans, const float2 *__restrict__ angles, u16 *__restrict__ dqkv

extern "C" __global__ void __launch_bounds__(128) attention_4(FORWARD_ARGS) {
    BEGIN;
    attend<4>(qkv, spans, angles, out, log_sum);
}
extern "C" __global__ void __launch_bounds__(256) attention_8(FORWARD_ARGS) {
    BEGIN;
    attend<8>(qkv, spans, angles, out, log_sum);
}
extern "C" __global__ void __launch_bounds__(128, 5) attention_backward_4(BACKWARD_ARGS) {
    BEGIN;
    attend_backward<4>(qkv, out, log_sum, dout, spans, angles, dqkv);
}
extern "C" __global__ void __launch_bounds__(256) attention_backward_8(BACKWARD_ARGS) {
    BEGIN;
    attend_backward<8>(qkv, out, log_sum, dout, spans, angles, dqkv);
}

// ---- cross-entropy --------------------------------------------------------------------------------------------------

// A block per row. Leaves the gradient of the member's mean loss in place of the logits, and the row's loss.
#define CE_THREADS (V <= 4096 ? 128 : 256)
#define CE_CHUNKS ((V / 8 + CE_THREADS - 1) / CE_THREADS)
extern "C" __global__ void __launch_bounds__(CE_THREADS) cross_entropy(
    u16 *__restrict__ logits, const int *__restrict__ targets, const float *__restrict__ weight_of_member,
    float *__restrict__ losses, int rows) {
    BEGIN;
    __shared__ float shared[32];
    const u64 row = BACKWARDS;
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
#pragma unroll
    for (int p = 0; p < CE_CHUNKS; p++) {
        const int c = threadIdx.x + p * CE_THREADS;
        if (c < V / 8) {
            float f[8];
            unpack8(kept[p], f);
#pragma unroll
            for (int j = 0; j < 8; j++) f[j] = __expf(f[j] - top) * part - (8 * c + j == target ? weight : 0.f);
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
    for (int c = threadIdx.x; c < V; c += CE_THREADS)
        line[c] = narrow(__expf(widen(line[c]) - top) * part - (c == target ? weight : 0.f));
#endif
    if (threadIdx.x == 0) losses[row] = logf(sum) + top - at_target;
}

// A block per member: the sum of its rows' losses in each group.
extern "C" __global__ void __launch_bounds__(512) group_losses(
    const float *__restrict__ losses, const unsigned char *__restrict__ groups, float *__restrict__ sums, int rows) {
    BEGIN;
    __shared__ float shared[32];
    const u64 base = (u64)blockIdx.x * rows;
    float sum[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) sum[g] = 0.f;
    for (int i = threadIdx.x; i < rows; i += 512) {
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

#define NORM_CHUNK 16384

// Each block sums the squares of NORM_CHUNK of a member's gradients [from, to), counted in eights; its sum is number
// `first` + its own of the member's `count`.
extern "C" __global__ void __launch_bounds__(256) square_sums(
    const u16 *__restrict__ gradients, float *__restrict__ partials, u32 from, u32 to, int first, int count) {
    BEGIN;
    __shared__ float shared[32];
    const uint4 *g = (const uint4 *)(gradients + (u64)blockIdx.y * SIZE);
    const u32 start = from + blockIdx.x * (NORM_CHUNK / 8), end = min(start + NORM_CHUNK / 8, to);
    float sum = 0.f;
#pragma unroll 8
    for (u32 i = start + threadIdx.x; i < end; i += 256) {
        float f[8];
        unpack8(g[i], f);
#pragma unroll
        for (int j = 0; j < 8; j++) sum += f[j] * f[j];
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) partials[blockIdx.y * count + first + blockIdx.x] = sum;
}

struct Update {
    float lr, beta1, beta2, eps, decay, clip, correct1, correct2;
};

__device__ __forceinline__ void adamw_one(float &w, float &m, float &v, float g, const Update &u, float keep) {
    m = u.beta1 * m + (1.f - u.beta1) * g;
    v = u.beta2 * v + (1.f - u.beta2) * g * g;
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(v * u.correct2));
    w = w * keep - __fdividef(u.lr * u.correct1 * m, root + u.eps);
}

// What is no number stays none in its bf16 copy, too: rounding would carry into its sign.
__device__ __forceinline__ u32 roundable(float a) { return a != a ? 0x7fc00000u : __float_as_uint(a); }
__device__ __forceinline__ void split(float a, float b, u32 &half, u32 &rest) {
    const u32 x = roundable(a), y = roundable(b);
    const u32 p = (x + 0x8000u) & 0xffff0000u, q = (y + 0x8000u) & 0xffff0000u;
    half = p >> 16 | q;
    rest = ((x - p) & 0xffffu) | (y - q) << 16;
}

// A block per member adds up its gradient's norm from the parts; what the update needs is kept for later.
extern "C" __global__ void __launch_bounds__(256) clip(
    const float *__restrict__ partials, int blocks, const Update *__restrict__ update, float *__restrict__ sums,
    float *__restrict__ scales, Update *__restrict__ numbers) {
    BEGIN;
    __shared__ float shared[32];
    float square = 0.f;
    for (int b = threadIdx.x; b < blocks; b += 256) square += partials[blockIdx.x * blocks + b];
    const float norm = sqrtf(block_sum(square, shared));
    if (threadIdx.x) return;
    sums[blockIdx.x * (GROUPS + 1) + GROUPS] = norm;
    scales[blockIdx.x] = norm > update->clip ? update->clip / norm : 1.f;
    if (blockIdx.x == 0) *numbers = *update;
}

// Updates the quads [from, to) of every member's parameters.
extern "C" __global__ void __launch_bounds__(256) adamw(
    u16 *__restrict__ halves, u16 *__restrict__ rests, float *__restrict__ means, float *__restrict__ variances,
    const u16 *__restrict__ gradients, const float *__restrict__ scales, const Update *__restrict__ numbers, u32 from, u32 to) {
    BEGIN;
    const Update u = *numbers;
    const float scale = scales[blockIdx.y];
    const u32 i = from + blockIdx.x * 256 + threadIdx.x;
    if (i >= to) return;
    const u64 at = (u64)blockIdx.y * (SIZE / 4) + i;
    const float keep = 4 * i < DECAYED ? 1.f - u.lr * u.decay : 1.f;
    const uint2 h = ((const uint2 *)halves)[at], r = ((const uint2 *)rests)[at];
    float4 w = make_float4(whole_low(h.x, r.x), whole_high(h.x, r.x), whole_low(h.y, r.y), whole_high(h.y, r.y));
    float4 m = ((const float4 *)means)[at], v = ((const float4 *)variances)[at];
    const uint2 g = ((const uint2 *)gradients)[at];
    adamw_one(w.x, m.x, v.x, low(g.x) * scale, u, keep);
    adamw_one(w.y, m.y, v.y, high(g.x) * scale, u, keep);
    adamw_one(w.z, m.z, v.z, low(g.y) * scale, u, keep);
    adamw_one(w.w, m.w, v.w, high(g.y) * scale, u, keep);
    ((float4 *)means)[at] = m;
    ((float4 *)variances)[at] = v;
    uint2 half, rest;
    split(w.x, w.y, half.x, rest.x);
    split(w.z, w.w, half.y, rest.y);
    ((uint2 *)halves)[at] = half;
    ((uint2 *)rests)[at] = rest;
}

// ---- reading: attention over a cache, picked rows, scores -----------------------------------------------------------

// Rows that read a cache: row i of the span stands at position prefix_len + i, attends to slots prefix .. prefix +
// prefix_len and, causally, to slots slot ..= slot + i, where its own key and value are kept.
struct CachedSpan {
    u32 start, len, prefix, prefix_len, slot;
};

// Block (span, member): keeps the rotated keys and the values of the span's rows in cache [N, slots, 2 D].
extern "C" __global__ void __launch_bounds__(256) cache_store(
    const u16 *__restrict__ qkv, const CachedSpan *__restrict__ spans, const float2 *__restrict__ angles,
    u16 *__restrict__ cache, int rows, int span_cap, int slots) {
    BEGIN;
    const CachedSpan span = spans[blockIdx.y * span_cap + blockIdx.x];
    for (u32 i = threadIdx.x; i < span.len * (D / 2); i += 256) {
        const u32 row = i / (D / 2), pair = i % (D / 2), head = pair / (HD / 2), dim = pair % (HD / 2);
        const u16 *from = qkv + ((u64)blockIdx.y * rows + span.start + row) * QKV + D + head * HD + dim;
        u16 *to = cache + ((u64)blockIdx.y * slots + span.slot + row) * 2 * D + head * HD + dim;
        const float2 by = angles[(span.prefix_len + row) * (HD / 2) + dim];
        const float a = widen(from[0]), b = widen(from[HD / 2]);
        to[0] = narrow(a * by.x - b * by.y);
        to[HD / 2] = narrow(b * by.x + a * by.y);
        to[D] = from[D];
        to[D + HD / 2] = from[D + HD / 2];
    }
}

// Block (span, head, member), a warp per row; each lane takes every 32nd key.
extern "C" __global__ void __launch_bounds__(128) attention_cached(
    const u16 *__restrict__ qkv, const CachedSpan *__restrict__ spans, const float2 *__restrict__ angles,
    const u16 *__restrict__ cache, u16 *__restrict__ out, int rows, int span_cap, int slots) {
    BEGIN;
    __shared__ float queries[4][HD];
    const int head = blockIdx.y, member = blockIdx.z, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const CachedSpan span = spans[member * span_cap + blockIdx.x];
    const u16 *base = cache + (u64)member * slots * 2 * D + head * HD;
    for (u32 i = warp; i < span.len; i += 4) {
        const u64 row = (u64)member * rows + span.start + i;
        __syncwarp();
        for (int dim = lane; dim < HD / 2; dim += 32) {
            const u16 *q = qkv + row * QKV + head * HD + dim;
            const float2 by = angles[(span.prefix_len + i) * (HD / 2) + dim];
            const float a = widen(q[0]), b = widen(q[HD / 2]);
            queries[warp][dim] = widen(narrow(a * by.x - b * by.y));
            queries[warp][dim + HD / 2] = widen(narrow(b * by.x + a * by.y));
        }
        __syncwarp();
        float top = -INFINITY_F, sum = 0.f, acc[HD];
#pragma unroll
        for (int j = 0; j < HD; j++) acc[j] = 0.f;
        const u32 keys = span.prefix_len + i + 1;
        for (u32 k = lane; k < keys; k += 32) {
            const u32 slot = k < span.prefix_len ? span.prefix + k : span.slot + (k - span.prefix_len);
            const u16 *key = base + (u64)slot * 2 * D;
            float score = 0.f, f[8];
#pragma unroll
            for (int c = 0; c < HD / 8; c++) {
                unpack8(((const uint4 *)key)[c], f);
#pragma unroll
                for (int j = 0; j < 8; j++) score += f[j] * queries[warp][8 * c + j];
            }
            score *= rsqrtf((float)HD);
            const float next = fmaxf(top, score), shrink = __expf(top - next), weight = __expf(score - next);
            top = next;
            sum = sum * shrink + weight;
#pragma unroll
            for (int c = 0; c < HD / 8; c++) {
                unpack8(((const uint4 *)(key + D))[c], f);
#pragma unroll
                for (int j = 0; j < 8; j++) acc[8 * c + j] = acc[8 * c + j] * shrink + weight * f[j];
            }
        }
        const float most = warp_max(top), shrink = top == -INFINITY_F ? 0.f : __expf(top - most);
        const float inverse = 1.f / warp_sum(sum * shrink);
        u16 *to = out + row * D + head * HD;
#pragma unroll
        for (int j = 0; j < HD; j++) {
            const float total = warp_sum(acc[j] * shrink) * inverse;
            if (lane == (j & 31)) to[j] = narrow(total);
        }
    }
}

// out[member, pick] = x[member, pick_rows[member, pick]], a warp per pick.
extern "C" __global__ void __launch_bounds__(256) select_rows(
    const u16 *__restrict__ x, const u32 *__restrict__ pick_rows, u16 *__restrict__ out, int rows, int picks, int total) {
    BEGIN;
    const int pick = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (pick >= total) return;
    const uint4 *from = (const uint4 *)(x + ((u64)(pick / picks) * rows + pick_rows[pick]) * D);
    for (int c = lane; c < CHUNKS; c += 32) ((uint4 *)(out + (u64)pick * D))[c] = from[c];
}

// The first largest logit of each row; logits are f32 here, so that close ones do not tie.
extern "C" __global__ void __launch_bounds__(256) argmax(const float *__restrict__ logits, u32 *__restrict__ out) {
    BEGIN;
    __shared__ float shared[32];
    __shared__ u32 first;
    const float *line = logits + (u64)blockIdx.x * V;
    float top = -INFINITY_F;
    for (int i = threadIdx.x; i < V; i += 256) top = fmaxf(top, line[i]);
    top = block_max(top, shared);
    if (threadIdx.x == 0) first = V;
    __syncthreads();
    for (int i = threadIdx.x; i < V; i += 256)
        if (line[i] == top) {
            atomicMin(&first, (u32)i);
            break;
        }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = min(first, (u32)(V - 1));
}

// A token of each row, drawn by its number in [0, 1): the first at which the probabilities add up to more than it;
// by a number below 0, the first of the largest.
// Each thread adds up a stretch of neighbours; one goes through the stretches, then through that of the token.
#define STRETCH ((V + 255) / 256)
extern "C" __global__ void __launch_bounds__(256) draw(
    const float *__restrict__ logits, const float *__restrict__ uniforms, u32 *__restrict__ out, float coldness) {
    BEGIN;
    __shared__ float shared[32];
    __shared__ float sums[256];
    const float *line = logits + (u64)blockIdx.x * V;
    float top = -INFINITY_F, sum = 0.f;
    for (int i = threadIdx.x; i < V; i += 256) top = fmaxf(top, line[i]);
    top = block_max(top, shared);
    if (uniforms[blockIdx.x] < 0.f) {
        __shared__ int first;
        if (!threadIdx.x) first = V;
        __syncthreads();
        for (int i = threadIdx.x; i < V; i += 256)
            if (line[i] == top) atomicMin(&first, i);
        __syncthreads();
        if (!threadIdx.x) out[blockIdx.x] = min(first, V - 1);
        return;
    }
    for (int i = threadIdx.x * STRETCH; i < min(V, (int)(threadIdx.x + 1) * STRETCH); i++) sum += __expf((line[i] - top) * coldness);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    float total = 0.f;
    for (int t = 0; t < 256; t++) total += sums[t];
    float left = uniforms[blockIdx.x] * total;
    int t = 0;
    while (t < 255 && left >= sums[t]) left -= sums[t++];
    int i = min(t * STRETCH, V - 1);
    const int last = min(V, (t + 1) * STRETCH) - 1;
    while (i < last && (left -= __expf((line[i] - top) * coldness)) >= 0.f) i++;
    out[blockIdx.x] = i;
}

// Log-probability of each row's target, and how many logits are strictly above its own.
extern "C" __global__ void __launch_bounds__(256) scores_of(
    const float *__restrict__ logits, const u32 *__restrict__ targets, uint2 *__restrict__ out) {
    BEGIN;
    __shared__ float shared[32];
    const float *line = logits + (u64)blockIdx.x * V;
    const float own = line[targets[blockIdx.x]];
    float top = -INFINITY_F, sum = 0.f, above = 0.f;
    for (int i = threadIdx.x; i < V; i += 256) top = fmaxf(top, line[i]);
    top = block_max(top, shared);
    for (int i = threadIdx.x; i < V; i += 256) {
        const float x = line[i];
        sum += __expf(x - top);
        above += x > own ? 1.f : 0.f;
    }
    sum = block_sum(sum, shared);
    above = block_sum(above, shared);
    if (threadIdx.x == 0) out[blockIdx.x] = make_uint2(__float_as_uint(own - top - logf(sum)), (u32)above);
}
