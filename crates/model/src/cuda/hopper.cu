// Products joined with the SwiGLU beside them, for GPUs of compute capability 9.0: what stands between the two stays on
// the chip. Compiled by NVRTC for one model shape, apart from `kernels.cu`; no headers are needed.
//
// A block takes some rows of one member and, one after the other, tiles of 64 columns. One warp has the copy engine fetch
// what the tensor cores read; two groups of four warps multiply. Matrices lie in shared memory in chunks of 64 columns:
// rows of 128 bytes, whose eight 16-byte words are swapped as the copy engine's 128-byte swizzle does. The rows' chunks
// stay for all tiles; each chunk of the weights makes room for the next tile's as soon as both groups have read it.
//
// Blocks run from the last rows to the first, as `BACKWARDS` in `kernels.cu` explains.
//
// Compile-time constants: D width, 128 or 256; HIDDEN, a multiple of 64; EPS of the norms.

typedef unsigned int u32;
typedef unsigned long long u64;

#define CHUNK 64
#define CHUNKS (D / CHUNK)
#define TILES (HIDDEN / CHUNK)
#define ROW 128          // bytes of a chunk's row
#define BLOCK (64 * ROW) // bytes of 64 rows of a chunk
#define WARPS 8          // that multiply

// A tensor as the copy engine sees it, [members, rows, columns].
struct alignas(64) Map {
    u64 words[16];
};

// ---- bf16 pairs -----------------------------------------------------------------------------------------------------

__device__ __forceinline__ float low(u32 x) { return __uint_as_float(x << 16); }
__device__ __forceinline__ float high(u32 x) { return __uint_as_float(x & 0xffff0000u); }
__device__ __forceinline__ u32 pack(float a, float b) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
    return r;
}
__device__ __forceinline__ float sigmoid(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.4426950408889634f));
    return __fdividef(1.f, 1.f + power);
}

// ---- barriers in shared memory --------------------------------------------------------------------------------------

__device__ __forceinline__ void init(u32 barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ bool passed(u32 barrier, u32 parity) {
    u32 yes;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(yes) : "r"(barrier), "r"(parity) : "memory");
    return yes;
}
// Waits for a phase to end. Seconds of waiting are a fault, which is better reported than hung on.
__device__ __forceinline__ void await(u32 barrier, u32 parity) {
    if (passed(barrier, parity)) return;
    const long long start = clock64();
    while (!passed(barrier, parity))
        if (clock64() - start > 1ll << 32) __trap();
}

// A kernel may be started while the one before it ends: it says at once that the next may be, sets itself up, and waits for
// all that came before.
__device__ __forceinline__ void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ __forceinline__ void await_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- copy engine ----------------------------------------------------------------------------------------------------

__device__ __forceinline__ void fetch(u32 to, const Map &map, int column, int row, int member, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(to), "l"(&map), "r"(column), "r"(row), "r"(member), "r"(barrier) : "memory");
}
__device__ __forceinline__ void prepare(const Map &map) {
    if (threadIdx.x == 0) asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
__device__ __forceinline__ void store(const Map &map, int column, int row, int member, u32 from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(&map), "r"(column), "r"(row), "r"(member), "r"(from) : "memory");
}
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until shared memory was read by all stores but the last `PENDING` groups.
template <int PENDING>
__device__ __forceinline__ void await_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}
// Makes this thread's writes to shared memory visible to the copy engine.
__device__ __forceinline__ void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- 16 x 16 pieces of a chunk --------------------------------------------------------------------------------------
//
// A thread holds of each piece four pairs, as of the tensor cores' results: rows lane / 4 and 8 below, columns
// 2 (lane % 4), + 1 and 8 further. The address is that of row lane % 16, left or right word, in rows that start at `at`.

__device__ __forceinline__ u32 piece(u32 at, int p) {
    const u32 lane = threadIdx.x & 31, row = lane & 15, word = 2 * p + (lane >> 4);
    return at + row * ROW + ((word ^ (row & 7)) << 4);
}
__device__ __forceinline__ void read_piece(u32 *r, u32 at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void write_piece(u32 at, const u32 *r) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
                 ::"r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

// ---- tensor cores ---------------------------------------------------------------------------------------------------

// A matrix in swizzled rows of 128 bytes, eight of which are 1024 bytes from the next eight. One that is read across its
// rows and is wider than them goes on `apart` bytes further.
__device__ __forceinline__ u64 matrix(u32 at, u32 apart = 16) {
    return (u64)((at & 0x3ffff) >> 4) | (u64)(apart >> 4) << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
// d[64][128] (+)= a[64][16] · b[128][16]ᵀ, or b[16][128] across its rows.
template <bool ACROSS = false>
__device__ __forceinline__ void multiply(float (&d)[64], u64 a, u64 b, int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
        "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
        "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
        "}, %64, %65, p, 1, 1, 0, %67;}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(add), "n"((int)ACROSS));
}
// d[64][64] (+)= a[64][16] · b[16][64]
__device__ __forceinline__ void multiply(float (&d)[32], u64 a, u64 b, int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
        "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
        "}, %32, %33, p, 1, 1, 0, 1;}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b), "r"(add));
}

template <int PENDING>
__device__ __forceinline__ void await_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
__device__ __forceinline__ void release(u32 barrier) {
    if ((threadIdx.x & 31) == 0) arrive(barrier);
}

// Starts a group's product of its rows, BLOCKS times 64, with a tile of the weights. Chunk c of both is there when
// full[c] has passed; empty[c] says that it was read.
template <int BLOCKS, int N>
__device__ __forceinline__ void start_product(float (&acc)[BLOCKS][N], u32 inputs, u32 weights, u32 full, u32 empty, u32 parity) {
    constexpr u32 step = N == 64 ? 32 : 16 * ROW;  // from 16 of the inner dimension to the next 16
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        await(full + 8 * c, parity);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < CHUNK / 16; k++)
#pragma unroll
            for (int b = 0; b < BLOCKS; b++)
                multiply(acc[b], matrix(inputs + (2 * c * BLOCKS + b) * BLOCK + 32 * k), matrix(weights + c * N * 256 + step * k), c + k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (c) {
            await_products<1>();
            release(empty + 8 * (c - 1));
        }
    }
}
template <int BLOCKS, int N>
__device__ __forceinline__ void finish_product(float (&acc)[BLOCKS][N], u32 empty) {
    await_products<0>();
    release(empty + 8 * (CHUNKS - 1));
#pragma unroll
    for (int b = 0; b < BLOCKS; b++)
#pragma unroll
        for (int i = 0; i < N; i++) asm volatile("" : "+f"(acc[b][i])::"memory");
}

extern __shared__ unsigned char shared[];
__device__ __forceinline__ u32 shared_start() { return ((u32)__cvta_generic_to_shared(shared) + 1023) & ~1023u; }

__device__ __forceinline__ void init_barriers(u32 full, u32 empty, int count) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < count; i++) {
            init(full + 8 * i, 1);
            init(empty + 8 * i, WARPS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        publish();
    }
}

// ---- forward --------------------------------------------------------------------------------------------------------

// Writes 16 rows of a chunk, `words` four pairs per piece, by way of one of the warp's two places in shared memory, which
// take turns.
__device__ __forceinline__ void write(const u32 *words, u32 place, const Map &map, int column, int row, int member) {
    const bool leads = (threadIdx.x & 31) == 0;
    if (leads) await_stores<1>();
    __syncwarp();
#pragma unroll
    for (int p = 0; p < 4; p++) write_piece(piece(place, p), words + 4 * p);
    publish();
    __syncwarp();
    if (leads) {
        store(map, column, row, member, place);
        commit_stores();
    }
}

// The two groups multiply by turns: while one does, the other writes what it has.
__device__ __forceinline__ void take_turn(int group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
__device__ __forceinline__ void give_turn(int group) { asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory"); }

// gate_up = x · weightᵀ, gated = silu(gate) · up. 256 rows per block, 128 per group; block (share of the tiles, rows,
// member). A tile is 64 columns of gate and the same of up.
extern "C" __global__ void __launch_bounds__(32 * (WARPS + 1), 1) linear_swiglu(
    const __grid_constant__ Map x, const __grid_constant__ Map weight, const __grid_constant__ Map gate_up, const __grid_constant__ Map gated) {
    const u32 inputs = shared_start(), weights = inputs + CHUNKS * 4 * BLOCK, places = weights + CHUNKS * 2 * BLOCK;
    const u32 full = places + WARPS * 32 * ROW, empty = full + 8 * CHUNKS;
    const int warp = threadIdx.x >> 5, group = warp >> 2, first = (gridDim.y - 1 - blockIdx.y) * 256, member = gridDim.z - 1 - blockIdx.z;
    const int from = blockIdx.x * TILES / gridDim.x, to = (blockIdx.x + 1) * TILES / gridDim.x;
    let_next_begin();
    prepare(x), prepare(weight), prepare(gate_up), prepare(gated);
    init_barriers(full, empty, CHUNKS);
    __syncthreads();
    await_before();
    if (warp == WARPS) {
        if (threadIdx.x & 31) return;
        for (int tile = from; tile < to; tile++)
            for (int c = 0; c < CHUNKS; c++) {
                const u32 barrier = full + 8 * c, at = weights + c * 2 * BLOCK;
                if (tile > from) await(empty + 8 * c, (tile - from - 1) & 1);
                expect(barrier, (tile > from ? 2 : 6) * BLOCK);
                if (tile == from) fetch(inputs + c * 4 * BLOCK, x, c * CHUNK, first, member, barrier);
                fetch(at, weight, c * CHUNK, tile * CHUNK, member, barrier);
                fetch(at + BLOCK, weight, c * CHUNK, HIDDEN + tile * CHUNK, member, barrier);
            }
        return;
    }
    const u32 place = places + warp * 32 * ROW;
    if (group == 1) give_turn(group);
    for (int tile = from; tile < to; tile++) {
        float acc[2][64];
        take_turn(group);
        start_product(acc, inputs + group * 2 * BLOCK, weights, full, empty, (tile - from) & 1);
        if (group == 0 || tile + 1 < to) give_turn(group);
        finish_product(acc, empty);
#pragma unroll
        for (int b = 0; b < 2; b++) {
            const int row = first + group * 128 + b * 64 + (warp & 3) * 16, column = tile * CHUNK;
            const u32 one = place + b * 16 * ROW, other = place + (1 - b) * 16 * ROW;
            u32 gate[16], up[16];
#pragma unroll
            for (int i = 0; i < 16; i++) {
                gate[i] = pack(acc[b][2 * i], acc[b][2 * i + 1]);
                up[i] = pack(acc[b][32 + 2 * i], acc[b][33 + 2 * i]);
            }
            write(gate, one, gate_up, column, row, member);
            write(up, other, gate_up, HIDDEN + column, row, member);
#pragma unroll
            for (int i = 0; i < 16; i++) {
                const float left = low(gate[i]), right = high(gate[i]);
                gate[i] = pack(left * sigmoid(left) * low(up[i]), right * sigmoid(right) * high(up[i]));
            }
            write(gate, one, gated, column, row, member);
        }
    }
    await_stores<0>();
}

// ---- backward -------------------------------------------------------------------------------------------------------

#define SLOTS 4

// dgate_up = the gradient of silu(gate) · up with d = dy · weight coming in. 128 rows per block, 64 per group; block
// (share of the tiles, rows, member). A second warp fetches gate and up tiles ahead, SLOTS of them; their gradients take
// their place.
extern "C" __global__ void __launch_bounds__(32 * (WARPS + 2), 1) linear_swiglu_backward(
    const __grid_constant__ Map dy, const __grid_constant__ Map weight, const __grid_constant__ Map gate_up, const __grid_constant__ Map dgate_up) {
    const u32 inputs = shared_start(), weights = inputs + CHUNKS * 2 * BLOCK, slots = weights + CHUNKS * BLOCK;
    const u32 full = slots + SLOTS * 4 * BLOCK, empty = full + 8 * CHUNKS, filled = empty + 8 * CHUNKS, drained = filled + 8 * SLOTS;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, first = (gridDim.y - 1 - blockIdx.y) * 128, member = gridDim.z - 1 - blockIdx.z;
    const int from = blockIdx.x * TILES / gridDim.x, to = (blockIdx.x + 1) * TILES / gridDim.x;
    let_next_begin();
    prepare(dy), prepare(weight), prepare(gate_up), prepare(dgate_up);
    init_barriers(full, empty, CHUNKS);
    init_barriers(filled, drained, SLOTS);
    __syncthreads();
    await_before();
    if (warp >= WARPS) {
        if (lane) return;
        if (warp == WARPS) {
            for (int tile = from; tile < to; tile++)
                for (int c = 0; c < CHUNKS; c++) {
                    const u32 barrier = full + 8 * c;
                    if (tile > from) await(empty + 8 * c, (tile - from - 1) & 1);
                    expect(barrier, (tile > from ? 1 : 3) * BLOCK);
                    if (tile == from) fetch(inputs + c * 2 * BLOCK, dy, c * CHUNK, first, member, barrier);
                    fetch(weights + c * BLOCK, weight, tile * CHUNK, c * CHUNK, member, barrier);
                }
        } else {
            for (int tile = from; tile < to; tile++) {
                const u32 turn = tile - from, slot = turn % SLOTS, barrier = filled + 8 * slot, at = slots + slot * 4 * BLOCK;
                if (turn >= SLOTS) await(drained + 8 * slot, (turn / SLOTS - 1) & 1);
                expect(barrier, 4 * BLOCK);
                fetch(at, gate_up, tile * CHUNK, first, member, barrier);
                fetch(at + 2 * BLOCK, gate_up, HIDDEN + tile * CHUNK, first, member, barrier);
            }
        }
        return;
    }
    for (int tile = from; tile < to; tile++) {
        const u32 turn = tile - from, slot = turn % SLOTS, row = warp * 16;
        const u32 gates = slots + slot * 4 * BLOCK + row * ROW, ups = gates + 2 * BLOCK;
        float acc[1][32];
        start_product(acc, inputs + (warp >> 2) * BLOCK, weights, full, empty, turn & 1);
        finish_product(acc, empty);
        if (lane == 0 && turn) {
            await_stores<0>();
            arrive(drained + 8 * ((turn - 1) % SLOTS));
        }
        await(filled + 8 * slot, (turn / SLOTS) & 1);
#pragma unroll
        for (int p = 0; p < 4; p++) {
            u32 gate[4], up[4];
            read_piece(gate, piece(gates, p));
            read_piece(up, piece(ups, p));
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const u32 pair = pack(acc[0][8 * p + 2 * i], acc[0][8 * p + 2 * i + 1]);
                float g[2] = {low(gate[i]), high(gate[i])}, u[2] = {low(up[i]), high(up[i])};
                const float d[2] = {low(pair), high(pair)};
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float s = sigmoid(g[j]), silu = g[j] * s;
                    g[j] = d[j] * u[j] * (s + silu * (1.f - s));
                    u[j] = d[j] * silu;
                }
                gate[i] = pack(g[0], g[1]);
                up[i] = pack(u[0], u[1]);
            }
            write_piece(piece(gates, p), gate);
            write_piece(piece(ups, p), up);
        }
        publish();
        __syncwarp();
        if (lane == 0) {
            store(dgate_up, tile * CHUNK, first + row, member, gates);
            store(dgate_up, HIDDEN + tile * CHUNK, first + row, member, ups);
            commit_stores();
        }
    }
    await_stores<0>();
}
