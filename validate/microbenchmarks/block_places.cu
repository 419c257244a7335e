// Where do a grid's blocks go: all that fit, and those that have work where most others end at once?
//
// Models:  grids of up to four blocks per SM whose blocks all stay, or of which every `period`th stays and the others end at once; the SM of
//          each block that stays, in order of number, and how many SMs have so many of them.
// Ignores: when blocks start.
// Source:  %smid.
#include "bench.cuh"

using namespace bench;

__global__ void stay(unsigned period, unsigned* out) {
  extern __shared__ char room[];
  if (blockIdx.x % period) return;
  if (threadIdx.x == 0) out[blockIdx.x / period] = sm_id();
  for (const unsigned long long t0 = clock_now(); clock_now() - t0 < 60000;) {
  }
}

int main() {
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  Buffer<unsigned> out(1 << 16);
  const auto ask = [&](unsigned threads, unsigned blocks, unsigned period) {
    std::vector<double> places, shared(9, 0);
    for (int repeat = 0; repeat < 3; ++repeat) {
      stay<<<blocks, threads>>>(period, out.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
    }
    const std::vector<unsigned> at = out.download((blocks + period - 1) / period);
    std::vector<unsigned> of_sm(static_cast<std::size_t>(sms), 0);
    for (const unsigned sm : at) places.push_back(sm), ++of_sm[sm % static_cast<unsigned>(sms)];
    for (const unsigned n : of_sm) ++shared[std::min(n, 8u)];
    Answer("block_places", "the most blocks that stay on one SM")
        .add("threads", threads).add("blocks", blocks).add("period", period).add("sms", places).add("sms_with_so_many", shared)
        .print(*std::max_element(of_sm.begin(), of_sm.end()), "block", 0);
  };
  for (const unsigned threads : {128u, 512u, 1024u})
    for (const unsigned blocks : {100u, 132u, 200u, 264u}) ask(threads, blocks, 1);
  ask(512, 528, 1);
  ask(128, 528, 1);
  for (const unsigned threads : {128u, 256u, 512u, 1024u})
    for (const unsigned period : {2u, 4u, 8u, 16u, 32u}) ask(threads, 512, period);
  for (const unsigned period : {4u, 32u}) ask(512, 4096, period), ask(128, 4096, period);
  return 0;
}
