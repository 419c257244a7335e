// Programs written word by word into the slots of issue_slots.cu, and what they read off the clock.
//
// Models:  the slots and accumulators of that kernel; the words of the instructions that its users ask about (sm_90).
// Ignores: what ptxas would have done.
// Source:  what nvdisasm prints for our own kernels.
#pragma once

#include <functional>
#include <map>

#include "patch.h"

namespace bench {

/// The registers of issue_slots' accumulators and the positions of its slots.
///
/// ptxas moves the loop's barrier up among the slots. The slots before it are the program's; the
/// barrier itself is moved down to the last slot behind it, so that the warps leave it together.
struct Bench {
  Cubin cubin;
  std::vector<std::size_t> slots;    // of the program, in order
  std::vector<std::size_t> skipped;  // FFMA between the barrier and the loop's branch
  std::size_t barrier = 0;
  unsigned accumulator[64] = {};

  unsigned address_low() const { return accumulator[0]; }
  unsigned address_high() const { return accumulator[1]; }
  unsigned shared() const { return accumulator[2]; }
};

inline Bench load_bench(const std::string& path) {
  Bench b;
  b.cubin = read_cubin(path);
  for (std::size_t at = b.cubin.begin; at + 16 <= b.cubin.end; at += 16) {
    const Word w = b.cubin.at(at);
    if (is_ffma(w)) (b.barrier == 0 ? b.slots : b.skipped).push_back(at);
    if ((w.low & 0xfff) == 0xb1d && !b.slots.empty()) b.barrier = at;
    // STG.E [R + 4 * i], accumulator i, one after the other behind the slots.
    if ((w.low & 0xfff) == 0x986 && !b.slots.empty()) {
      const std::size_t i = (w.low >> 40 & 0xffffff) / 4;
      if (i < 64) b.accumulator[i] = static_cast<unsigned>(w.low >> 32 & 0xff);
    }
  }
  std::map<unsigned, int> seen;
  for (unsigned r : b.accumulator) ++seen[r];
  if (b.slots.size() < 400 || b.skipped.empty() || b.barrier == 0 || seen.size() != 64) {
    std::fprintf(stderr,
                 "%s: %zu slots, %zu behind a barrier, %zu accumulators; expected 400 or "
                 "more, 1 or more, and 64\n",
                 path.c_str(), b.slots.size(), b.skipped.size(), seen.size());
    std::exit(2);
  }
  return b;
}

/// A program under construction. Times go to accumulators 40 to 63; 8 to 31 are scratch, among which
/// `quad` is the first of four aligned registers, `pointer` of two.
class Program {
 public:
  explicit Program(const Bench& bench) : bench_(&bench) {
    const unsigned quad = aligned(4, 8, 32, {});
    const unsigned pointer = aligned(2, 8, 32, {quad, quad + 1, quad + 2, quad + 3});
    quad_ = quad;
    pointer_ = pointer;
    move(pointer, bench.address_low());
    move(pointer + 1, bench.address_high());
    add({0x00008200ull << 32 | kDescriptor << 16 | 0x7ab9, 0xa00}, {15});  // ULDC.64, c[0][0x208]
    for (int i = 0; i < 6; ++i) nop(15);
  }
  unsigned scratch(unsigned i) const { return bench_->accumulator[32 + i]; }

  void add(Word w, const Control& c) { words_.push_back(with_control(w, c)); }
  void nop(unsigned stall = 1, unsigned wait_mask = 0) { add({0x7918, 0}, {stall, 1, 7, 7, wait_mask}); }
  void move(std::uint64_t d, unsigned a) { add({0xff007224ull | d << 16, 0x078e0000ull | a}, {6}); }
  /// CS2R.32 into time register `i`.
  void clock(unsigned i, const Control& c = {1}) {
    add({0x7805ull | static_cast<std::uint64_t>(bench_->accumulator[40 + i]) << 16, 0x5000}, c);
  }
  void ffma(unsigned i, const Control& c = {1}) {
    const std::uint64_t r = bench_->accumulator[8 + i % 16];
    add({0x7223 | r << 16 | static_cast<std::uint64_t>(bench_->accumulator[32]) << 24 |
             static_cast<std::uint64_t>(bench_->accumulator[33]) << 32,
         bench_->accumulator[33]},
        c);
  }
  void ldg(int words, unsigned offset, const Control& c) {
    add({static_cast<std::uint64_t>(offset) << 40 | kDescriptor << 32 | pointer_ << 24 | quad_ << 16 | 0x7981,
         words == 1   ? 0x0c1e1900u
         : words == 2 ? 0x0c1e1b00u
                      : 0x0c1e1d00u},
        c);
  }
  void stg(int words, unsigned offset, const Control& c) {
    add({static_cast<std::uint64_t>(offset) << 40 | quad_ << 32 | pointer_ << 24 | 0x7986,
         0x0c100000u | kDescriptor |
             (words == 1   ? 0x1900u
              : words == 2 ? 0x1b00u
                           : 0x1d00u)},
        c);
  }
  void lds(int words, unsigned offset, const Control& c) {
    add({static_cast<std::uint64_t>(offset) << 40 | shared() << 24 | quad_ << 16 | 0x7984, words == 1 ? 0x800u
                                                                                           : words == 2
                                                                                               ? 0xa00u
                                                                                               : 0xc00u},
        c);
  }
  void sts(int words, unsigned offset, const Control& c) {
    add({static_cast<std::uint64_t>(offset) << 40 | quad_ << 32 | shared() << 24 | 0x7388, words == 1 ? 0x800u
                                                                                           : words == 2
                                                                                               ? 0xa00u
                                                                                               : 0xc00u},
        c);
  }
  /// BRA over `skip` instructions, taken or (predicate !PT) not.
  void branch(unsigned skip, bool taken, const Control& c) {
    const std::uint64_t words = skip * 4;  // the low 8 bits apart from the others
    add({(taken ? 0x7947ull : 0xf947ull) | (words & 0xff) << 16 | (words >> 8) << 34, 0x03800000}, c);
  }
  /// NOPs up to where the next `count` instructions lie one behind the other: between slots lies the loop's counter, which a jump over it
  /// would leave as it is for ever.
  void keep_together(std::size_t count) {
    const auto& slots = bench_->slots;
    const auto apart = [&](std::size_t first) {
      return slots.at(first + count - 1) - slots.at(first) != 16 * (count - 1);
    };
    while (apart(words_.size())) nop();
  }
  /// An operation on one register: MUFU.EX2, POPC, F2I, S2R, SHFL, LDC, I2FP, IMAD, DADD-like.
  void one_register(const std::string& name, const Control& c) {
    const std::uint64_t d = quad_, a = scratch(0);
    if (name == "MUFU.EX2") add({a << 32 | d << 16 | 0x7308, 0x800}, c);
    if (name == "POPC") add({a << 32 | d << 16 | 0x7309, 0}, c);
    if (name == "F2I") add({a << 32 | d << 16 | 0x7305, 0x203100}, c);
    if (name == "S2R") add({d << 16 | 0x7919, 0x2100}, c);  // SR_TID.X
    if (name == "LDC") add({0x00008400ull << 32 | 0xff000000ull | d << 16 | 0x7b82, 0x800}, c);
    if (name == "S2UR") add({0x00080000ull | 0x79c3, 0x2500}, c);              // UR8, SR_CTAID.X
    if (name == "R2UR") add({a << 24 | 0x00080000ull | 0x72ca, 0x0e0000}, c);  // UR8
    if (name == "ATOMS.ADD") add({a << 32 | shared() << 24 | d << 16 | 0x738c, 0}, c);
  }

  std::vector<Word> words() const { return words_; }
  std::uint64_t quad() const { return quad_; }        ///< the first of four aligned registers of scratch
  std::uint64_t pointer() const { return pointer_; }  ///< of the pair that holds the global address
  std::uint64_t shared() const { return bench_->shared(); }
  /// The `i`th scratch register of accumulators 32 to 39 that is even, or odd.
  std::uint64_t of_bank(unsigned odd, unsigned i) const {
    for (unsigned k = 0; k < 8; ++k) {
      if (scratch(k) % 2 == odd && i-- == 0) return scratch(k);
    }
    std::fprintf(stderr, "too few scratch registers of one bank\n");
    std::exit(2);
  }
  static constexpr std::uint64_t kDescriptor = 10;  ///< a uniform register pair of our own

 private:
  /// The first of `count` registers, aligned, all accumulators of [from, to) and none of `taken`.
  unsigned aligned(unsigned count, unsigned from, unsigned to, std::vector<unsigned> taken) const {
    for (unsigned r = 0; r < 200; r += count) {
      unsigned found = 0;
      for (unsigned k = 0; k < count; ++k) {
        for (unsigned i = from; i < to; ++i) {
          if (bench_->accumulator[i] == r + k &&
              std::find(taken.begin(), taken.end(), r + k) == taken.end()) {
            ++found;
          }
        }
      }
      if (found == count) return r;
    }
    std::fprintf(stderr, "no %u aligned registers among the accumulators\n", count);
    std::exit(2);
  }

  const Bench* bench_;
  std::uint64_t quad_ = 0, pointer_ = 0;
  std::vector<Word> words_;
};

/// The image with the program in its slots, the rest filled with NOPs that wait for all scoreboards.
inline std::vector<char> image_of(const Bench& bench, const Program& program) {
  std::vector<char> image = bench.cubin.image;
  const std::vector<Word> words = program.words();
  if (words.size() + 1 > bench.slots.size()) {
    std::fprintf(stderr, "a program of %zu words; expected fewer than %zu\n", words.size(),
                 bench.slots.size());
    std::exit(2);
  }
  for (std::size_t i = 0; i < bench.slots.size(); ++i) {
    const Word w = i < words.size()
                       ? words[i]
                       : with_control({0x7918, 0}, {i == words.size() ? 15u : 1u, 1, 7, 7, 0x3f});
    std::memcpy(image.data() + bench.slots[i], &w, 16);
  }
  const Word nop = with_control({0x7918, 0}, {1}), barrier = bench.cubin.at(bench.barrier);
  std::memcpy(image.data() + bench.barrier, &nop, 16);
  for (std::size_t at : bench.skipped) {
    std::memcpy(image.data() + at, at == bench.skipped.back() ? &barrier : &nop, 16);
  }
  return image;
}

/// The time registers of lane 0 of every active warp, of the last of three passes.
inline std::map<int, std::vector<unsigned>> times(const Bench& bench, const Program& program,
                                                  unsigned active_warps, Buffer<char>& memory,
                                                  int lane_stride = 4) {
  Loaded kernel(image_of(bench, program));
  Buffer<unsigned> out(16 * 32 * 64);
  out.zero();
  unsigned* out_pointer = out.get();
  char* global = memory.get();
  float x = 0.5f, y = 1.5f;
  int global_stride = lane_stride, shared_stride = lane_stride;
  void* arguments[] = {&out_pointer, &global, &x, &y, &active_warps, &global_stride, &shared_stride};
  kernel.launch(512, arguments);
  const auto all = out.download();
  std::map<int, std::vector<unsigned>> result;
  for (int w = 0; w < 16; ++w) {
    if (!(active_warps >> w & 1)) continue;
    const auto first = all.begin() + w * 32 * 64 + 40;
    result[w] = std::vector<unsigned>(first, first + 24);
  }
  return result;
}

}  // namespace bench
