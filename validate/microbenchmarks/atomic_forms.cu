// What does a global atomic or reduction of a warp cost, by the addresses of its lanes?
//
// Models:  a warp repeats one instruction on one set of addresses: some lanes or all, on one word, on a few words, on
//          neighbours, on words of other sectors or lines. Every warp has a region of its own; one SM, or all of them.
//          Cycles of the SM an instruction, or instructions a cycle of the chip.
// Ignores: warps that meet on a word (atomic_words), results that are used at once.
// Source:  the SM's clock; of all SMs the mean of the blocks' intervals, and their longest.
#include "bench.cuh"

using namespace bench;

enum class Operation { kRedAdd, kAtomAdd, kRedFloat, kAtomFloat, kAtomCas, kRedWide, kAtomExchange, kRedMax };
const char* const kNames[] = {"RED.ADD.U32", "ATOM.ADD.U32", "RED.ADD.F32",  "ATOM.ADD.F32",
                              "ATOM.CAS",    "RED.ADD.U64",  "ATOM.EXCH.B32", "RED.MAX.S32"};

template <Operation kOperation>
__device__ __forceinline__ void operate(char* p, unsigned& sum) {
  if constexpr (kOperation == Operation::kRedAdd) {
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
  } else if constexpr (kOperation == Operation::kRedMax) {
    asm volatile("red.global.max.s32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
  } else if constexpr (kOperation == Operation::kRedFloat) {
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) : "memory");
  } else if constexpr (kOperation == Operation::kRedWide) {
    asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(1ll) : "memory");
  } else {
    unsigned v;
    if constexpr (kOperation == Operation::kAtomAdd) {
      asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1) : "memory");
    } else if constexpr (kOperation == Operation::kAtomFloat) {
      float f;
      asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(f) : "l"(p), "f"(1.0f) : "memory");
      v = __float_as_uint(f);
    } else if constexpr (kOperation == Operation::kAtomCas) {
      asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(v) : "l"(p), "r"(0), "r"(1) : "memory");
    } else {
      asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1) : "memory");
    }
    sum ^= v;
  }
}

template <Operation kOperation>
__global__ void __launch_bounds__(1024) repeat(char* base, const unsigned* offsets, unsigned lanes, std::size_t region,
                                              int count, Stamp* out, unsigned* sink) {
  const std::size_t warp = (blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  char* p = base + warp * region + offsets[lane];
  unsigned sum = 0;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  if (lanes >> lane & 1) {
#pragma unroll 1
    for (int i = 0; i < count; i += 8) {
#pragma unroll
      for (int k = 0; k < 8; ++k) operate<kOperation>(p, sum);
    }
  }
  if (sum == 0x7fffffff) *sink = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

struct Form {
  std::string name;
  unsigned lanes;
  std::vector<unsigned> offsets;  // bytes, a lane each
};

/// `words` words `stride` bytes apart; lane l takes word l % words, or l / (32 / words) when neighbours share.
Form few(const char* name, unsigned words, unsigned stride, bool neighbours) {
  Form form{name, ~0u, {}};
  for (unsigned l = 0; l < 32; ++l) form.offsets.push_back((neighbours ? l / (32 / words) : l % words) * stride);
  return form;
}
unsigned first(unsigned lanes) { return lanes >= 32 ? ~0u : (1u << lanes) - 1; }

std::vector<Form> forms() {
  std::vector<Form> all;
  for (unsigned n : {1u, 2u, 4u, 8u, 16u, 32u}) {
    all.push_back({"one_word_lanes_" + std::to_string(n), first(n), std::vector<unsigned>(32, 0)});
  }
  for (unsigned n : {2u, 4u, 8u, 16u, 24u}) {
    Form form{"consecutive_lanes_" + std::to_string(n), first(n), {}};
    for (unsigned l = 0; l < 32; ++l) form.offsets.push_back(4 * l);
    all.push_back(form);
  }
  for (unsigned w : {2u, 4u, 8u, 16u, 32u}) {
    const std::string n = std::to_string(w);
    all.push_back(few(("words_taking_turns_" + n).c_str(), w, 4, false));
    if (w < 32) all.push_back(few(("words_by_neighbours_" + n).c_str(), w, 4, true));
    if (w < 32) all.push_back(few(("sectors_taking_turns_" + n).c_str(), w, 32, false));
    if (w < 32) all.push_back(few(("lines_taking_turns_" + n).c_str(), w, 128, false));
  }
  for (unsigned stride : {8u, 16u, 32u, 64u, 128u, 256u, 512u}) {
    all.push_back(few(("stride_" + std::to_string(stride)).c_str(), 32, stride, true));
  }
  std::mt19937 random(7);
  for (const char* kind : {"reversed", "rotated", "shuffled_in_sectors", "shuffled_in_line", "shuffled_twice_as_wide"}) {
    Form form{kind, ~0u, {}};
    std::vector<unsigned> order(32);
    std::iota(order.begin(), order.end(), 0u);
    if (form.name == "reversed") std::reverse(order.begin(), order.end());
    if (form.name == "rotated") std::rotate(order.begin(), order.begin() + 5, order.end());
    if (form.name == "shuffled_in_sectors") {
      for (int s = 0; s < 4; ++s) std::shuffle(order.begin() + 8 * s, order.begin() + 8 * s + 8, random);
    }
    if (form.name == "shuffled_in_line") std::shuffle(order.begin(), order.end(), random);
    if (form.name == "shuffled_twice_as_wide") {
      std::shuffle(order.begin(), order.end(), random);
      for (unsigned& word : order) word = 2 * word + word % 2;
    }
    for (unsigned word : order) form.offsets.push_back(4 * word);
    all.push_back(form);
  }
  for (unsigned words : {8u, 16u, 32u, 64u, 256u, 1024u, 4096u}) {
    Form form{"random_of_words_" + std::to_string(words), ~0u, {}};
    for (unsigned l = 0; l < 32; ++l) form.offsets.push_back(4 * static_cast<unsigned>(random() % words));
    all.push_back(form);
  }
  return all;
}

template <Operation kOperation>
void measure(const Form& form, bool whole_chip, Buffer<char>& memory, Buffer<unsigned>& offsets, Buffer<Stamp>& out,
             Buffer<unsigned>& sink) {
  const unsigned wide = kOperation == Operation::kRedWide ? 2 : 1;  // 64-bit words lie twice as far apart
  std::vector<unsigned> bytes = form.offsets;
  for (unsigned& b : bytes) b *= wide;
  offsets.upload(bytes);
  const int blocks = whole_chip ? 2 * device().multiProcessorCount : 1, threads = 512, count = whole_chip ? 32 : 64;
  const std::size_t region = std::size_t{16384} * wide + 128;  // neighbours' regions begin in other lines and sets
  std::vector<double> means, longest;
  for (int r = 0; r < 4; ++r) {
    repeat<kOperation><<<blocks, threads>>>(memory.get(), offsets.get(), form.lanes, region, count, out.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double sum = 0, most = 0;
    for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) {
      const double cycles = static_cast<double>(s.stop - s.start);
      sum += cycles;
      most = std::max(most, cycles);
    }
    const double instructions = static_cast<double>(threads) / 32 * count * (whole_chip ? 2 : 1);  // an SM's
    if (r) means.push_back(sum / blocks / instructions), longest.push_back(most / instructions);
  }
  Answer("atomic_forms", "cycles of an SM a warp instruction, each warp on words of its own")
      .add_text("operation", kNames[static_cast<int>(kOperation)])
      .add_text("form", form.name)
      .add("all_sms", whole_chip)
      .add("by_slowest_block", summarize(longest).median)
      .print(summarize(means), "cycle");
}

/// One launch a form, to be counted: 64 instructions of one warp.
template <Operation kOperation>
void count(const Form& form, int& launch, Buffer<char>& memory, Buffer<unsigned>& offsets, Buffer<Stamp>& out, Buffer<unsigned>& sink) {
  offsets.upload(form.offsets);
  repeat<kOperation><<<1, 32>>>(memory.get(), offsets.get(), form.lanes, 0, 64, out.get(), sink.get());
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("atomic_forms", "counters of 64 instructions of one warp")
      .add("launch", launch++)
      .add_text("operation", kNames[static_cast<int>(kOperation)])
      .add_text("form", form.name)
      .print(64, "instruction", 0);
}

int main(int arguments, char**) {
  const std::vector<Form> all = forms();
  Buffer<char> memory(std::size_t{512} << 20);
  Buffer<unsigned> offsets(32), sink(1);
  Buffer<Stamp> out(4096);
  memory.zero();
  if (arguments > 1) {  // under the profiler
    int launch = 0;
    for (const Form& form : all) {
      count<Operation::kRedAdd>(form, launch, memory, offsets, out, sink);
      if (form.name.find("taking_turns") != std::string::npos) {
        count<Operation::kAtomAdd>(form, launch, memory, offsets, out, sink);
      }
    }
    return 0;
  }
  for (bool whole_chip : {false, true}) {
    for (const Form& form : all) {
      measure<Operation::kRedAdd>(form, whole_chip, memory, offsets, out, sink);
      measure<Operation::kAtomAdd>(form, whole_chip, memory, offsets, out, sink);
    }
    for (const Form& form : all) {
      const std::string& n = form.name;
      if (n != "one_word_lanes_1" && n != "one_word_lanes_32" && n != "words_taking_turns_32" && n != "words_taking_turns_8" &&
          n != "consecutive_lanes_8" && n != "stride_32" && n != "stride_128" && n != "random_of_words_64" && n != "shuffled_in_line") {
        continue;
      }
      measure<Operation::kRedFloat>(form, whole_chip, memory, offsets, out, sink);
      measure<Operation::kAtomFloat>(form, whole_chip, memory, offsets, out, sink);
      measure<Operation::kAtomCas>(form, whole_chip, memory, offsets, out, sink);
      measure<Operation::kRedWide>(form, whole_chip, memory, offsets, out, sink);
      measure<Operation::kAtomExchange>(form, whole_chip, memory, offsets, out, sink);
      measure<Operation::kRedMax>(form, whole_chip, memory, offsets, out, sink);
    }
  }
  return 0;
}
