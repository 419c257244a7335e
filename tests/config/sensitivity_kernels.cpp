#include "tests/config/sensitivity_kernels.h"

#include <cstdio>

#include "model/units/units.h"
#include "model/work/address_space.h"
#include "model/work/warp_record.h"

namespace foretrace::config {
namespace {

/// A result in scoreboard 0, awaited by the next line.
void dependent(std::vector<Line>& lines, Line line) {
  line.write = 0;
  line.stall = 2;
  lines.push_back(line);
  lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
}

}  // namespace

Kernel one_of_each(int sm_number) {
  Kernel kernel{"one_of_each", {}, 3, 2, 2};
  auto& lines = kernel.lines;
  const std::string global = "desc[UR4][R2.64]";
  dependent(lines, {"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal});
  dependent(lines, {"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal});  // now from L1
  dependent(lines, {"LDG.E.64 R4, " + global, 1, 7, 7, 0, kGlobal, 8, 0});
  dependent(lines, {"TEX.LL RZ, R4, R6, R8, UR4, 0x0, 2D, 0x1", 1, 7, 7, 0, kGlobal});
  dependent(lines, {"LDS R4, [R2]", 1, 7, 7, 0, 0, 8, 0});
  dependent(lines, {"ATOMS.ADD R4, [R2], R5", 1, 7, 7, 0, 0, 8, 0});
  dependent(lines, {"LDSM.16.M88.4 R4, [R2]", 1, 7, 7, 0, 0, 16, 0});
  dependent(lines, {"MUFU.RCP R4, R5"});
  lines.push_back({"MUFU.RCP R4, R5", 1, 7, 1});
  lines.push_back({"IADD3 R5, R4, R5, RZ", 4, 7, 7, 2});  // as soon as it was read
  dependent(lines, {"SHFL.IDX PT, R4, R5, RZ, 0x1f"});
  dependent(lines, {"S2R R4, SR_TID.X"});
  dependent(lines, {"LDC R4, c[0x3][R5+0x10]"});
  dependent(lines, {"REDUX.SUM UR4, R5"});
  dependent(lines, {"MATCH.ANY R4, R5"});
  dependent(lines, {"MATCH.ANY.U64 R4, R8"});
  dependent(lines, {"ATOMG.E.ADD.STRONG.GPU PT, R4, " + global + ", R5", 1, 7, 7, 0, kGlobal});
  dependent(lines, {sm_number < 90 ? "DMMA.884 R4, R8, R10, R4" : "DMMA.8x8x4 R4, R8, R10, R4"});
  dependent(lines, {"DFMA R4, R6, R8, R4"});
  if (sm_number == 120) dependent(lines, {"LDCU UR4, c[0x3][0x40]"});
  lines.push_back({"STG.E " + global + ", R5", 2, 7, 1, 0, kGlobal});
  lines.push_back({"IADD3 R5, R4, R5, RZ", 4, 7, 7, 2});
  lines.push_back({"STG.E.128 " + global + ", R4", 2, 7, 1, 0, kGlobal, 16});
  lines.push_back({"IADD3 R5, R4, R5, RZ", 4, 7, 7, 2});
  lines.push_back({"BAR.SYNC.DEFER_BLOCKING 0x0", 5});
  lines.push_back({"MEMBAR.SC.GPU", 5});
  lines.push_back({"MEMBAR.SC.SYS", 5});
  lines.push_back({"MEMBAR.ALL.CTA", 5});
  lines.push_back({"YIELD", 5});
  lines.push_back({"IADD3 R1, R4, c[0x0][0x210], RZ", 4});
  lines.push_back({"BRA `(.L)", 5});
  return kernel;
}

Kernel back_to_back(int sm_number) {
  Kernel kernel{"back_to_back", {}, 2, 8, 2};
  std::vector<std::string> texts = {"IADD3 R1, R2, R5, RZ",
                                    "ISETP.NE.AND P0, PT, R1, R2, PT",
                                    "FFMA R1, R2, R5, R7",
                                    "FFMA R1, R2, R4, R6",
                                    "IMAD R1, R2, R5, R7",
                                    "IMAD.WIDE R2, R4, R5, R6",
                                    "HFMA2 R1, R2, R5, R7",
                                    "DFMA R2, R4, R6, R8",
                                    "MUFU.RCP R1, R5",
                                    "HMMA.16816.F32 R4, R8, R12, R4",
                                    "HMMA.1688.F32 R4, R8, R12, R4",
                                    "HMMA.1688.F32.TF32 R4, R8, R12, R4",
                                    "UIADD3 UR4, UR5, UR6, URZ",
                                    "REDUX.SUM UR4, R5",
                                    "LDC R4, c[0x3][R5+0x10]",
                                    "BSYNC B0",
                                    "S2R R4, SR_TID.X",
                                    "LDS R4, [R2]",
                                    "TEX.LL RZ, R4, R6, R8, UR4, 0x0, 2D, 0x1",
                                    "SUST.D.BA.2D.STRONG.SM.TRAP [R4], R6, UR4"};
  if (sm_number != 120) texts.push_back("HFMA2.MMA R1, R2, R5, R7");
  texts.push_back(sm_number < 90 ? "DMMA.884 R4, R8, R10, R4" : "DMMA.8x8x4 R4, R8, R10, R4");
  if (sm_number < 90)
    texts.insert(texts.end(), {"HMMA.1684.F32.TF32 R4, R8, R12, R4", "IMMA.16816.S8.S8 R4, R8, R12, R4"});
  if (sm_number == 89 || sm_number == 120) texts.push_back("HMMA.16816.F16 R4, R8, R12, R4");
  if (sm_number == 120) texts.push_back("HMMA.1688.F16 R4, R8, R12, R4");
  if (sm_number == 90) {
    texts.push_back("DMMA.16x8x8 R4, R8, R12, R4");
    for (const char* n : {"256", "128", "64", "32", "16", "8"}) {
      texts.push_back(std::string("HGMMA.64x") + n + "x16.F32 R24, gdesc[UR4], RZ, !UPT");
    }
  }
  for (const std::string& text : texts) {
    for (int i = 0; i < 6; ++i) kernel.lines.push_back({text, 1, 7, 7, 0, 0, 4, 0});
  }
  return kernel;
}

std::vector<Kernel> floods(int sm_number) {
  std::vector<Kernel> kernels;
  const std::string global = "desc[UR4][R2.64]";
  Kernel loads{"loads", {}, 1, 4, 1};
  for (std::uint64_t i = 0; i < 24; ++i)
    loads.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal, 4, 0});
  kernels.push_back(loads);
  Kernel many_lines{"many_lines", {}, 1, 16, 2};  // the second time L1 has them
  for (std::uint64_t i = 0; i < 24; ++i)
    many_lines.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal, 128, 0});
  kernels.push_back(many_lines);
  Kernel rows{"rows", {}, 1, 8, 2};  // loads that L1 has between stores of a line per lane
  for (std::uint64_t i = 0; i < 8; ++i) {
    rows.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal, 128, 0});
    rows.lines.push_back({"STG.E " + global + ", R5", 1, 7, 7, 0, kGlobal + 65536, 128, 0});
    rows.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal, 128, 0});
  }
  kernels.push_back(rows);
  Kernel jumps{"jumps", {}, 1, 1, 8};
  jumps.lines.push_back({"WARPSYNC R5", 5});
  jumps.lines.push_back({"BRX R4 -0x10", 5});
  kernels.push_back(jumps);
  Kernel reuse{"reuse", {}, 1, 1, 16};  // the address register is overwritten as soon as it was read
  reuse.lines.push_back({"LDG.E R4, " + global, 2, 7, 1, 0, kGlobal, 4, 0});
  reuse.lines.push_back({"IADD3 R2, R2, R5, RZ", 4, 7, 7, 2});
  kernels.push_back(reuse);
  Kernel shared_loads{"shared_loads", {}, 1, 1, 1};  // one sub-core, or the SM's memory unit is what limits
  for (std::uint64_t i = 0; i < 32; ++i) shared_loads.lines.push_back({"LDS R4, [R2]", 1, 7, 7, 0, 0, 4, 0});
  kernels.push_back(shared_loads);
  Kernel scattered{"scattered", {}, 2, 32, 2};  // a line per lane, and none twice
  for (std::uint64_t i = 0; i < 12; ++i) {
    scattered.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal + (i << 24), 128, 4096, 1 << 20});
  }
  kernels.push_back(scattered);
  Kernel sparse{"sparse", {}, 2, 32, 1};  // a sector per warp
  for (std::uint64_t i = 0; i < 16; ++i) {
    sparse.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal + (i << 24), 0, 4096});
  }
  kernels.push_back(sparse);
  Kernel wide{"wide", {}, 2, 32, 2};  // four whole lines per warp
  for (std::uint64_t i = 0; i < 24; ++i) {
    wide.lines.push_back({"LDG.E.128 R4, " + global, 1, 7, 7, 0, kGlobal + (i << 24), 16, 512, 1 << 20});
  }
  kernels.push_back(wide);
  Kernel common{"common", {}, 8, 1, 2};  // every SM wants the same lines
  for (std::uint64_t i = 0; i < 8; ++i) {
    common.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal + (i << 24), 4, 0, 1 << 20});
  }
  kernels.push_back(common);
  for (const char* text : {"MATCH.ANY R4, R5", "MATCH.ANY.U64 R4, R8"}) {
    Kernel matches{text, {}, 1, 32, 1};
    for (int i = 0; i < 4; ++i) matches.lines.push_back({text, 1});
    kernels.push_back(matches);
  }
  Kernel stores{"stores", {}, 4, 32, 2};
  for (std::uint64_t i = 0; i < 12; ++i) {
    stores.lines.push_back(
        {"STG.E.128 " + global + ", R4", 1, 7, 7, 0, kGlobal + (i << 24), 128, 4096, 1 << 20});
  }
  kernels.push_back(stores);
  Kernel conflicts{"conflicts", {}, 1, 1, 2};
  for (int i = 0; i < 8; ++i) conflicts.lines.push_back({"LDS R4, [R2]", 2, 0, 7, 0, 0, 128, 0});
  conflicts.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  kernels.push_back(conflicts);
  Kernel atomics{"atomics", {}, 8, 8, 4};
  atomics.lines.push_back({(sm_number < 90 ? "RED" : "REDG") + (".E.ADD.STRONG.GPU " + global) + ", R5", 2, 7,
                           7, 0, kGlobal, 0, 0});
  atomics.lines.push_back({"ATOMS.ADD R4, [R2], R5", 2, 0, 7, 0, 0, 128, 0});
  kernels.push_back(atomics);
  Kernel copies{
      "async_copies", {}, 1, 1, 1};  // one line, all lanes to the same four banks: the writes are what limits
  for (int i = 0; i < 16; ++i)
    copies.lines.push_back({"LDGSTS.E.BYPASS.128 [R0], " + global, 2, 7, 7, 0, 0, 0, 0});
  copies.lines.push_back({"LDGDEPBAR", 1, 0});
  copies.lines.push_back({"DEPBAR.LE SB0, 0x0", 4});
  kernels.push_back(copies);
  Kernel waiting{"waiting", {}, 32, 16, 1};  // loads of lines that are on their way, more than an SM holds
  dependent(waiting.lines, {"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal, 4, 0});
  waiting.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal + (1 << 24), 16, 512});
  for (int i = 0; i < 23; ++i)
    waiting.lines.push_back({"LDG.E R4, " + global, 1, 7, 7, 0, kGlobal + (1 << 24), 0, 512});
  kernels.push_back(waiting);
  // Sums of each kind on the words of a line, and on one alone.
  const std::string reduction = sm_number < 90 ? "RED" : "REDG";
  for (const std::string& operation :
       {reduction + ".E.ADD.64.STRONG.GPU ", reduction + ".E.ADD.F32.FTZ.RN.STRONG.GPU ",
        reduction + ".E.ADD.F64.RN.STRONG.GPU ", std::string("ATOMG.E.CAS.STRONG.GPU PT, R4, ")}) {
    for (const std::uint64_t lane : {0u, 8u}) {
      const bool cas = operation.starts_with("ATOMG");
      Kernel sums{"sums", {}, 8, 8, 4};
      sums.lines.push_back({operation + global + ", R6" + (cas ? ", R7" : ""), 2, 7, 7, 0, kGlobal, lane, 0});
      // What follows has to wait where its way is held up.
      sums.lines.push_back({"LDG.E R4, " + global, 2, 0, 7, 0, kGlobal + (1 << 24), 4, 128, 1 << 20});
      sums.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
      kernels.push_back(sums);
    }
  }
  Kernel line{"line", {}, 8, 16, 8};  // more sums of whole sectors than the way to L2 holds
  line.lines.push_back({reduction + ".E.ADD.STRONG.GPU " + global + ", R5", 2, 7, 7, 0, kGlobal, 4, 0});
  kernels.push_back(line);
  // What follows has to wait where one word keeps its slice: reductions and atomics with an answer in turn, and stores.
  const Line behind = {"LDG.E R4, " + global, 2, 0, 7, 0, kGlobal + (1 << 24), 4, 128, 1 << 20};
  Kernel turns{"turns", {}, 8, 8, 4};
  turns.lines.push_back({reduction + ".E.ADD.STRONG.GPU " + global + ", R5", 2, 7, 7, 0, kGlobal, 0, 0});
  turns.lines.push_back({"ATOMG.E.ADD.STRONG.GPU PT, R4, " + global + ", R5", 2, 0, 7, 0, kGlobal, 0, 0});
  turns.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  Kernel flag{"flag", {}, 8, 8, 8};
  flag.lines.push_back({"STG.E " + global + ", R4", 40, 7, 7, 0, kGlobal, 0, 0});
  flag.lines.push_back(behind);
  flag.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  kernels.push_back(turns);
  kernels.push_back(flag);
  Kernel exchange{"exchange", {}, 1, 4, 4};
  exchange.lines.push_back({"ATOMS.CAS R4, [R2], R5, R6", 1, 7, 7, 0, 0, 128, 0});
  kernels.push_back(exchange);
  Kernel contention{"contention", {}, 1, 8, 4};  // shared stores while lines fill all of L1
  contention.shared = 128;                       // so that L1 has more than half of the array on every chip
  for (std::uint64_t i = 0; i < 24; ++i) {
    contention.lines.push_back(
        {"LDG.E.128 R4, " + global, 1, 7, 7, 0, kGlobal + (i << 24), 16, 512, 1 << 20});
    for (int k = 0; k < 8; ++k) contention.lines.push_back({"STS [R2], R5", 1, 7, 7, 0, 0, 4, 128});
  }
  kernels.push_back(contention);
  return kernels;
}

std::vector<Kernel> repeated_stores() {
  const std::string global = "desc[UR4][R2.64]";
  Kernel merging{"merging",
                 {},
                 1,
                 16,
                 1};  // the warps of a sub-core come to their store one pass of the xu after the other
  dependent(merging.lines, {"MUFU.RCP R4, R5"});
  dependent(merging.lines, {"MUFU.RCP R4, R5"});
  merging.lines.push_back({"STG.E.64 " + global + ", R4", 1, 7, 7, 0, kGlobal, 0, 8});
  Kernel again{"again", {}, 1, 1, 1};  // the same sectors, after L1 has let the first store go
  for (int store = 0; store < 2; ++store) {
    again.lines.push_back({"STG.E " + global + ", R4", 1, 7, 7, 0, kGlobal, 4});
    for (int i = 0; i < 10; ++i) again.lines.push_back({"IADD3 R1, R2, R5, RZ", 15});
  }
  Kernel many{"many", {}, 1, 1, 1};  // 16 lines, and 40 cycles later the same again
  for (const std::uint64_t word : {0u, 4u}) {
    many.lines.push_back({"STG.E " + global + ", R4", 1, 7, 7, 0, kGlobal + word, 64});
    for (int i = 0; i < 3; ++i) many.lines.push_back({"IADD3 R1, R2, R5, RZ", 13});
  }
  Kernel meeting{
      "meeting", {}, 1, 1, 1};  // lines are loaded past L1, one sooner and one later behind a store to them
  for (std::uint64_t line = 0; line < 16; ++line) {
    meeting.lines.push_back({"STG.E " + global + ", R4", 1, 7, 7, 0, kGlobal + line * 4096, 0});
    for (std::uint64_t i = 0; i < line; ++i) meeting.lines.push_back({"IADD3 R1, R2, R5, RZ", 10});
    meeting.lines.push_back({"LDG.E.STRONG.GPU R6, " + global, 2, 0, 7, 0, kGlobal + line * 4096 + 64, 0});
    meeting.lines.push_back({"IADD3 R1, R6, R5, RZ", 5, 7, 7, 1});
  }
  return {merging, again, many, meeting};
}

std::vector<Kernel> overflows() {
  std::vector<Kernel> kernels;
  const std::string global = "desc[UR4][R2.64]";
  for (const std::uint32_t kib : {24u, 36u, 96u, 136u}) {
    Kernel code{"code", {}, 1, 1, 2};
    code.lines.assign(kib * 1024 / kInstructionBytes, {"IADD3 R1, R2, R5, RZ", 1});
    kernels.push_back(code);
  }
  for (const std::uint32_t kib :
       {48u, 136u}) {  // one instruction of each line of code: as fast as lines come
    Kernel fetches{"fetches", {}, 1, 1, 1};
    fetches.lines.assign(kib * 1024 / kInstructionBytes, {"IADD3 R1, R2, R5, RZ", 1});
    fetches.step = kLineBytes / kInstructionBytes;
    kernels.push_back(fetches);
  }
  Kernel late{"late_parameters", {}, 1, 1, 1};  // behind more code than a launch brings its parameters with
  late.lines.assign(18 * 1024 / kInstructionBytes, {"IADD3 R1, R4, c[0x0][0x240], RZ", 4});
  late.step = 1024;
  kernels.push_back(late);
  for (const std::uint32_t bytes : {256u, 512u, 2048u, 4096u}) {
    Kernel constants{"constants", {}, 1, 1, 2};
    for (std::uint32_t at = 0; at < bytes; at += 64) {
      char text[64];
      std::snprintf(text, sizeof text, "IADD3 R1, R4, c[0x3][0x%x], RZ", at);
      constants.lines.push_back({text, 4});
      std::snprintf(text, sizeof text, "LDC R4, c[0x3][0x%x]", at);
      constants.lines.push_back({text, 2, 0});
      constants.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
    }
    kernels.push_back(constants);
  }
  // Warps that miss at the same time, each a line of its own of a block that the first LDC has brought to the GPC's cache.
  Kernel tables{"tables", {}, 1, 32, 4};
  tables.lines.push_back({"LDC R4, c[0x3][R5+0x10]", 2, 0, 7, 0, 0, 0, 128, 4096});
  tables.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  tables.lines.push_back({"BAR.SYNC.DEFER_BLOCKING 0x0", 5});
  tables.lines.push_back({"LDC R4, c[0x3][R5+0x10]", 2, 0, 7, 0, 64, 0, 128, 4096});
  tables.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  kernels.push_back(tables);
  // Lanes on lines of their own, which come so slowly that words ask again.
  Kernel lookups{"lookups", {}, 1, 32, 2};
  lookups.lines.push_back({"LDC R4, c[0x3][R5+0x10]", 2, 0, 7, 0, 0, 64, 2048});
  lookups.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  kernels.push_back(lookups);
  for (const std::uint64_t kib :
       {24u, 100u, 120u, 185u, 230u}) {  // of one SM's L1, twice over: below and above it on each chip
    Kernel l1{"l1", {}, 1, 8, 1};
    for (int pass = 0; pass < 2; ++pass) {
      for (std::uint64_t at = 0; at < kib * 1024; at += 8 * 512) {
        l1.lines.push_back({"LDG.E.128 R4, " + global, 2, 0, 7, 0, kGlobal + at, 16, 512});
        l1.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
      }
    }
    kernels.push_back(l1);
  }
  // Lines that are used twice, as many as L1 keeps for such on the smallest chip, then others, then the first ones again.
  Kernel used_again{"used_again", {}, 1, 8, 1};
  const auto read = [&](std::uint64_t base, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += 8 * 512) {
      used_again.lines.push_back({"LDG.E.128 R4, " + global, 2, 0, 7, 0, kGlobal + base + at, 16, 512});
      used_again.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
    }
  };
  constexpr std::uint64_t kUsedAgain = 115 * 1024;
  read(0, kUsedAgain);
  read(0, kUsedAgain);
  read(1 << 20, 4 * kUsedAgain);
  read(0, kUsedAgain);
  kernels.push_back(used_again);
  Kernel results{"results", {}, 64, 16, 10};
  results.lines.push_back({"STG.E.128 " + global + ", R4", 2, 7, 7, 0, kGlobal, 16, 512, 64 * 16 * 512});
  kernels.push_back(results);
  // Lines strewn over the address space, so that sets fill unevenly: how many ways matters before the cache is full.
  Kernel l1_sets{"l1_sets", {}, 1, 8, 1};
  for (int pass = 0; pass < 2; ++pass) {
    for (std::uint64_t i = 0; i < 90; ++i) {
      const std::uint64_t line = i * 2654435761 % 65521;
      l1_sets.lines.push_back({"LDG.E R4, " + global, 2, 0, 7, 0, kGlobal + line * 128, 0, 128 * 1000003});
      l1_sets.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
    }
  }
  kernels.push_back(l1_sets);
  // Half a MiB of such lines per round; what was read 4 to 11 rounds ago is read again: from L2, and from where L2 ends.
  Kernel l2_sets{"l2_sets", {}, 8, 16, 16};
  constexpr std::uint64_t kStep = 128 * 7368787;
  for (const std::uint64_t ago : {0u, 4u, 7u, 11u}) {
    l2_sets.lines.push_back(
        {"LDG.E R4, " + global, 1, 0, 7, 0, kGlobal + (64 - ago) * kStep, 128 * 4099, 128 * 131071, kStep});
  }
  kernels.push_back(l2_sets);
  // What L2 has, read by the SMs of a GPC a few cycles apart, or some tens; and fewer blocks than SMs, which read the same.
  for (const std::uint8_t stall : {std::uint8_t{3}, std::uint8_t{12}}) {
    Kernel together{"together", {}, 8, 1, 200};
    for (const std::uint64_t ago : {0u, 64u}) {
      together.lines.push_back(
          {"LDG.E.STRONG.GPU R4, " + global, stall, 0, 7, 0, kGlobal + (200 - ago) * 128, 4, 128, 128});
    }
    kernels.push_back(together);
  }
  Kernel few{"few", {}, 3, 1, 20};
  for (std::uint64_t i = 0; i < 8; ++i) {
    few.lines.push_back({"LDG.E.STRONG.GPU R4, " + global, 2, 0, 7, 0, kGlobal + i * 4096, 4});
    few.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  }
  kernels.push_back(few);
  Kernel generic{"generic", {}, 1, 1, 4};
  generic.lines.push_back({"LD.E R4, " + global, 2, 0, 7, 0, work::kSharedWindow, 4});
  generic.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  kernels.push_back(generic);
  return kernels;
}

std::vector<Kernel> asynchronous(int sm_number) {
  if (sm_number < 90) return {};
  std::vector<Kernel> kernels;
  constexpr std::uint64_t kBarrier = 0x400, kEnded = work::kPhaseEnded;
  const auto barrier_line = [](const char* text, std::uint64_t operand, std::uint8_t write = 7) {
    return Line{text, 2, write, 7, 0, kBarrier, 0, 0, 0, operand};
  };
  for (const std::uint32_t bytes : {16u, 128u}) {
    Kernel copies{"copies", {}, 2, 1, 1};
    work::Transfer load, store;
    load.begin(work::TransferKind::load, 64 * bytes, 64);
    load.barrier = kBarrier;
    for (std::uint64_t i = 0; i < 64; ++i) load.piece(kGlobal + i * 4096, bytes);
    store = load;
    store.kind = work::TransferKind::store;
    store.barrier = work::Transfer::kNoBarrier;
    auto& lines = copies.lines;
    lines.push_back(barrier_line("SYNCS.EXCH.64 URZ, [UR4], UR6", 1));
    lines.push_back(barrier_line("SYNCS.ARRIVE.TRANS64 R6, [UR4], R2", 128 * bytes / 32, 0));
    lines.push_back({"IADD3 R1, R6, R5, RZ", 4, 7, 7, 1});
    for (int i = 0; i < 2; ++i) {
      lines.push_back({"UTMALDG.2D [UR8], [UR12]", 1, 7, 1, 0, 0, 0, 0, 0, 0, load});
      lines.push_back({"IADD3 R1, R6, R5, RZ", 4, 7, 7, 2});
    }
    lines.push_back(barrier_line("SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R2", kEnded, 0));
    lines.push_back({"NANOSLEEP.SYNCS 0x10", 5, 7, 7, 1});
    for (int i = 0; i < 3; ++i)
      lines.push_back({"UTMASTG.2D [UR8], [UR12]", 1, 7, 7, 0, 0, 0, 0, 0, 0, store});
    lines.push_back({"UTMACMDFLUSH", 1, 7, 0});
    lines.push_back({"DEPBAR.LE SB0, 0x0", 4});
    kernels.push_back(copies);
  }
  kernels.push_back(
      {"fences", {{"FENCE.VIEW.ASYNC.S", 1, 1}, {"IADD3 R1, R6, R5, RZ", 4, 7, 7, 2}}, 2, 1, 1});
  Kernel sources{"sources", {}, 2, 1, 4};  // copies so small that the engine never holds the warp up
  work::Transfer row;
  row.begin(work::TransferKind::store, 16, 1);
  row.piece(kGlobal, 16);
  sources.lines.push_back({"UTMASTG.2D [UR8], [UR12]", 1, 7, 1, 0, 0, 0, 0, 0, 0, row});
  sources.lines.push_back({"IADD3 R1, R6, R5, RZ", 4, 7, 7, 2});
  kernels.push_back(sources);
  Kernel clusters{"clusters", {}, 8, 1, 1};
  clusters.cluster = 2;
  const std::uint64_t other = std::uint64_t{1} << 24;
  clusters.lines.push_back(barrier_line("SYNCS.EXCH.64 URZ, [UR4], UR6", 64));
  clusters.lines.push_back({"UCGABAR_ARV", 2});
  clusters.lines.push_back({"UCGABAR_WAIT", 2});
  clusters.lines.push_back({"LD.E R4, desc[UR4][R2.64]", 2, 0, 7, 0, work::kSharedWindow + other, 4, 0});
  clusters.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  for (const std::uint64_t rank : {std::uint64_t{0}, other}) {
    Line arrives = barrier_line("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R2+URZ], RZ", 0);
    arrives.base += rank;
    clusters.lines.push_back(arrives);
  }
  clusters.lines.push_back(barrier_line("SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R2", kEnded, 0));
  clusters.lines.push_back({"IADD3 R1, R4, R5, RZ", 4, 7, 7, 1});
  kernels.push_back(clusters);
  Kernel small = clusters;  // that more fit on an SM than clusters may
  small.name = "small_clusters";
  small.blocks = 256;
  kernels.push_back(small);
  if (sm_number != 90) return kernels;
  for (const char* a : {"", "R4, "}) {
    for (const char* n : {"8", "256"}) {
      Kernel products{"products", {}, 1, 4, 2};
      for (int group = 0; group < 2; ++group) {
        products.lines.push_back({"WARPGROUP.ARRIVE", 1});
        for (int i = 0; i < 5; ++i) {
          products.lines.push_back(
              {std::string("HGMMA.64x") + n + "x16.F32 R24, " + a + "gdesc[UR8], R24, gsb0", 2});
        }
      }
      for (int i = 0; i < 4; ++i) products.lines.push_back({"LDS R4, [R2]", 2, 7, 7, 0, 0, 4, 0});
      products.lines.push_back({"WARPGROUP.DEPBAR.LE gsb0, 0x0", 1});
      products.lines.push_back({"USETMAXREG.DEALLOC.CTAPOOL 0x8", 1});
      kernels.push_back(products);
    }
  }
  return kernels;
}

std::vector<Kernel> occupants(const spec::LimitsSpec& limits) {
  const std::vector<Line> lines = {{"IADD3 R1, R2, R5, RZ", 4}};
  return {
      {"registers", lines, 64, 8, 1, 33},         {"many_registers", lines, 64, 2, 1, 200},
      {"three_warps", lines, 64, 3, 1, 40},       {"block_registers", lines, 8, 25, 1, 72},
      {"shared", lines, 64, 4, 1, 16, 9000},      {"all_shared", lines, 8, 4, 1, 16, limits.shared_per_block},
      {"shared_room", lines, 64, 4, 1, 16, 1576}, {"little_shared_room", lines, 64, 4, 1, 16, 768},
      {"small_blocks", lines, 128, 1, 1, 16},     {"named_barriers", lines, 64, 1, 1, 16, 0, 16},
      {"large_blocks", lines, 16, 32, 1, 16},     {"uneven_warps", lines, 200, 8, 200, 16, 0, 1, 1, 5}};
}

}  // namespace foretrace::config
