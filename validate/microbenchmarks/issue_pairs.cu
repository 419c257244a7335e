// What does one instruction cost the one behind it?
//
// Models:  pairs of instructions of one warp, written word by word (slot_program.h): every operation before every other
//          with stall count 1 (issue_pair), the same with growing stall counts (issue_stall), 1 to 16 warps in
//          rounds of a tree in shared memory (tree_round); jumps and reconvergence among the operations.
//          With `counters`: one pair a launch, for the states that ncu books its cycles to (issue_states).
// Ignores: misses; results: no instruction waits for another's scoreboard.
// Source:  the SM's clock between the third and the ninth pair; ncu.
#include <cstring>

#include "slot_program.h"

using namespace bench;

/// Emits an operation with the control bits `c`. Operands are ready; results go to scratch.
struct Operation {
  const char* name;
  std::function<void(Program&, const Control&)> emit;
  bool control = false;  ///< may jump, or waits for other lanes or warps
};

std::vector<Operation> operations() {
  std::vector<Operation> all;
  const auto even = [](Program& p, unsigned i = 0) { return p.of_bank(0, i); };
  const auto odd = [](Program& p, unsigned i = 0) { return p.of_bank(1, i); };
  const auto put = [&](const char* name, auto word) {
    all.push_back({name, [word](Program& p, const Control& c) { p.add(word(p, p.quad() << 16), c); }});
  };
  constexpr std::uint64_t kUniform = 8, kConstant = 0x84ull << 40;  // UR8; c[0][0x210]
  put("NOP", [=](Program&, std::uint64_t) { return Word{0x7918, 0}; });
  put("FFMA", [=](Program& p, std::uint64_t d) { return Word{0x7223 | d | even(p) << 24 | even(p) << 32, even(p)}; });
  put("FFMA even even odd", [=](Program& p, std::uint64_t d) {
    return Word{0x7223 | d | even(p) << 24 | even(p, 1) << 32, odd(p)};
  });
  put("FFMA even even even", [=](Program& p, std::uint64_t d) {
    return Word{0x7223 | d | even(p) << 24 | even(p, 1) << 32, even(p, 2)};
  });
  put("FFMA constant", [=](Program& p, std::uint64_t d) { return Word{0x7a23 | d | even(p) << 24 | kConstant, even(p)}; });
  put("FFMA uniform", [=](Program& p, std::uint64_t d) {
    return Word{0x7c23 | d | even(p) << 24 | kUniform << 32, 0x08000000 | even(p)};
  });
  put("FMUL immediate", [=](Program& p, std::uint64_t d) { return Word{0x7820 | d | even(p) << 24 | 0x3d372713ull << 32, 0x400000}; });
  put("IADD3", [=](Program& p, std::uint64_t d) { return Word{0x7210 | d | even(p) << 24 | even(p) << 32, 0x07ffe000 | even(p)}; });
  put("IADD3 even even even", [=](Program& p, std::uint64_t d) {
    return Word{0x7210 | d | even(p) << 24 | even(p, 1) << 32, 0x07ffe000 | even(p, 2)};
  });
  put("IADD3 uniform", [=](Program& p, std::uint64_t d) { return Word{0x7c10 | d | even(p) << 24 | kUniform << 32, 0x0fffe0ff}; });
  put("IADD3 of the address", [=](Program& p, std::uint64_t) {
    return Word{0x7210 | p.pointer() << 16 | p.pointer() << 24 | 0xffull << 32, 0x07ffe0ff};
  });
  put("LOP3", [=](Program& p, std::uint64_t d) { return Word{0x7212 | d | even(p) << 24 | even(p) << 32, 0x078ec0ff}; });
  put("SHF one register", [=](Program& p, std::uint64_t d) { return Word{0x7819 | d | even(p) << 24 | 6ull << 32, 0x1e00 | even(p)}; });
  put("SHF even odd", [=](Program& p, std::uint64_t d) { return Word{0x7819 | d | even(p) << 24 | 6ull << 32, 0x1200 | odd(p)}; });
  put("SHF even even", [=](Program& p, std::uint64_t d) { return Word{0x7819 | d | even(p) << 24 | 6ull << 32, 0x1200 | even(p, 1)}; });
  put("SHF even", [=](Program& p, std::uint64_t d) { return Word{0x7819 | d | even(p) << 24 | 6ull << 32, 0x6ff}; });
  put("LEA", [=](Program& p, std::uint64_t d) { return Word{0x7211 | d | even(p) << 24 | odd(p) << 32, 0x078e10ff}; });
  put("IMAD", [=](Program& p, std::uint64_t d) { return Word{0x7224 | d | even(p) << 24 | even(p) << 32, 0x078e0200 | even(p)}; });
  put("IMAD even even even", [=](Program& p, std::uint64_t d) {
    return Word{0x7224 | d | even(p) << 24 | even(p, 1) << 32, 0x078e0200 | even(p, 2)};
  });
  put("IMAD uniform", [=](Program& p, std::uint64_t d) {
    return Word{0x7c24 | d | even(p) << 24 | kUniform << 32, 0x0f8e0200 | even(p)};
  });
  put("IMAD.MOV", [=](Program& p, std::uint64_t d) { return Word{0xff007224 | d | 0xffull << 32, 0x078e0000 | even(p)}; });
  put("IMAD.WIDE", [=](Program& p, std::uint64_t d) {
    return Word{0x7825 | d | even(p) << 24 | 4ull << 32, 0x078e0200 | (p.quad() + 2)};
  });
  put("IMAD.WIDE two registers", [=](Program& p, std::uint64_t d) {
    return Word{0x7225 | d | even(p) << 24 | odd(p) << 32, 0x078e0200 | (p.quad() + 2)};
  });
  put("IMAD.WIDE no addend", [=](Program& p, std::uint64_t d) { return Word{0x7825 | d | even(p) << 24 | 4ull << 32, 0x078e02ff}; });
  put("IMAD.WIDE of the address", [=](Program& p, std::uint64_t) {
    return Word{0x7825 | p.pointer() << 16 | 0xff000000 | 4ull << 32, 0x078e0200 | p.pointer()};
  });
  put("IMAD.HI", [=](Program& p, std::uint64_t d) { return Word{0x7227 | d | even(p) << 24 | even(p) << 32, 0x078e0000 | even(p)}; });
  put("HFMA2.MMA", [=](Program&, std::uint64_t d) { return Word{0xff007435 | d, 0x1ff}; });
  put("VIADD", [=](Program& p, std::uint64_t d) { return Word{0x7836 | d | even(p) << 24 | 5ull << 32, 0}; });
  put("MOV", [=](Program& p, std::uint64_t d) { return Word{0x7202 | d | even(p) << 32, 0xf00}; });
  put("MOV immediate", [=](Program&, std::uint64_t d) { return Word{0x7802 | d | 0x200ull << 32, 0xf00}; });
  put("MOV uniform", [=](Program&, std::uint64_t d) { return Word{0x7c02 | d | kUniform << 32, 0x08000f00}; });
  put("FSEL immediate", [=](Program& p, std::uint64_t d) { return Word{0x7808 | d | even(p) << 24 | 0x3f800000ull << 32, 0x03800000}; });
  put("ISETP", [=](Program& p, std::uint64_t) { return Word{0x720c | even(p) << 24 | even(p) << 32, 0x03fa6270}; });
  put("PLOP3", [=](Program&, std::uint64_t) { return Word{0x781c, 0x03faf070}; });
  put("I2FP", [=](Program& p, std::uint64_t d) { return Word{0x7245 | d | even(p) << 32, 0x201400}; });
  put("CS2R", [=](Program&, std::uint64_t d) { return Word{0x7805 | d, 0x5000}; });
  put("DFMA", [=](Program& p, std::uint64_t d) {
    return Word{0x722b | d | (p.quad() + 2) << 24 | (p.quad() + 2) << 32, p.quad() + 2};
  });
  put("DADD", [=](Program& p, std::uint64_t d) { return Word{0x7229 | d | (p.quad() + 2) << 24, p.quad() + 2}; });
  put("MUFU", [=](Program& p, std::uint64_t d) { return Word{0x7308 | d | even(p) << 32, 0x1000}; });
  put("F2I", [=](Program& p, std::uint64_t d) { return Word{0x7305 | d | even(p) << 32, 0x20f100}; });
  put("POPC", [=](Program& p, std::uint64_t d) { return Word{0x7309 | d | even(p) << 32, 0}; });
  put("SHFL", [=](Program& p, std::uint64_t d) { return Word{0x0e001f0000007f89ull | d | even(p) << 24, 0xe0000}; });
  put("S2R TID", [=](Program&, std::uint64_t d) { return Word{0x7919 | d, 0x2100}; });
  put("S2R CTAID", [=](Program&, std::uint64_t d) { return Word{0x7919 | d, 0x2500}; });
  put("LDC", [=](Program&, std::uint64_t d) { return Word{0xff007b82 | d | kConstant, 0x800}; });
  put("LDC.64", [=](Program&, std::uint64_t d) { return Word{0xff007b82 | d | kConstant, 0xa00}; });
  put("LDS", [=](Program& p, std::uint64_t d) { return Word{p.shared() << 24 | d | 0x7984, 0x800}; });
  put("LDG", [=](Program& p, std::uint64_t d) {
    return Word{Program::kDescriptor << 32 | p.pointer() << 24 | d | 0x7981, 0x0c1e1900};
  });
  put("STG", [=](Program& p, std::uint64_t) {
    return Word{p.quad() << 32 | p.pointer() << 24 | 0x7986, 0x0c101900 | Program::kDescriptor};
  });
  put("ULDC", [=](Program&, std::uint64_t) { return Word{0x7ab9 | kUniform << 16 | kConstant, 0x800}; });
  put("ULDC.64", [=](Program&, std::uint64_t) { return Word{0x7ab9 | kUniform << 16 | kConstant, 0xa00}; });
  put("UIADD3", [=](Program&, std::uint64_t) { return Word{0x7890 | 9ull << 16 | kUniform << 24 | 4ull << 32, 0x0fffe03f}; });
  put("UMOV", [=](Program&, std::uint64_t) { return Word{0x7882 | 9ull << 16 | 4ull << 32, 0}; });
  put("ULOP3", [=](Program&, std::uint64_t) { return Word{0x7892 | 9ull << 16 | kUniform << 24 | 3ull << 32, 0x0f8ec03f}; });
  put("UIMAD", [=](Program&, std::uint64_t) { return Word{0x72a4 | 9ull << 16 | kUniform << 24 | kUniform << 32, 0x0f8e023f}; });
  put("UISETP", [=](Program&, std::uint64_t) { return Word{0x788c | kUniform << 24 | 1ull << 32, 0x0bfa6270}; });
  put("R2UR", [=](Program& p, std::uint64_t) { return Word{even(p) << 24 | 0x00090000 | 0x72ca, 0x0e0000}; });
  put("S2UR", [=](Program&, std::uint64_t) { return Word{0x00090000 | 0x79c3, 0x2500}; });
  const std::size_t straight = all.size();
  put("BRA never", [=](Program&, std::uint64_t) { return Word{0xf947, 0x03800000}; });
  put("BRA not taken", [=](Program&, std::uint64_t) { return Word{0xd947, 0x03800000}; });  // @!P5, which is true
  put("BRA taken", [=](Program&, std::uint64_t) { return Word{0x5947, 0x03800000}; });      // @P5, to the next
  put("BRA", [=](Program&, std::uint64_t) { return Word{0x7947, 0x03800000}; });
  put("EXIT not taken", [=](Program&, std::uint64_t) { return Word{0xd94d, 0x03800000}; });
  put("WARPSYNC.ALL", [=](Program&, std::uint64_t) { return Word{0x7948, 0x03800000}; });
  put("BSSY", [=](Program&, std::uint64_t) { return Word{0x00057945 | 16ull << 32, 0x03800000}; });
  put("BREAK not taken", [=](Program&, std::uint64_t) { return Word{0x0005d942, 0x03800000}; });
  put("CALL to the next", [=](Program&, std::uint64_t) { return Word{0x7944, 0x03c00000}; });
  all.push_back({"BSSY, BSYNC", [](Program& p, const Control& c) {
                   p.add({0x00057945 | 16ull << 32, 0x03800000}, {12});
                   p.add({0x00057941, 0x03800000}, c);
                 }});
  put("BAR.SYNC", [=](Program&, std::uint64_t) { return Word{0x7b1d, 0x10000}; });
  for (std::size_t i = straight; i < all.size(); ++i) all[i].control = true;
  return all;
}

const Operation& find(const std::vector<Operation>& all, const std::string& name) {
  for (const Operation& o : all) {
    if (name == o.name) return o;
  }
  std::fprintf(stderr, "no operation %s\n", name.c_str());
  std::exit(2);
}

void drain(Program& p) {
  p.nop(15, 0x3f);
  p.nop(15);
  p.nop(15);
  p.nop(15);
}

/// Sets predicate 5 true.
void begin(Program& p) {
  p.add({0x781c, 0x03faf070}, {15});
  drain(p);
}

struct Pair {
  const Operation* first;
  const Operation* second;
  Control first_control, second_control;
};

/// Cycles a pair: between the clock after two pairs and the one after eight, the warp alone.
std::vector<double> intervals(const Bench& bench, Buffer<char>& memory, const std::vector<Pair>& pairs) {
  std::vector<double> result;
  std::size_t next = 0;
  while (next < pairs.size()) {
    Program p(bench);
    begin(p);
    unsigned clocks = 0;
    const std::size_t from = next;
    for (; next < pairs.size() && clocks + 3 <= 24; ++next) {
      Program with = p;
      const Pair& pair = pairs[next];
      const auto some = [&](int n) {
        for (int i = 0; i < n; ++i) {
          pair.first->emit(with, pair.first_control);
          pair.second->emit(with, pair.second_control);
        }
      };
      with.clock(clocks, {2});
      some(2);
      with.clock(clocks + 1, {2});
      some(8);
      with.clock(clocks + 2, {2});
      drain(with);
      if (with.words().size() + 2 > bench.slots.size()) break;
      p = with;
      clocks += 3;
    }
    const auto t = times(bench, p, 1, memory).at(0);
    for (unsigned i = 0; i + from < next; ++i) {
      const double two = t[3 * i + 1] - t[3 * i], eight = t[3 * i + 2] - t[3 * i + 1];
      result.push_back((eight - two) / 6);
    }
  }
  return result;
}

void matrix(const Bench& bench, Buffer<char>& memory, const std::vector<Operation>& all) {
  std::string names;
  for (const Operation& o : all) {
    if (!o.control) names += std::string(names.empty() ? "" : "; ") + o.name;
  }
  for (const Operation& first : all) {
    if (first.control) continue;
    std::vector<Pair> pairs;
    for (const Operation& second : all) {
      if (!second.control) pairs.push_back({&first, &second, {1}, {1}});
    }
    const std::vector<double> cycles = intervals(bench, memory, pairs);
    Answer("issue_pair", "cycles a pair of instructions of stall 1, one warp, by the second one")
        .add_text("first", first.name)
        .add_text("seconds", names)
        .add("cycles", cycles)
        .print(cycles[0], "cycle", 0);
  }
}

/// `only`: the first operations that are asked; empty: all of them.
void stalls(const Bench& bench, Buffer<char>& memory, const std::vector<Operation>& all, const std::string& only) {
  for (const Operation& first : all) {
    if (!only.empty() && only != first.name) continue;
    for (const char* second : {"NOP", "FFMA", "IADD3", "IMAD", "IMAD.WIDE", "LDG", "LDS", "MUFU", "FFMA uniform", "IADD3 uniform", "UIADD3", "DFMA"}) {
      std::vector<Pair> pairs;
      for (unsigned stall = 1; stall <= 8; ++stall) pairs.push_back({&first, &find(all, second), {stall}, {1}});
      const std::vector<double> cycles = intervals(bench, memory, pairs);
      Answer("issue_stall", "cycles a pair of instructions, the first of stall 1 to 8, the second of 1, one warp")
          .add_text("first", first.name)
          .add_text("second", second)
          .add("cycles", cycles)
          .print(cycles.back(), "cycle", 0);
    }
  }
}

/// One pair a launch, 150 of them three times; the counters of ncu belong to the launch of that number.
void counters(const Bench& bench, Buffer<char>& memory, const std::vector<Operation>& all, const std::string& only) {
  struct Case {
    const char *first, *second;
    unsigned stall;
  };
  int launch = 0;
  for (const Case& c :
       {Case{"NOP", "NOP", 1}, Case{"NOP", "NOP", 5}, Case{"FFMA", "FFMA", 1}, Case{"FFMA even even even", "NOP", 1},
        Case{"FFMA even even even", "NOP", 6}, Case{"FFMA even even even", "FFMA", 1}, Case{"IADD3", "IADD3", 1},
        Case{"IMAD", "IMAD", 1}, Case{"IMAD.WIDE", "NOP", 1}, Case{"IMAD.WIDE", "NOP", 5},
        Case{"IMAD.WIDE", "IMAD.WIDE", 1}, Case{"IMAD.WIDE", "FFMA", 5}, Case{"IMAD.WIDE", "IADD3", 5},
        Case{"IMAD.WIDE of the address", "LDG", 5}, Case{"IADD3 of the address", "LDG", 5}, Case{"ULDC", "NOP", 1},
        Case{"ULDC", "ULDC", 1}, Case{"ULDC", "FFMA", 1}, Case{"UIADD3", "FFMA", 1}, Case{"UIADD3", "UIADD3", 1},
        Case{"FFMA constant", "FFMA constant", 1}, Case{"FFMA uniform", "FFMA uniform", 1}, Case{"SHF one register", "NOP", 4},
        Case{"BRA not taken", "NOP", 5}, Case{"BRA taken", "NOP", 5},
        Case{"EXIT not taken", "NOP", 5},
        Case{"LDC", "NOP", 1},
        Case{"S2R CTAID", "NOP", 1}, Case{"MUFU", "NOP", 1}, Case{"DFMA", "NOP", 1}, Case{"WARPSYNC.ALL", "NOP", 5},
        Case{"BREAK not taken", "NOP", 5}, Case{"CALL to the next", "NOP", 5}, Case{"BSSY, BSYNC", "NOP", 5},
        Case{"BAR.SYNC", "NOP", 5}}) {
    if (!only.empty() && only != c.first) continue;
    for (const unsigned active : {0x1u, 0x1111u}) {
      Program p(bench);
      begin(p);
      for (int i = 0; i < 100; ++i) {
        find(all, c.first).emit(p, {c.stall});
        find(all, c.second).emit(p, {1});
      }
      if (p.words().size() + 2 > bench.slots.size()) continue;
      times(bench, p, active, memory);
      Answer("issue_states", "counters of a launch with 300 pairs of instructions, the first of the stall, the second of 1")
          .add_text("first", c.first)
          .add_text("second", c.second)
          .add("stall", c.stall)
          .add("warps", active == 1 ? 1 : 4)
          .add("launch", launch++)
          .print(300, "pair", 0);
    }
  }
}

/// A round of a tree in shared memory: what its warps do between two barriers.
struct Round {
  const char* name;
  bool loads, stores, barrier;
};
constexpr Round kRounds[] = {{"two loads", true, false, false},
                             {"two loads, a store", true, true, false},
                             {"barrier", false, false, true},
                             {"two loads, barrier", true, false, true},
                             {"two loads, a store, barrier", true, true, true}};

/// `lanes`: whether the shared accesses have any.
Program rounds_of(const Bench& bench, const Round& round, bool lanes, int count) {
  Program p(bench);
  begin(p);
  const std::uint64_t guard = lanes ? 0x5000 : 0xd000;  // @P5, @!P5
  const std::uint64_t d = p.quad();
  const auto load = [&](unsigned r, const Control& c) { p.add({p.shared() << 24 | (d + r) << 16 | 0x984 | guard, 0x800}, c); };
  p.add({0x7b1d, 0x10000}, {6});
  p.nop(15);
  p.clock(0, {2});
  for (int i = 0; i < count; ++i) {
    if (round.loads) {
      load(0, {4});
      load(1, {2, 1, 0});
      p.add({0x7221 | (d + 2) << 16 | d << 24 | (d + 1) << 32, 0}, {5, 1, 7, 7, 1});  // FADD, waits for the second load
    }
    if (round.stores) p.add({(d + 2) << 32 | p.shared() << 24 | 0x388 | guard, 0x800}, {1});
    if (round.barrier) p.add({0x7b1d, 0x10000}, {6});
  }
  p.add({0x7b1d, 0x10000}, {6});
  p.nop(15);
  p.clock(1, {2});
  return p;
}

void rounds(const Bench& bench, Buffer<char>& memory) {
  for (const Round& round : kRounds) {
    for (const bool lanes : {true, false}) {
      std::vector<double> cycles;
      for (const unsigned active : {0x1u, 0xfu, 0xffu, 0xffffu}) {
        double spans[2];
        for (const int n : {0, 1}) {
          unsigned from = ~0u, to = 0;
          const auto t = times(bench, rounds_of(bench, round, lanes, n ? 36 : 12), active, memory);
          for (const auto& [warp, list] : t) from = std::min(from, list[0]);
          for (const auto& [warp, list] : t) to = std::max(to, list[1]);
          spans[n] = to - from;
        }
        cycles.push_back((spans[1] - spans[0]) / 24);
      }
      Answer("tree_round", "cycles a round of 1, 4, 8, 16 warps, each waiting for its own loads")
          .add_text("round", round.name)
          .add("lanes", lanes ? 32 : 0)
          .add("cycles", cycles)
          .print(cycles.back(), "cycle", 0);
    }
  }
}

int main(int count, char** words) {
  std::string path = words[0];
  path = path.substr(0, path.rfind('/') + 1) + "issue_slots.cubin";
  const Bench bench = load_bench(path);
  const std::vector<Operation> all = operations();
  if (count == 6 && std::strcmp(words[1], "dump") == 0) {  // FIRST SECOND STALL PAIRS: the kernel with such a program
    Program p(bench);
    begin(p);
    p.clock(0, {2});
    for (int i = 0; i < std::atoi(words[5]); ++i) {
      find(all, words[2]).emit(p, {static_cast<unsigned>(std::atoi(words[4]))});
      find(all, words[3]).emit(p, {1});
    }
    p.clock(1, {2});
    const auto image = image_of(bench, p);
    std::fwrite(image.data(), 1, image.size(), stdout);
    return 0;
  }
  if (count == 5 && std::strcmp(words[1], "dump_rounds") == 0) {  // ROUND LANES COUNT
    const auto image = image_of(bench, rounds_of(bench, kRounds[std::atoi(words[2])], std::atoi(words[3]) != 0, std::atoi(words[4])));
    std::fwrite(image.data(), 1, image.size(), stdout);
    return 0;
  }
  CHECK(cudaFree(nullptr));
  Buffer<char> memory(1 << 20);
  memory.zero();
  const std::string part = count > 1 ? words[1] : "", only = count > 2 ? words[2] : "";
  if (part == "counters") counters(bench, memory, all, only);
  if (part.empty() || part == "pairs") matrix(bench, memory, all);
  if (part.empty() || part == "stalls") stalls(bench, memory, all, only);
  if (part.empty() || part == "rounds") rounds(bench, memory);
  return 0;
}
