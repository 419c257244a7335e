// Which operand registers slow an instruction down, what does reuse save, and which pipes overlap?
//
// Models:  a loop of 512 instructions whose registers, reuse bits and stall counts are chosen here,
//          bit by bit: the words are written into register_banks_slots' cubin before it is loaded,
//          so that no compiler chooses them. Values are garbage; only the clock is read.
// Ignores: write-port conflicts with loads.
// Source:  encodings and control bits as nvdisasm prints them for our own kernels of sm_90 (patch.h).
#include <functional>

#include "patch.h"

using namespace bench;

/// The bits of an operation apart from registers and control.
struct Operation {
  const char* name;
  std::uint64_t low, high;
  int sources;
};
const Operation kFfma{"FFMA", 0x7223, 0, 3};
const Operation kFadd{"FADD", 0x7221, 0, 2};
const Operation kFmul{"FMUL", 0x7220, 0x400000, 2};
const Operation kIadd3{"IADD3", 0x7210, 0x07ffe000, 3};
const Operation kImad{"IMAD", 0x7224, 0x078e0200, 3};
const Operation kLop3{"LOP3", 0x7212, 0x078ee200, 3};
const Operation kShf{"SHF", 0x7219, 0x00010e00, 3};

struct Slot {
  Operation op = kFfma;
  unsigned d = 0, a = 0, b = 0, c = 0;
  unsigned reuse = 0;  // bit 0: source a, 1: b, 2: c
  unsigned stall = 1;
  unsigned keep_going = 1;  // the yield bit as stored: 0 asks the scheduler to prefer another warp
};

Word encode(const Slot& s) {
  Word w{s.op.low, s.op.high};
  w.low |= static_cast<std::uint64_t>(s.d) << 16 | static_cast<std::uint64_t>(s.a) << 24 |
           static_cast<std::uint64_t>(s.b) << 32;
  if (s.op.sources == 3) w.high |= s.c;
  return with_control(w, {s.stall, s.keep_going, 7, 7, 0, s.reuse});
}

/// The cubin, its slots, and the registers that the slots may write.
struct Template {
  Cubin cubin;
  std::vector<std::size_t> slots;  // offsets of the FFMA of the loop
  std::vector<unsigned> even, odd;
};

Template load_template(const std::string& path) {
  Template t;
  t.cubin = read_cubin(path);
  for (std::size_t at = t.cubin.begin; at + 16 <= t.cubin.end; at += 16) {
    const Word w = t.cubin.at(at);
    if (!is_ffma(w)) continue;
    t.slots.push_back(at);
    const auto d = static_cast<unsigned>(w.low >> 16 & 0xff);
    auto& list = d % 2 ? t.odd : t.even;
    if (std::find(list.begin(), list.end(), d) == list.end()) list.push_back(d);
  }
  if (t.slots.size() != 512 || t.even.size() < 4 || t.odd.size() < 4) {
    std::fprintf(stderr, "%s: %zu slots, %zu even and %zu odd registers; expected 512, 4 and 4\n",
                 path.c_str(), t.slots.size(), t.even.size(), t.odd.size());
    std::exit(2);
  }
  return t;
}

using Filler = std::function<Slot(const Template&, unsigned)>;

double cycles(const Template& t, const Filler& fill, int warps, int sub_cores) {
  std::vector<char> image = t.cubin.image;
  for (unsigned i = 0; i < t.slots.size(); ++i) {
    const Word w = encode(fill(t, i));
    std::memcpy(image.data() + t.slots[i], &w, 16);
  }
  Loaded kernel(image);
  Buffer<unsigned long long> out(64);
  Buffer<float> sink(1);
  double t_of[2] = {0, 0};
  for (int long_run : {0, 1}) {
    unsigned long long* out_pointer = out.get();
    float* sink_pointer = sink.get();
    float x = 0.5f, y = 1.5f;
    int iterations = long_run ? 48 : 16;
    void* arguments[] = {&out_pointer, &sink_pointer, &x, &y, &iterations, &sub_cores};
    out.zero();
    kernel.launch(static_cast<unsigned>(128 * warps), arguments);
    const auto stamps = out.download();
    unsigned long long begin = 0, last = 0;  // as in span()
    for (std::size_t w = 0; w < 32; ++w) {
      if (stamps[2 * w + 1] == 0) continue;
      begin = std::max(begin, stamps[2 * w]);
      last = std::max(last, stamps[2 * w + 1]);
    }
    t_of[long_run] = static_cast<double>(last - begin);
  }
  return (t_of[1] - t_of[0]) / (32.0 * 512.0) / warps;
}

void ask(const Template& t, const std::string& pattern, const Filler& fill) {
  for (int warps : {1, 2, 4}) {
    std::vector<double> values;
    for (int r = 0; r < 3; ++r) values.push_back(cycles(t, fill, warps, 1));
    Answer("register_banks", "cycles of a sub-core an instruction of the pattern")
        .add_text("pattern", pattern)
        .add("warps_a_sub_core", warps)
        .print(summarize(values), "cycle");
  }
}

/// Source registers of the wished parity; consecutive instructions take different ones.
unsigned source(unsigned i, unsigned which, int parity) {
  return (i * 3 + which * 5) % 12 * 2 + static_cast<unsigned>(parity);
}

/// Every instruction has sources of these parities; 0 even, 1 odd.
Filler parities(const Operation& op, int pa, int pb, int pc, int pd, unsigned stall = 1,
                unsigned keep_going = 1) {
  return [=](const Template& t, unsigned i) {
    Slot s;
    s.op = op;
    s.d = pd ? t.odd[i % 4] : t.even[i % 4];
    s.a = source(i, 0, pa);
    s.b = source(i, 1, pb);
    s.c = source(i, 2, pc);
    s.stall = stall;
    s.keep_going = keep_going;
    return s;
  };
}

/// Conflict-free instructions of the given kinds in turn.
Filler mix(std::vector<Operation> ops) {
  return [ops](const Template& t, unsigned i) {
    Slot s = parities(ops[i % ops.size()], 0, 1, 1, static_cast<int>(i % 2))(t, i);
    // Source a even; b and c the same odd register: two bank reads at most.
    s.c = s.b;
    return s;
  };
}

int main(int, char** words) {
  CHECK(cudaFree(nullptr));
  const Template t = load_template(std::string(words[0]) + "_slots.cubin");
  const char* names[] = {"even", "odd"};
  for (int pattern : {0, 1, 2, 4, 7, 6, 5, 3}) {
    const int pa = pattern >> 2 & 1, pb = pattern >> 1 & 1, pc = pattern & 1;
    const std::string text = std::string(names[pa]) + " " + names[pb] + " " + names[pc];
    ask(t, "FFMA " + text + " -> even", parities(kFfma, pa, pb, pc, 0));
  }
  ask(t, "FFMA even even even -> odd", parities(kFfma, 0, 0, 0, 1));
  ask(t, "FFMA even odd even -> odd", parities(kFfma, 0, 1, 0, 1));
  ask(t, "FFMA even odd even -> even, stall 2", parities(kFfma, 0, 1, 0, 0, 2));
  ask(t, "FFMA even even even -> even, stall 2", parities(kFfma, 0, 0, 0, 0, 2));
  ask(t, "FFMA even odd even -> even, yield", parities(kFfma, 0, 1, 0, 0, 1, 0));
  ask(t, "FFMA even odd even -> even, stall 2 yield", parities(kFfma, 0, 1, 0, 0, 2, 0));
  auto with = [](Filler base, std::function<void(Slot&, unsigned)> change) {
    return [=](const Template& u, unsigned i) {
      Slot s = base(u, i);
      change(s, i);
      return s;
    };
  };
  const Filler all_even = parities(kFfma, 0, 0, 0, 0);
  ask(t, "FFMA one register three times", with(all_even, [](Slot& s, unsigned) { s.b = s.c = s.a; }));
  ask(t, "FFMA even even(same as a) even", with(all_even, [](Slot& s, unsigned) { s.b = s.a; }));
  ask(t, "FFMA all even, a fixed, no reuse", with(all_even, [](Slot& s, unsigned) { s.a = 2; }));
  ask(t, "FFMA all even, a fixed with reuse",
      with(all_even, [](Slot& s, unsigned) { s.a = 2, s.reuse = 1; }));
  ask(t, "FFMA all even, b fixed with reuse",
      with(all_even, [](Slot& s, unsigned) { s.b = 2, s.reuse = 2; }));
  ask(t, "FFMA all even, a and b fixed with reuse",
      with(all_even, [](Slot& s, unsigned) { s.a = 2, s.b = 4, s.reuse = 3; }));
  ask(t, "FFMA all even, a fixed for two with reuse on the first",
      with(all_even, [](Slot& s, unsigned i) { s.a = i / 2 % 12 * 2, s.reuse = i % 2 ? 0 : 1; }));
  ask(t, "FFMA all even, a fixed for four with reuse on the first three",
      with(all_even, [](Slot& s, unsigned i) { s.a = i / 4 % 12 * 2, s.reuse = i % 4 == 3 ? 0 : 1; }));
  ask(t, "FFMA all even, c is the destination", with(all_even, [](Slot& s, unsigned) { s.c = s.d; }));
  for (const Operation& op : {kFadd, kFmul}) {
    ask(t, std::string(op.name) + " even even -> even", parities(op, 0, 0, 0, 0));
    ask(t, std::string(op.name) + " even odd -> even", parities(op, 0, 1, 0, 0));
  }
  for (const Operation& op : {kIadd3, kImad, kLop3, kShf}) {
    ask(t, std::string(op.name) + " even even even -> even", parities(op, 0, 0, 0, 0));
    ask(t, std::string(op.name) + " even odd even -> even", parities(op, 0, 1, 0, 0));
    ask(t, std::string(op.name) + " even odd even -> odd", parities(op, 0, 1, 0, 1));
  }
  const std::vector<std::pair<std::string, std::vector<Operation>>> mixes = {
      {"FFMA", {kFfma}},
      {"FFMA IADD3", {kFfma, kIadd3}},
      {"FFMA LOP3", {kFfma, kLop3}},
      {"FFMA IMAD", {kFfma, kImad}},
      {"FFMA FFMA IADD3", {kFfma, kFfma, kIadd3}},
      {"FFMA FFMA IMAD", {kFfma, kFfma, kImad}},
      {"FFMA FFMA FFMA IADD3", {kFfma, kFfma, kFfma, kIadd3}},
      {"IADD3", {kIadd3}},
      {"IMAD", {kImad}},
      {"IADD3 IMAD", {kIadd3, kImad}},
      {"LOP3 IADD3", {kLop3, kIadd3}},
      {"FADD FMUL", {kFadd, kFmul}},
      {"FFMA IADD3 IMAD", {kFfma, kIadd3, kImad}},
      {"SHF IMAD", {kShf, kImad}},
  };
  for (const auto& [name, ops] : mixes) ask(t, "mix of " + name, mix(ops));
  return 0;
}
