#include "tests/trace/sample.h"

#include <array>
#include <span>

#include "model/isa/parse.h"

namespace foretrace::trace_test {

namespace {

struct Row {
  const char* text;
  std::uint64_t lo, hi;
};

constexpr Row kRows[] = {
    {"LDC R1, c[0x0][0x28]", 0x00000a00ff017b82, 0x000fe20000000800},
    {"S2R R0, SR_TID.X", 0x0000000000007919, 0x000e2e0000002100},
    {"S2UR UR4, SR_CTAID.X", 0x00000000000479c3, 0x000e300000002500},
    {"LDC R9, c[0x0][RZ]", 0x00000000ff097b82, 0x000e240000000800},
    {"IMAD R9, R9, UR4, R0", 0x0000000409097c24, 0x001fe2000f8e0200},
    {"ULDC UR4, c[0x0][0x228]", 0x00008a0000047ab9, 0x000fc80000000800},
    {"ISETP.GE.AND P0, PT, R9, UR4, PT", 0x0000000409007c0c, 0x000fda000bf06270},
    {"@P0 EXIT", 0x000000000000094d, 0x000fea0003800000},
    {"LDC.64 R2, c[0x0][0x210]", 0x00008400ff027b82, 0x000e220000000a00},
    {"ULDC.64 UR4, c[0x0][0x208]", 0x0000820000047ab9, 0x000fce0000000a00},
    {"LDC.64 R4, c[0x0][0x218]", 0x00008600ff047b82, 0x000e700000000a00},
    {"LDC.64 R6, c[0x0][0x220]", 0x00008800ff067b82, 0x000ea20000000a00},
    {"IMAD.WIDE R2, R9, 0x4, R2", 0x0000000409027825, 0x001fcc00078e0202},
    {"LDG.E R3, desc[UR4][R2.64]", 0x0000000402037981, 0x000ee2000c1e1900},
    {"IMAD.WIDE R4, R9, 0x4, R4", 0x0000000409047825, 0x002fcc00078e0204},
    {"LDG.E R4, desc[UR4][R4.64]", 0x0000000404047981, 0x000ee2000c1e1900},
    {"IMAD.WIDE R6, R9, 0x4, R6", 0x0000000409067825, 0x004fc800078e0206},
    {"FADD R9, R4, R3", 0x0000000304097221, 0x008fca0000000000},
    {"STG.E desc[UR4][R6.64], R9", 0x0000000906007986, 0x000fe2000c101904},
    {"EXIT", 0x000000000000794d, 0x000fea0003800000},
    {"BRA `(.L_x_0)", 0xfffffffc00fc7947, 0x000fc0000383ffff},
    {"NOP", 0x0000000000007918, 0x000fc00000000000},
};
constexpr std::uint32_t kGuardedExit = 7, kLoopStart = 12, kLoopEnd = 19, kExit = 19;

constexpr Row kExitRow = {"EXIT", 0x000000000000794d, 0x000fea0003800000};
constexpr Row kWait[] = {
    {"LDG.E.STRONG.SYS R9, desc[UR12][R4.64]", 0x0000000c04097981, 0x000ea2000c1f5900},
    {"YIELD", 0x0000000000007946, 0x000fea0003800000},
    {"ISETP.GE.U32.AND P0, PT, R9, R22, PT", 0x000000160900720c, 0x004fda0003f06070},
    {"@!P0 BRA `(.L_x_5)", 0xfffffffc00f08947, 0x000fea000383ffff},
    kExitRow,
};
constexpr Row kSwap[] = {
    {"VIMNMX R5, R4, UR4, !PT", 0x0000000404057c48, 0x020fe2000ffe0100},
    {"YIELD", 0x0000000000007946, 0x000fea0003800000},
    {"ATOMG.E.CAS.STRONG.GPU PT, R5, [R2], R4, R5", 0x00000004020573a9, 0x000ea400001ee105},
    {"ISETP.NE.AND P0, PT, R5, R4, PT", 0x000000040500720c, 0x004fe20003f05270},
    {"IMAD.MOV.U32 R4, RZ, RZ, R5", 0x000000ffff047224, 0x000fd800078e0005},
    {"@P0 BRA `(.L_x_5)", 0xfffffffc00e80947, 0x000fea000383ffff},
    kExitRow,
};
constexpr Row kBarrier[] = {{"SYNCS.EXCH.64 URZ, [UR6], UR4", 0x00000004063f75b2, 0x0001e40008000100},
                            kExitRow};
constexpr Row kMatch[] = {{"MATCH.ANY R5, R0", 0x00000000000573a1, 0x004e2400000e8000}, kExitRow};
constexpr Row kThreads[] = {{"BAR.SYNC.DEFER_BLOCKING 0x3, R0", 0x00c000000000791d, 0x001fec0000010000},
                            kExitRow};
constexpr Row kWalk[] = {{"ULDC.64 UR6, c[0x3][UR5]", 0x00c0000005067abb, 0x000fe20008000a00}, kExitRow};

/// vector_add with other code, whose label .L_x_5 is its begin.
isa::Program with_code(std::span<const Row> rows) {
  isa::Program program = vector_add_program();
  program.code.clear();
  const isa::Labels labels = {{".L_x_5", 0}};
  for (const Row& row : rows) {
    const auto offset = static_cast<std::uint32_t>(program.code.size() * kInstructionBytes);
    program.code.push_back(isa::parse_instruction({row.lo, row.hi}, row.text, offset, program.sm, labels));
  }
  return program;
}

}  // namespace

isa::Program vector_add_program() {
  isa::Program program;
  program.sm = 90;
  program.kernel = "vector_add";
  program.mangled = "_Z10vector_addPKfS0_Pfi";
  program.code_sha256 = std::string(64, 'a');
  program.toolkit = "13.0.88";
  program.files = {"vector_add.cu", "d\xc3\xa9j\xc3\xa0 vu.cuh"};
  program.registers = 12;
  program.barriers = 1;
  program.static_shared = 2048;
  program.shared_base = 0x400;
  program.local_bytes = 8;
  program.max_threads = 256;
  program.required_threads[0] = 256;
  program.cluster[2] = 1;
  program.parameter_base = 0x210;
  program.parameter_bytes = 28;
  program.parameters = {{0, 8}, {8, 8}, {16, 8}, {24, 4}};
  const isa::Labels labels = {{".L_x_0", 0x140}};
  for (const Row& row : kRows) {
    const auto offset = static_cast<std::uint32_t>(program.code.size() * kInstructionBytes);
    program.code.push_back(isa::parse_instruction({row.lo, row.hi}, row.text, offset, program.sm, labels));
    program.code.back().file = 1 + offset / 16 % 2;
    program.code.back().line = 10 + offset / 64;
  }
  return program;
}

isa::Program waiting_program() { return with_code(kWait); }
isa::Program swapping_program() { return with_code(kSwap); }
isa::Program arriving_program() { return with_code(kBarrier); }
isa::Program matching_program() { return with_code(kMatch); }
isa::Program meeting_program() { return with_code(kThreads); }
isa::Program walking_program() { return with_code(kWalk); }

trace::LaunchInfo sample_launch(std::uint32_t blocks) {
  return {{{blocks, 1, 1}, {256, 1, 1}, {1, 1, 1}, 4096}, "sample"};
}

work::BlockRecord sample_block(const isa::Program& program, std::uint64_t block, unsigned warps,
                               unsigned iterations, bool scattered) {
  const work::Shapes shapes(program);
  work::BlockRecord record;
  record.block = block;
  record.warps.resize(warps);
  std::uint64_t state = block + 1;
  for (unsigned w = 0; w < warps; ++w) {
    work::WarpRecorder recorder(shapes, record.warps[w]);
    for (std::uint32_t i = 0; i < kGuardedExit; ++i) recorder.record(i, ~0u, ~0u);
    const std::uint32_t left =
        w + 1 == warps ? 0x00ffffffu : ~0u;  // the last warp loses eight lanes to the guard
    recorder.record(kGuardedExit, ~0u, ~left);
    for (unsigned n = 0; n < iterations; ++n) {
      for (std::uint32_t i = kLoopStart; i < kLoopEnd; ++i) {
        std::array<work::LaneAddresses, 1> addresses{};
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
          state = state * 6364136223846793005u + 1442695040888963407u;
          const std::uint64_t row = block * 4096 + w * 128 + lane * 4;
          addresses[0][lane] =
              0x7f0000000000 + (scattered ? state >> 40 << 2 : i * 0x1000000ull + n * 2048 + row);
        }
        recorder.record(i, left, left, addresses);
      }
    }
    recorder.record(kExit, left, left);
    recorder.finish();
  }
  return record;
}

}  // namespace foretrace::trace_test
