// When does each instruction of a warp issue, and when is its result there?
//
// Models:  straight-line programs written word by word (patch.h), with a clock read after any
//          instruction: the order in which the warps of a sub-core issue; the clock after n memory
//          instructions with stall count 1 (queue depth and the rate behind it); the cycles until a
//          result may be used (write scoreboard) and a source overwritten (read scoreboard).
// Ignores: misses: every access hits L1, shared memory or the constant cache.
// Source:  the back-to-back and dependence methods of HUE Tables 1 and 2.
#include <functional>
#include <map>

#include "patch.h"

using namespace bench;

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

Bench load_bench(const std::string& path) {
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
  explicit Program(const Bench& bench) : bench_(bench) {
    const unsigned quad = aligned(4, 8, 32, {});
    const unsigned pointer = aligned(2, 8, 32, {quad, quad + 1, quad + 2, quad + 3});
    quad_ = quad;
    pointer_ = pointer;
    move(pointer, bench.address_low());
    move(pointer + 1, bench.address_high());
    add({0x00008200ull << 32 | kDescriptor << 16 | 0x7ab9, 0xa00}, {15});  // ULDC.64, c[0][0x208]
    for (int i = 0; i < 6; ++i) nop(15);
  }
  unsigned scratch(unsigned i) const { return bench_.accumulator[32 + i]; }

  void add(Word w, const Control& c) { words_.push_back(with_control(w, c)); }
  void nop(unsigned stall = 1, unsigned wait_mask = 0) { add({0x7918, 0}, {stall, 1, 7, 7, wait_mask}); }
  void move(std::uint64_t d, unsigned a) { add({0xff007224ull | d << 16, 0x078e0000ull | a}, {6}); }
  /// CS2R.32 into time register `i`.
  void clock(unsigned i, const Control& c = {1}) {
    add({0x7805ull | static_cast<std::uint64_t>(bench_.accumulator[40 + i]) << 16, 0x5000}, c);
  }
  void ffma(unsigned i, const Control& c = {1}) {
    const std::uint64_t r = bench_.accumulator[8 + i % 16];
    add({0x7223 | r << 16 | static_cast<std::uint64_t>(bench_.accumulator[32]) << 24 |
             static_cast<std::uint64_t>(bench_.accumulator[33]) << 32,
         bench_.accumulator[33]},
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
    add({(taken ? 0x7947ull : 0xf947ull) | static_cast<std::uint64_t>(skip * 16 / 4) << 16, 0x03800000}, c);
  }
  /// An operation on one register: MUFU.EX2, POPC, F2I, S2R, SHFL, LDC, I2FP, IMAD, DADD-like.
  void one_register(const std::string& name, const Control& c) {
    const std::uint64_t d = quad_, a = scratch(0);
    if (name == "MUFU.EX2") add({a << 32 | d << 16 | 0x7308, 0x800}, c);
    if (name == "POPC") add({a << 32 | d << 16 | 0x7309, 0}, c);
    if (name == "F2I") add({a << 32 | d << 16 | 0x7305, 0x203100}, c);
    if (name == "S2R") add({d << 16 | 0x7919, 0x2100}, c);  // SR_TID.X
    if (name == "LDC") add({0x00008400ull << 32 | 0xff000000ull | d << 16 | 0x7b82, 0x800}, c);
    if (name == "S2UR") add({0x00080000ull | 0x79c3, 0x2500}, c);            // UR8, SR_CTAID.X
    if (name == "R2UR") add({a << 24 | 0x00080000ull | 0x72ca, 0x0e0000}, c);  // UR8
    if (name == "ATOMS.ADD") add({a << 32 | shared() << 24 | d << 16 | 0x738c, 0}, c);
  }

  std::vector<Word> words() const { return words_; }

 private:
  static constexpr std::uint64_t kDescriptor = 10;  // a uniform register pair of our own
  std::uint64_t shared() const { return bench_.shared(); }
  /// The first of `count` registers, aligned, all accumulators of [from, to) and none of `taken`.
  unsigned aligned(unsigned count, unsigned from, unsigned to, std::vector<unsigned> taken) const {
    for (unsigned r = 0; r < 200; r += count) {
      unsigned found = 0;
      for (unsigned k = 0; k < count; ++k) {
        for (unsigned i = from; i < to; ++i) {
          if (bench_.accumulator[i] == r + k && std::find(taken.begin(), taken.end(), r + k) == taken.end()) {
            ++found;
          }
        }
      }
      if (found == count) return r;
    }
    std::fprintf(stderr, "no %u aligned registers among the accumulators\n", count);
    std::exit(2);
  }

  const Bench& bench_;
  std::uint64_t quad_ = 0, pointer_ = 0;
  std::vector<Word> words_;
};

/// The image with the program in its slots, the rest filled with NOPs that wait for all scoreboards.
std::vector<char> image_of(const Bench& bench, const Program& program) {
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
std::map<int, std::vector<unsigned>> times(const Bench& bench, const Program& program, unsigned active_warps,
                                           Buffer<char>& memory, int lane_stride = 4) {
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

void order(const Bench& bench, Buffer<char>& memory) {
  struct Kind {
    const char* name;
    Control control;
    int fillers;  // FFMA between the clock reads
  };
  for (const Kind& kind :
       {Kind{"CS2R stall 1", {1, 1}, 0}, Kind{"CS2R stall 1 yield", {1, 0}, 0},
        Kind{"CS2R stall 2", {2, 1}, 0}, Kind{"CS2R stall 4", {4, 1}, 0},
        Kind{"CS2R, 3 FFMA, stall 1", {1, 1}, 3}, Kind{"CS2R, 7 FFMA, stall 1", {1, 1}, 7},
        Kind{"CS2R, 15 FFMA, stall 1", {1, 1}, 15}, Kind{"CS2R, 7 FFMA, stall 1 yield", {1, 0}, 7},
        Kind{"CS2R, 7 FFMA, stall 2", {2, 1}, 7}}) {
    for (unsigned active : {0x1u, 0x11u, 0x111u, 0x1111u}) {
      Program p(bench);
      for (unsigned i = 0; i < 24; ++i) {
        p.clock(i, kind.control);
        for (int f = 0; f < kind.fillers; ++f) p.ffma(static_cast<unsigned>(f), kind.control);
      }
      const auto t = times(bench, p, active, memory);
      unsigned first = ~0u;
      for (const auto& [warp, list] : t) first = std::min(first, list[0]);
      for (const auto& [warp, list] : t) {
        std::vector<double> relative;
        for (unsigned v : list) relative.push_back(v - first);
        Answer("issue_order", "clock at each CS2R.32 of a warp, warps of one sub-core together")
            .add_text("program", kind.name)
            .add("warps", static_cast<double>(t.size()))
            .add("warp", warp)
            .add("clocks", relative)
            .print(relative.back(), "cycle", 0);
      }
    }
  }
}

/// Bytes between lanes that make an access of this name conflict-free.
int lane_stride_of(const std::string& name) {
  if (name.find(".128") != std::string::npos) return 16;
  return name.find(".64") != std::string::npos ? 8 : 4;
}

using Emit = std::function<void(Program&, unsigned, const Control&)>;

std::vector<std::pair<std::string, Emit>> memory_kinds() {
  std::vector<std::pair<std::string, Emit>> kinds;
  for (int words : {1, 2, 4}) {
    const std::string bits = std::to_string(words * 32);
    kinds.emplace_back("LDG." + bits,
                       [words](Program& p, unsigned i, const Control& c) { p.ldg(words, i % 8 * 512, c); });
    kinds.emplace_back("LDS." + bits,
                       [words](Program& p, unsigned i, const Control& c) { p.lds(words, i % 8 * 512, c); });
    kinds.emplace_back("STG." + bits,
                       [words](Program& p, unsigned i, const Control& c) { p.stg(words, i % 8 * 512, c); });
    kinds.emplace_back("STS." + bits,
                       [words](Program& p, unsigned i, const Control& c) { p.sts(words, i % 8 * 512, c); });
  }
  for (const char* name : {"MUFU.EX2", "POPC", "F2I", "S2R", "LDC", "S2UR", "R2UR", "ATOMS.ADD"}) {
    kinds.emplace_back(name, [name](Program& p, unsigned, const Control& c) { p.one_register(name, c); });
  }
  return kinds;
}

void queues(const Bench& bench, Buffer<char>& memory) {
  for (const auto& [name, emit] : memory_kinds()) {
    for (unsigned active : {0x1u, 0x3u, 0x7u, 0xfu}) {
      std::map<int, std::vector<double>> issued;
      for (unsigned n = 1; n <= 20; ++n) {
        Program p(bench);
        p.clock(0, {2});
        for (unsigned i = 0; i < n; ++i) emit(p, i, {1});
        p.clock(1);
        for (const auto& [warp, list] : times(bench, p, active, memory, lane_stride_of(name))) {
          issued[warp].push_back(list[1] - list[0]);
        }
      }
      for (const auto& [warp, list] : issued) {
        Answer("issue_queue", "cycles from a clock read (stall 2) to the one after n instructions of stall 1")
            .add_text("operation", name)
            .add("sub_cores", static_cast<double>(issued.size()))
            .add("warp", warp)
            .add("after_n", list)
            .print(list.back(), "cycle", 0);
      }
    }
  }
}

void latencies(const Bench& bench, Buffer<char>& memory) {
  for (const auto& [name, emit] : memory_kinds()) {
    for (bool write : {true, false}) {
      const bool store = name.substr(0, 2) == "ST";
      if (write && store) continue;
      if (!write && (name == "S2R" || name == "LDC" || name == "S2UR")) continue;
      Program p(bench);
      p.clock(0, {1});
      Control c{2};
      (write ? c.write_scoreboard : c.read_scoreboard) = 0;
      emit(p, 0, c);
      p.clock(1, {1, 1, 7, 7, 1});
      std::vector<double> values;
      for (int r = 0; r < 3; ++r) {
        const auto t = times(bench, p, 1, memory, lane_stride_of(name));
        values.push_back(static_cast<double>(t.at(0)[1] - t.at(0)[0]) - 1);
      }
      Answer("scoreboard_latency",
             write ? "cycles from issue until a waiting instruction issues: result ready (RAW)"
                   : "cycles from issue until a waiting instruction issues: sources read (WAR)")
          .add_text("operation", name)
          .add_text("hazard", write ? "RAW" : "WAR")
          .print(summarize(values), "cycle");
    }
  }
}

/// Clock around a branch; the instructions it skips are NOPs.
void branches(const Bench& bench, Buffer<char>& memory) {
  struct Kind {
    const char* name;
    unsigned skip;
    bool taken;
  };
  for (const Kind& kind : {Kind{"not taken", 0, false}, Kind{"taken to the next instruction", 0, true},
                           Kind{"taken over 1", 1, true}, Kind{"taken over 8", 8, true},
                           Kind{"taken over 32", 32, true}, Kind{"taken over 100", 100, true}}) {
    Program p(bench);
    for (unsigned i = 0; i < 2; ++i) {  // twice, so that nothing is cold the second time
      p.clock(2 * i, {1});
      p.branch(kind.skip, kind.taken, {5});
      for (unsigned n = 0; n < kind.skip; ++n) p.nop();
      p.clock(2 * i + 1, {1});
    }
    std::vector<double> values;
    for (int r = 0; r < 3; ++r) {
      const auto t = times(bench, p, 1, memory);
      values.push_back(static_cast<double>(t.at(0)[3] - t.at(0)[2]) - 1);
    }
    Answer("branch", "cycles from the issue of a branch (stall 5) to that of the instruction after it, one warp")
        .add_text("kind", kind.name)
        .add("skipped", kind.skip)
        .print(summarize(values), "cycle");
  }
}

/// Two kinds of memory instruction in turn, stall 1, on 1 and on 4 sub-cores.
void mixes(const Bench& bench, Buffer<char>& memory) {
  const auto kinds = memory_kinds();
  auto find = [&](const std::string& name) {
    for (const auto& k : kinds) {
      if (k.first == name) return k.second;
    }
    std::fprintf(stderr, "no kind %s\n", name.c_str());
    std::exit(2);
  };
  const std::pair<const char*, const char*> pairs[] = {
      {"LDG.32", "LDS.32"}, {"LDG.32", "STS.32"}, {"LDS.32", "STS.32"},   {"LDG.32", "STG.32"},
      {"LDS.32", "LDC"},    {"LDS.32", "S2R"},    {"MUFU.EX2", "LDS.32"}, {"LDG.128", "LDS.128"}};
  for (const auto& [one, other] : pairs) {
    for (unsigned active : {0x1u, 0xfu}) {
      std::map<int, std::vector<double>> issued;
      for (unsigned n = 4; n <= 32; n += 4) {
        Program p(bench);
        p.clock(0, {2});
        for (unsigned i = 0; i < n; ++i) (i % 2 ? find(other) : find(one))(p, i, {1});
        p.clock(1);
        for (const auto& [warp, list] : times(bench, p, active, memory, lane_stride_of(one))) {
          issued[warp].push_back(list[1] - list[0]);
        }
      }
      for (const auto& [warp, list] : issued) {
        Answer("issue_mix", "cycles from a clock read (stall 2) to the one after 4, 8, .. 32 instructions")
            .add_text("first", one)
            .add_text("second", other)
            .add("sub_cores", static_cast<double>(issued.size()))
            .add("warp", warp)
            .add("after_4_8_to_32", list)
            .print(list.back(), "cycle", 0);
      }
    }
  }
}

int main(int, char** words) {
  const Bench bench = load_bench(std::string(words[0]) + "_slots.cubin");
  if (std::getenv("FORETRACE_DUMP_PROGRAM") != nullptr) {
    Program p(bench);
    for (const auto& [name, emit] : memory_kinds())
      emit(p, 1, {2, 1, name[0] == 'S' && name[1] == 'T' ? 7u : 0u, 7, 1});
    p.branch(0, true, {5});
    p.branch(3, false, {5});
    p.clock(0);
    p.ffma(0);
    p.nop(1, 0x3f);
    const auto image = image_of(bench, p);
    std::fwrite(image.data(), 1, image.size(), stdout);
    return 0;
  }
  CHECK(cudaFree(nullptr));
  Buffer<char> memory(1 << 20);
  memory.zero();
  order(bench, memory);
  queues(bench, memory);
  latencies(bench, memory);
  branches(bench, memory);
  mixes(bench, memory);
  return 0;
}
