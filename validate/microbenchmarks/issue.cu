// When does each instruction of a warp issue, and when is its result there?
//
// Models:  straight-line programs written word by word (patch.h), with a clock read after any
//          instruction: the order in which the warps of a sub-core issue; the clock after n memory
//          instructions with stall count 1 (queue depth and the rate behind it); the cycles until a
//          result may be used (write scoreboard) and a source overwritten (read scoreboard).
// Ignores: misses: every access hits L1, shared memory or the constant cache.
// Source:  the back-to-back and dependence methods of HUE Tables 1 and 2.
#include "slot_program.h"

using namespace bench;

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
      p.keep_together(kind.skip + 3);
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
