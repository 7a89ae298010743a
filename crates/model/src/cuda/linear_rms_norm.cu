// Matmuls whose results are whole rows of the residual stream, fused with the RMSNorm that follows in the forward pass, and
// with the backward of the norm that precedes in the backward pass.
//
// A block makes ROW_GROUPS times 64 rows of D columns, a group of four warps 64 of them. The inner dimension comes in chunks
// of 64 through a ring of STAGES slots, then what else the rows need. CLUSTER = 2 blocks beside each other are a cluster:
// each fetches half of a chunk of the weights, for both.

#define STAGES 4
#define PARTS (D / 128)  // matmuls of 128 columns

// Slots hold a chunk of the rows, then one of the weights.
template <int ROW_GROUPS> __device__ constexpr u32 slot_bytes() { return ROW_GROUPS * BLOCK + D * ROW; }

__device__ __forceinline__ u32 cluster_rank() {
    u32 r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__device__ __forceinline__ void arrive_at(u32 barrier, u32 rank) {
    asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [there];}"
                 ::"r"(barrier), "r"(rank) : "memory");
}
// As `fetch`, to the same place in both blocks.
__device__ __forceinline__ void fetch_for_both(u32 to, const Map &map, int column, int row, int member, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;"
                 ::"r"(to), "l"(&map), "r"(column), "r"(row), "r"(member), "r"(barrier), "h"((u16)3) : "memory");
}

struct Ring {
    u32 slots, full, empty, bytes;
    __device__ __forceinline__ u32 slot(int entry) const { return slots + entry % STAGES * bytes; }
    __device__ __forceinline__ u32 filled(int entry) const { return full + entry % STAGES * 8; }
    __device__ __forceinline__ u32 drained(int entry) const { return empty + entry % STAGES * 8; }
    __device__ __forceinline__ void await_full(int entry) const { await(filled(entry), entry / STAGES & 1); }
    // Before an entry may be fetched.
    __device__ __forceinline__ void await_empty(int entry) const {
        if (entry >= STAGES) await(drained(entry), (entry / STAGES - 1) & 1);
    }
    // By every warp that multiplies, to both blocks.
    __device__ __forceinline__ void release(int entry) const {
        const u32 lane = threadIdx.x & 31;
        if (lane < CLUSTER) arrive_at(drained(entry), lane);
    }
};

template <int ROW_GROUPS>
__device__ __forceinline__ Ring make_ring() {
    const u32 slots = shared_start(), full = slots + STAGES * slot_bytes<ROW_GROUPS>();
    const Ring ring = {slots, full, full + 8 * STAGES, slot_bytes<ROW_GROUPS>()};
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(ring.full + 8 * i, 1);
            init(ring.empty + 8 * i, 4 * ROW_GROUPS * CLUSTER);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        publish();
    }
    return ring;
}

// The matmul of a group's 64 rows with all weights, which are [columns][inner], or [inner][columns] and read across.
template <int ROW_GROUPS, bool ACROSS>
__device__ __forceinline__ void matmul(float (&acc)[PARTS][64], const Ring &ring, int chunks, int group) {
    constexpr u32 step = ACROSS ? 16 * ROW : 32;  // from 16 of the inner dimension to the next 16
    for (int e = 0; e < chunks; e++) {
        const u32 rows = ring.slot(e) + group * BLOCK, weights = ring.slot(e) + ROW_GROUPS * BLOCK;
        ring.await_full(e);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < CHUNK / 16; k++)
#pragma unroll
            for (int h = 0; h < PARTS; h++) {
                const u32 at = weights + h * 128 * ROW + step * k;
                wgmma<ACROSS>(acc[h], descriptor(rows + 32 * k), descriptor(at, ACROSS ? BLOCK : 16), e + k);
            }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (e) {
            await_matmuls<1>();
            ring.release(e - 1);
        }
    }
    await_matmuls<0>();
    ring.release(chunks - 1);
#pragma unroll
    for (int h = 0; h < PARTS; h++)
#pragma unroll
        for (int i = 0; i < 64; i++) asm volatile("" : "+f"(acc[h][i])::"memory");
}

// All warps that multiply.
template <int ROW_GROUPS>
__device__ __forceinline__ void sync_matmul_warps() { asm volatile("bar.sync 1, %0;" ::"n"(128 * ROW_GROUPS) : "memory"); }

// Chunk c, piece p, pair i of a thread's accumulators, and the column of its first number.
#define ACC(c, p, i) acc[(c) / 2][(c) % 2 * 32 + 8 * (p) + 2 * (i)]
#define COLUMN(c, p, i) (CHUNK * (c) + 16 * (p) + 8 * ((i) / 2) + 2 * (threadIdx.x & 3))

struct Sizes {
    int rows, chunks;
    u64 stride;  // from one member's weights to the next's
};

// y = x · weightᵀ + residual, norm = y · inv_rms · gain. Block (rows, member).
template <int ROW_GROUPS>
__device__ __forceinline__ void forward(
    const Map &x, const Map &weight, const Map &residual, const Map &y, const Map &norm, const u16 *bf16,
    const u16 *residual_bits, float *inv_rms, Sizes size) {
    allow_next_kernel();
    prefetch_map(x), prefetch_map(weight), prefetch_map(residual), prefetch_map(y), prefetch_map(norm);
    const Ring ring = make_ring<ROW_GROUPS>();
    float *gains = (float *)(shared + (ring.empty + 8 * STAGES - (u32)__cvta_generic_to_shared(shared)));
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, group = warp >> 2, member = blockIdx.y;
    const int first = blockIdx.x * 64 * ROW_GROUPS;
    cluster_sync();
    await_previous_kernel();
    if (warp == 4 * ROW_GROUPS) {  // the producer
        if (lane == 0) {
            const u32 rank = cluster_rank();
            for (int e = 0; e < size.chunks; e++) {
                ring.await_empty(e);
                expect(ring.filled(e), slot_bytes<ROW_GROUPS>());
                fetch(ring.slot(e), x, e * CHUNK, first, member, ring.filled(e));
                fetch_for_both(ring.slot(e) + ROW_GROUPS * BLOCK + rank * (D / 2) * ROW, weight, e * CHUNK, rank * (D / 2), member, ring.filled(e));
            }
            for (int h = 0; h < PARTS; h++) {
                const int e = size.chunks + h;
                ring.await_empty(e);
                expect(ring.filled(e), 2 * ROW_GROUPS * BLOCK);
                fetch(ring.slot(e), residual, 2 * h * CHUNK, first, member, ring.filled(e));
                fetch(ring.slot(e) + ROW_GROUPS * BLOCK, residual, (2 * h + 1) * CHUNK, first, member, ring.filled(e));
            }
        }
        __syncwarp();
    } else {
        const int row = first + warp * 16, g = lane >> 2;
        float acc[PARTS][64], square[2] = {0.f, 0.f}, r[2];
        for (int i = threadIdx.x; i < D; i += 128 * ROW_GROUPS)
            gains[i] = master(bf16[member * size.stride + i], residual_bits[member * size.stride + i]);
        // Stage 1: x · weightᵀ in the accumulators.
        matmul<ROW_GROUPS, false>(acc, ring, size.chunks, group);
        // Stage 2: y = that + residual, written in bf16; its squares are summed as rounded.
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const u32 place = ring.slot(size.chunks + c / 2) + c % 2 * ROW_GROUPS * BLOCK + warp * 16 * ROW;
            if (c % 2 == 0) ring.await_full(size.chunks + c / 2);
#pragma unroll
            for (int p = 0; p < 4; p++) {
                u32 words[4];
                read_piece(words, piece(place, p));
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    words[i] = pack((&ACC(c, p, i))[0] + low(words[i]), (&ACC(c, p, i))[1] + high(words[i]));
                    const float left = low(words[i]), right = high(words[i]);
                    (&ACC(c, p, i))[0] = left;
                    (&ACC(c, p, i))[1] = right;
                    square[i & 1] += left * left + right * right;
                }
                write_piece(piece(place, p), words);
            }
            publish();
            __syncwarp();
            if (lane == 0) store(y, c * CHUNK, row, member, place);
        }
        if (lane == 0) commit_stores();
#pragma unroll
        for (int h = 0; h < 2; h++) {
            r[h] = rsqrtf(quad_sum(square[h]) * (1.f / D) + EPS);
            if ((lane & 3) == 0 && row + g + 8 * h < size.rows) inv_rms[(u64)member * size.rows + row + g + 8 * h] = r[h];
        }
        // Stage 3: the norm, by way of the slots after the residual's, which nobody reads any more once all have multiplied.
        sync_matmul_warps<ROW_GROUPS>();
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const u32 place = ring.slot(size.chunks + PARTS + c / 2) + c % 2 * ROW_GROUPS * BLOCK + warp * 16 * ROW;
#pragma unroll
            for (int p = 0; p < 4; p++) {
                u32 words[4];
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float2 gain = *(const float2 *)(gains + COLUMN(c, p, i));
                    words[i] = pack((&ACC(c, p, i))[0] * r[i & 1] * gain.x, (&ACC(c, p, i))[1] * r[i & 1] * gain.y);
                }
                write_piece(piece(place, p), words);
            }
            publish();
            __syncwarp();
            if (lane == 0) store(norm, c * CHUNK, row, member, place);
        }
        if (lane == 0) {
            commit_stores();
            await_stores<0>();
        }
        __syncwarp();
    }
    cluster_sync();
}

// dx (+)= the backward of x · inv_rms · gain from dy · weight, and the rows' part of the gain's gradient in `partials`
// [members, blocks, `gains_of_member`]. Block (rows, member).
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(2 * LARGE_TILE + 32, 1) linear_rms_norm_backward(
    const __grid_constant__ Map dy, const __grid_constant__ Map weight, const __grid_constant__ Map x,
    const __grid_constant__ Map old, const __grid_constant__ Map dx, const u16 *bf16, const u16 *residual_bits,
    const float *inv_rms, float *partials, int gains_of_member, int add, int rows, int chunks, u64 stride) {
    constexpr int ROW_GROUPS = LARGE_TILE / 64;
    const Sizes size = {rows, chunks, stride};
    allow_next_kernel();
    prefetch_map(dy), prefetch_map(weight), prefetch_map(x), prefetch_map(old), prefetch_map(dx);
    const Ring ring = make_ring<ROW_GROUPS>();
    float *gains = (float *)(shared + (ring.empty + 8 * STAGES - (u32)__cvta_generic_to_shared(shared))), *shares = gains + D;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, group = warp >> 2, member = blockIdx.y;
    const int first = blockIdx.x * 64 * ROW_GROUPS;
    cluster_sync();
    await_previous_kernel();
    if (warp == 4 * ROW_GROUPS) {  // the producer
        if (lane == 0) {
            const u32 rank = cluster_rank();
            for (int e = 0; e < size.chunks; e++) {
                ring.await_empty(e);
                expect(ring.filled(e), slot_bytes<ROW_GROUPS>());
                fetch(ring.slot(e), dy, e * CHUNK, first, member, ring.filled(e));
                for (int q = rank * (CHUNKS / 2); q < (int)(rank + 1) * (CHUNKS / 2); q++)
                    fetch_for_both(ring.slot(e) + (ROW_GROUPS + q) * BLOCK, weight, q * CHUNK, e * CHUNK, member, ring.filled(e));
            }
            for (int c = 0; c < CHUNKS; c++) {
                const int e = size.chunks + c;
                ring.await_empty(e);
                expect(ring.filled(e), (add ? 2 : 1) * ROW_GROUPS * BLOCK);
                fetch(ring.slot(e), x, c * CHUNK, first, member, ring.filled(e));
                if (add) fetch(ring.slot(e) + ROW_GROUPS * BLOCK, old, c * CHUNK, first, member, ring.filled(e));
            }
        }
        __syncwarp();
    } else {
        const int row = first + warp * 16, g = lane >> 2;
        float acc[PARTS][64], dot[2] = {0.f, 0.f}, r[2];
        for (int i = threadIdx.x; i < D; i += 128 * ROW_GROUPS)
            gains[i] = master(bf16[member * size.stride + i], residual_bits[member * size.stride + i]);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int at = row + g + 8 * h;
            r[h] = at < size.rows ? inv_rms[(u64)member * size.rows + at] : 0.f;
        }
        // Stage 1: the gradient of the norm, dy · weight, in the accumulators.
        matmul<ROW_GROUPS, true>(acc, ring, size.chunks, group);
        sync_matmul_warps<ROW_GROUPS>();  // for the gains
        // Stage 2: the row's dot product with x, and the warp's part of the gain's gradient.
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const u32 place = ring.slot(size.chunks + c) + warp * 16 * ROW;
            ring.await_full(size.chunks + c);
#pragma unroll
            for (int p = 0; p < 4; p++) {
                u32 words[4];
                float share[4] = {0.f, 0.f, 0.f, 0.f};
                read_piece(words, piece(place, p));
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float2 gain = *(const float2 *)(gains + COLUMN(c, p, i));
                    float &left = (&ACC(c, p, i))[0], &right = (&ACC(c, p, i))[1];
                    const float a = left * low(words[i]), b = right * high(words[i]);
                    share[i / 2 * 2] += a * r[i & 1];
                    share[i / 2 * 2 + 1] += b * r[i & 1];
                    dot[i & 1] += a * gain.x + b * gain.y;
                    left *= gain.x;
                    right *= gain.y;
                }
                // Of four columns' sums over the warp's rows, every fourth of the lanes ends up with one.
                const bool upper = lane & 16, odd = lane & 8;
                const float keep0 = upper ? share[2] : share[0], keep1 = upper ? share[3] : share[1];
                const float send0 = upper ? share[0] : share[2], send1 = upper ? share[1] : share[3];
                const float two0 = keep0 + __shfl_xor_sync(FULL, send0, 16);
                const float two1 = keep1 + __shfl_xor_sync(FULL, send1, 16);
                float one = (odd ? two1 : two0) + __shfl_xor_sync(FULL, odd ? two0 : two1, 8);
                one += __shfl_xor_sync(FULL, one, 4);
                if (!(lane & 4)) shares[warp * D + CHUNK * c + 16 * p + (upper ? 8 : 0) + 2 * (lane & 3) + (odd ? 1 : 0)] = one;
            }
        }
        // Stage 3: dx, without the part along x that the norm takes away.
        float pull[2];
#pragma unroll
        for (int h = 0; h < 2; h++) pull[h] = quad_sum(dot[h]) * r[h] * r[h] * r[h] * (1.f / D);
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const u32 place = ring.slot(size.chunks + c) + warp * 16 * ROW, to = place + ROW_GROUPS * BLOCK;
#pragma unroll
            for (int p = 0; p < 4; p++) {
                u32 words[4], before[4] = {0, 0, 0, 0};
                read_piece(words, piece(place, p));
                if (add) read_piece(before, piece(to, p));
#pragma unroll
                for (int i = 0; i < 4; i++)
                    before[i] = pack(low(before[i]) + (&ACC(c, p, i))[0] * r[i & 1] - low(words[i]) * pull[i & 1],
                                     high(before[i]) + (&ACC(c, p, i))[1] * r[i & 1] - high(words[i]) * pull[i & 1]);
                write_piece(piece(to, p), before);
            }
            publish();
            __syncwarp();
            if (lane == 0) store(dx, c * CHUNK, row, member, to);
        }
        if (lane == 0) commit_stores();
        // Stage 4: the block's part of the gain's gradient.
        sync_matmul_warps<ROW_GROUPS>();
        if (first < size.rows) {
            float *partial = partials + ((u64)member * ((size.rows + 64 * ROW_GROUPS - 1) / (64 * ROW_GROUPS)) + blockIdx.x) * gains_of_member;
            for (int i = threadIdx.x; i < D; i += 128 * ROW_GROUPS) {
                float sum = 0.f;
#pragma unroll
                for (int w = 0; w < 4 * ROW_GROUPS; w++) sum += shares[w * D + i];
                partial[i] = sum;
            }
        }
        if (lane == 0) await_stores<0>();
        __syncwarp();
    }
    cluster_sync();
}

#define FORWARD_ARGS \
    const __grid_constant__ Map x, const __grid_constant__ Map weight, const __grid_constant__ Map residual, \
        const __grid_constant__ Map y, const __grid_constant__ Map norm, const u16 *bf16, const u16 *residual_bits, \
        float *inv_rms, int rows, int chunks, u64 stride

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(2 * SMALL_TILE + 32, 1) linear_rms_norm_small(FORWARD_ARGS) {
    forward<SMALL_TILE / 64>(x, weight, residual, y, norm, bf16, residual_bits, inv_rms, Sizes{rows, chunks, stride});
}
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(2 * LARGE_TILE + 32, 1) linear_rms_norm_large(FORWARD_ARGS) {
    forward<LARGE_TILE / 64>(x, weight, residual, y, norm, bf16, residual_bits, inv_rms, Sizes{rows, chunks, stride});
}
