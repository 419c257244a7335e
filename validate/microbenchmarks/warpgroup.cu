// How do warpgroup products share an SM: with each other, with traffic of shared memory, and what do counters make of them?
#include <cstring>

#include "bench.cuh"

// clang-format off
namespace {

template <int kN, bool kRegisters>
__device__ void product(float (&d)[kN / 2], const uint32_t (&a)[4], uint64_t descriptor_a, uint64_t descriptor_b);
template <>
__device__ __forceinline__ void product<64, false>(float (&d)[32], const uint32_t (&)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(a), "l"(b));
}
template <>
__device__ __forceinline__ void product<128, false>(float (&d)[64], const uint32_t (&)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "l"(a), "l"(b));
}
template <>
__device__ __forceinline__ void product<256, false>(float (&d)[128], const uint32_t (&)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127]) : "l"(a), "l"(b));
}
template <>
__device__ __forceinline__ void product<64, true>(float (&d)[32], const uint32_t (&a)[4], uint64_t, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
template <>
__device__ __forceinline__ void product<128, true>(float (&d)[64], const uint32_t (&a)[4], uint64_t, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// clang-format on

__device__ __forceinline__ uint64_t descriptor(uint32_t address) {  // K-major, 128-byte swizzle
  return (address & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

/// The first `groups` warpgroups multiply `rounds` times four; the `others` warps behind them access shared memory until they have.
/// traffic: 0 LDS.32, 1 LDS.128, 2 STS.32, 3 STS.128, 4 LDSM.x4, 5 FFMA, 6 HMMA
template <int kN, bool kRegisters, int kTraffic>
__global__ void __launch_bounds__(384, 1) beside(int groups, int rounds, int fixed, unsigned long long* out, float* sink) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ volatile int stop;
  const uint32_t base = (static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + 1023) & ~1023u;
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(0) : "memory");
  if (threadIdx.x == 0) stop = 0;
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const int group = threadIdx.x / 128;
  if (group < groups) {
    float d[kN / 2];
    uint32_t a[4] = {0, 0, 0, 0};
    for (float& x : d) x = 0;
    const uint64_t da = descriptor(base + group * 8192), db = descriptor(base + 32768);
    unsigned long long start = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
      start = bench::clock_now();
      for (int i = 0; i < rounds; ++i) {
        fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) product<kN, kRegisters>(d, a, da + 2 * k, db + 2 * k);
        commit();
        if (i % 4 == 3) wait();
      }
      wait();
    }
    const unsigned long long stopped = bench::clock_now();
    if (threadIdx.x == 0) out[2 * blockIdx.x] = stopped - start, stop = 1;
    float sum = 0;
    for (const float x : d) sum += x;
    if (sum == 123) sink[threadIdx.x] = sum;
  } else {
    const uint32_t at = base + (threadIdx.x % 32) * (kTraffic == 0 || kTraffic == 2 ? 4 : 16) + 57344;
    unsigned done = 0, sum = 0;
    float x = 1;
    unsigned c[4] = {0, 0, 0, 0};
    const unsigned long long start = bench::clock_now();
    while (fixed ? done < static_cast<unsigned>(fixed) : !stop) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        unsigned v[4];
        if constexpr (kTraffic == 0) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(at + 512 * (k % 4)));
        if constexpr (kTraffic == 1) asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at + 512 * (k % 4)));
        if constexpr (kTraffic == 2) asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + 512 * (k % 4)), "r"(0) : "memory");
        if constexpr (kTraffic == 3) asm volatile("st.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at + 512 * (k % 4)), "r"(0) : "memory");
        if constexpr (kTraffic == 4) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at + 512 * (k % 4)));
        if constexpr (kTraffic == 5) x = x * 1.0001f + 1.0f;
        if constexpr (kTraffic == 6) asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%2,%2}, {%0,%1};" : "+r"(c[k % 2 * 2]), "+r"(c[k % 2 * 2 + 1]) : "r"(sum));
        if constexpr (kTraffic < 2 || kTraffic == 4) sum += v[0];
      }
      done += 16;
    }
    const unsigned long long stopped = bench::clock_now();
    if (threadIdx.x == groups * 128) {
      out[2 * blockIdx.x + 1] = (stopped - start) * 1000 / done;
      if (groups == 0) out[2 * blockIdx.x] = 1;
    }
    if (sum == 12345 || x == 0 || c[0] == 77) sink[0] = x + sum;
  }
}

unsigned long long* out_of() {
  static unsigned long long* out = nullptr;
  if (!out) CHECK(cudaMalloc(&out, 1 << 14));
  return out;
}

template <int kN, bool kRegisters, int kTraffic>
void launch(int blocks, int groups, int others, int rounds, unsigned long long* host) {
  const auto kernel = beside<kN, kRegisters, kTraffic>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  kernel<<<blocks, groups * 128 + others * 32, 100 * 1024>>>(groups, rounds, groups ? 0 : 4096, out_of(), reinterpret_cast<float*>(out_of() + 1024));
  CHECK(cudaDeviceSynchronize());
  if (host) CHECK(cudaMemcpy(host, out_of(), 16, cudaMemcpyDeviceToHost));
}

template <int kN, bool kRegisters, int kTraffic>
void ask(const char* traffic) {
  for (const int groups : {0, 1, 2}) {
    for (const int others : {0, 1, 4}) {
      if (groups + others == 0) continue;
      unsigned long long few[2] = {}, many[2] = {};
      launch<kN, kRegisters, kTraffic>(1, groups, others, 64, few);
      launch<kN, kRegisters, kTraffic>(1, groups, others, 320, many);
      bench::Answer("warpgroup_beside", "cycles a warpgroup product, and an instruction of each warp beside it")
          .add("n", kN).add_text("a", kRegisters ? "registers" : "shared").add("warpgroups", groups)
          .add_text("traffic", traffic).add("other_warps", others)
          .add("traffic_cycles", others ? many[1] / 1000.0 : 0)
          .print(groups ? (static_cast<double>(many[0]) - static_cast<double>(few[0])) / 1024 : 0, "cycle", 0);
    }
  }
}

template <int kN, bool kRegisters>
void ask_all() {
  ask<kN, kRegisters, 0>("LDS.32");
  ask<kN, kRegisters, 1>("LDS.128");
  ask<kN, kRegisters, 2>("STS.32");
  ask<kN, kRegisters, 3>("STS.128");
  ask<kN, kRegisters, 4>("LDSM.4");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "count") == 0) {
    launch<256, false, 5>(132, 1, 0, 256, nullptr);
    launch<256, false, 5>(132, 2, 0, 256, nullptr);
    launch<64, false, 5>(132, 1, 0, 256, nullptr);
    launch<64, false, 5>(132, 2, 0, 256, nullptr);
    launch<128, true, 5>(132, 1, 0, 256, nullptr);
    launch<128, true, 5>(132, 2, 0, 256, nullptr);
    launch<64, false, 6>(132, 0, 4, 256, nullptr);
    return 0;
  }
  ask_all<64, false>();
  ask_all<128, false>();
  ask_all<256, false>();
  ask_all<64, true>();
  ask_all<128, true>();
  ask<128, false, 6>("HMMA.16816");
}
