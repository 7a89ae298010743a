// Tools for fused matmuls, for GPUs of compute capability 9.0: barriers, the copy
// engine (TMA), the tensor cores (wgmma). After `common.cu`; `linear_swiglu.cu` and `linear_rms_norm.cu` follow.
//
// Matrices lie in shared memory in chunks of CHUNK = 64 columns: rows of 128 bytes, whose eight 16-byte words are swapped as
// the copy engine's 128-byte swizzle does. D is 128 or 256, HIDDEN a multiple of 64.

#define CHUNKS (D / CHUNK)
#define TILES (HIDDEN / CHUNK)
#define ROW 128          // bytes of a chunk's row
#define BLOCK (64 * ROW) // bytes of 64 rows of a chunk

// A tensor as the copy engine sees it, [members, rows, columns].
struct alignas(64) Map {
    u64 words[16];
};

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

// Programmatic dependent launch: a kernel says at once that the next may start, sets itself up, and waits for all that came
// before.
__device__ __forceinline__ void allow_next_kernel() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ __forceinline__ void await_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- copy engine ----------------------------------------------------------------------------------------------------

__device__ __forceinline__ void fetch(u32 to, const Map &map, int column, int row, int member, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(to), "l"(&map), "r"(column), "r"(row), "r"(member), "r"(barrier) : "memory");
}
__device__ __forceinline__ void prefetch_map(const Map &map) {
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

#define REGISTERS8(d, i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define REGISTERS32(d, i) REGISTERS8(d, i), REGISTERS8(d, i + 8), REGISTERS8(d, i + 16), REGISTERS8(d, i + 24)

// A matrix in swizzled rows of 128 bytes; groups of eight rows are 1024 bytes apart. One that is read across its
// rows and is wider than them continues `apart` bytes further.
__device__ __forceinline__ u64 descriptor(u32 at, u32 apart = 16) {
    return (u64)((at & 0x3ffff) >> 4) | (u64)(apart >> 4) << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
// d[64][128] (+)= a[64][16] · b[128][16]ᵀ, or b[16][128] across its rows.
template <bool ACROSS = false>
__device__ __forceinline__ void wgmma(float (&d)[64], u64 a, u64 b, int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
        "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
        "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
        "}, %64, %65, p, 1, 1, 0, %67;}"
        : REGISTERS32(d, 0), REGISTERS32(d, 32)
        : "l"(a), "l"(b), "r"(add), "n"((int)ACROSS));
}
// d[64][64] (+)= a[64][16] · b[16][64]
__device__ __forceinline__ void wgmma(float (&d)[32], u64 a, u64 b, int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
        "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
        "}, %32, %33, p, 1, 1, 0, 1;}"
        : REGISTERS32(d, 0)
        : "l"(a), "l"(b), "r"(add));
}

template <int PENDING>
__device__ __forceinline__ void await_matmuls() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
__device__ __forceinline__ void release(u32 barrier) {
    if ((threadIdx.x & 31) == 0) arrive(barrier);
}

extern __shared__ unsigned char shared[];
__device__ __forceinline__ u32 shared_start() { return ((u32)__cvta_generic_to_shared(shared) + 1023) & ~1023u; }
