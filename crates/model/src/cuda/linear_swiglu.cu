// Matmuls fused with the adjacent SwiGLU: the values between the two stay on the chip.
//
// A block takes some rows of one member and, one after the other, tiles of CHUNK columns. One warp has the copy engine fetch
// what the tensor cores read (the producer); two groups of four warps multiply (the consumers). The rows' chunks stay for
// all tiles; each chunk of the weights makes room for the next tile's as soon as both groups have read it.
//
// Blocks run from the last rows to the first, as `REVERSED_BLOCK` in `pointwise.cu` explains.

// Starts a group's matmul of its rows, BLOCKS times 64, with a tile of the weights. Chunk c of both is there when
// full[c] has passed; empty[c] says that it was read.
template <int BLOCKS, int N>
__device__ __forceinline__ void start_matmul(float (&acc)[BLOCKS][N], u32 inputs, u32 weights, u32 full, u32 empty, u32 parity) {
    constexpr u32 step = N == 64 ? 32 : 16 * ROW;  // from 16 of the inner dimension to the next 16
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        await(full + 8 * c, parity);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < CHUNK / 16; k++)
#pragma unroll
            for (int b = 0; b < BLOCKS; b++)
                wgmma(acc[b], descriptor(inputs + (2 * c * BLOCKS + b) * BLOCK + 32 * k), descriptor(weights + c * N * 256 + step * k), c + k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (c) {
            await_matmuls<1>();
            release(empty + 8 * (c - 1));
        }
    }
}
template <int BLOCKS, int N>
__device__ __forceinline__ void finish_matmul(float (&acc)[BLOCKS][N], u32 empty) {
    await_matmuls<0>();
    release(empty + 8 * (CHUNKS - 1));
#pragma unroll
    for (int b = 0; b < BLOCKS; b++)
#pragma unroll
        for (int i = 0; i < N; i++) asm volatile("" : "+f"(acc[b][i])::"memory");
}

__device__ __forceinline__ void init_barriers(u32 full, u32 empty, int count) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < count; i++) {
            init(full + 8 * i, 1);
            init(empty + 8 * i, MATMUL_WARPS);
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

// gate_up = x · weightᵀ, gated = silu(gate) · up. SWIGLU_ROWS = 256 rows per block, 128 per group; block (share of the tiles,
// rows, member). A tile is 64 columns of gate and the same of up.
extern "C" __global__ void __launch_bounds__(32 * (MATMUL_WARPS + 1), 1) linear_swiglu(
    const __grid_constant__ Map x, const __grid_constant__ Map weight, const __grid_constant__ Map gate_up, const __grid_constant__ Map gated) {
    const u32 inputs = shared_start(), weights = inputs + CHUNKS * 4 * BLOCK, places = weights + CHUNKS * 2 * BLOCK;
    const u32 full = places + MATMUL_WARPS * 32 * ROW, empty = full + 8 * CHUNKS;
    const int warp = threadIdx.x >> 5, group = warp >> 2, first = (gridDim.y - 1 - blockIdx.y) * SWIGLU_ROWS, member = gridDim.z - 1 - blockIdx.z;
    const int from = blockIdx.x * TILES / gridDim.x, to = (blockIdx.x + 1) * TILES / gridDim.x;
    allow_next_kernel();
    prefetch_map(x), prefetch_map(weight), prefetch_map(gate_up), prefetch_map(gated);
    init_barriers(full, empty, CHUNKS);
    __syncthreads();
    await_previous_kernel();
    if (warp == MATMUL_WARPS) {  // the producer
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
        // Stage 1: gate and up of 128 rows in the accumulators.
        take_turn(group);
        start_matmul(acc, inputs + group * 2 * BLOCK, weights, full, empty, (tile - from) & 1);
        if (group == 0 || tile + 1 < to) give_turn(group);
        finish_matmul(acc, empty);
        // Stage 2: gate and up are written, saved for backward; then silu(gate) · up of the same rounded numbers.
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

// dgate_up = the gradient of silu(gate) · up with d = dy · weight coming in. SWIGLU_BACKWARD_ROWS = 128 rows per
// block, 64 per group; block (share of the tiles, rows, member). A second producer warp fetches gate and up tiles ahead,
// SLOTS of them; their gradients take their place.
extern "C" __global__ void __launch_bounds__(32 * (MATMUL_WARPS + 2), 1) linear_swiglu_backward(
    const __grid_constant__ Map dy, const __grid_constant__ Map weight, const __grid_constant__ Map gate_up, const __grid_constant__ Map dgate_up) {
    const u32 inputs = shared_start(), weights = inputs + CHUNKS * 2 * BLOCK, slots = weights + CHUNKS * BLOCK;
    const u32 full = slots + SLOTS * 4 * BLOCK, empty = full + 8 * CHUNKS, filled = empty + 8 * CHUNKS, drained = filled + 8 * SLOTS;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, first = (gridDim.y - 1 - blockIdx.y) * SWIGLU_BACKWARD_ROWS, member = gridDim.z - 1 - blockIdx.z;
    const int from = blockIdx.x * TILES / gridDim.x, to = (blockIdx.x + 1) * TILES / gridDim.x;
    allow_next_kernel();
    prefetch_map(dy), prefetch_map(weight), prefetch_map(gate_up), prefetch_map(dgate_up);
    init_barriers(full, empty, CHUNKS);
    init_barriers(filled, drained, SLOTS);
    __syncthreads();
    await_previous_kernel();
    if (warp >= MATMUL_WARPS) {
        if (lane) return;
        if (warp == MATMUL_WARPS) {
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
        start_matmul(acc, inputs + (warp >> 2) * BLOCK, weights, full, empty, turn & 1);
        finish_matmul(acc, empty);
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
