// One copy of a tensor's box as a whole program: what it finds and what it leaves.
#pragma once

#include <fmt/format.h>

#include <random>

#include "sim/emulate/tensor/tensor_map.h"
#include "tests/emulate/assembled.h"

namespace foretrace::emulate {

inline constexpr std::uint32_t kSharedBytes = 0x8000;
inline constexpr std::uint32_t kBarrier = kSharedBytes;  // after what is copied
inline constexpr std::uint32_t kTensorBytes = 0x8000;

enum class Way { load, store, reduce };

struct Copy {
  TensorMap map;
  std::vector<std::int32_t> at;
  std::uint32_t shared = 0x400;
  std::vector<std::uint32_t> offsets{};  // im2col; wide: halo and offset
  std::string reduction = "ADD";
  std::uint32_t halo_bytes = 0;
};

inline std::vector<std::uint8_t> bytes_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint8_t> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

/// What a copy leaves behind.
struct Outcome {
  std::vector<std::uint8_t> tensor_before, shared_before, tensor, shared;
  bool completed = false;
};

inline Outcome run(Copy copy, Way way) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> tensor(kTensorBytes / 4), shared(kSharedBytes / 4);
  for (auto& x : tensor) x = static_cast<std::uint32_t>(random());
  for (auto& x : shared) x = static_cast<std::uint32_t>(random());
  std::string text = R"(
    MOV R2, c[0x0][0x210]
    MOV R3, c[0x0][0x214]
    MOV R4, c[0x0][0x218]
    MOV R5, c[0x0][0x21c]
    ULDC.64 UR4, c[0x0][0x220]
  )";
  const auto line = [&](const std::string& s) { text += s + "\n"; };
  // Shared memory in, by lane 0 to 31, 512 bytes at a time.
  line("S2R R0, SR_TID.X");
  line("SHF.L.U32 R1, R0, 0x4, RZ");
  line("IMAD.WIDE.U32 R2, R0, 0x10, R2");
  line("IMAD.WIDE.U32 R4, R0, 0x10, R4");
  for (std::uint32_t i = 0; i < kSharedBytes; i += 512) {
    line(fmt::format("LDG.E.128 R8, [R2.64+{:#x}]", i));
    line(fmt::format("STS.128 [R1+{:#x}], R8", i));
  }
  line(fmt::format("UMOV UR9, {:#x}", kBarrier));
  line("UMOV UR6, 0x1ffffe");  // one arrival
  line("UMOV UR7, 0x7ffff800");
  line("SYNCS.EXCH.64 URZ, [UR9], UR6");
  const std::uint64_t all_bytes = copy.map.box_bytes() + copy.halo_bytes;
  line(fmt::format("MOV R6, {:#x}", all_bytes));
  line("ISETP.EQ.U32.AND P1, PT, R0, RZ, PT");
  line("@P1 SYNCS.ARRIVE.TRANS64 RZ, [UR9], R6");
  line(fmt::format("UMOV UR8, {:#x}", copy.shared));
  const int first = way == Way::load ? 10 : 9;
  for (std::size_t i = 0; i < copy.at.size(); ++i)
    line(
        fmt::format("UMOV UR{}, {:#x}", first + static_cast<int>(i), static_cast<std::uint32_t>(copy.at[i])));
  std::string extra;
  if (!copy.offsets.empty()) {
    const int bits = copy.map.wide() ? 11 : copy.map.rank == 3 ? 16 : copy.map.rank == 4 ? 8 : 5;
    std::uint32_t packed = 0;
    for (std::size_t i = 0; i < copy.offsets.size(); ++i)
      packed |= copy.offsets[i] << (bits * static_cast<int>(i));
    line(fmt::format("UMOV UR20, {:#x}", packed));
    extra = ", UR20";
  }
  const char* name = way == Way::load ? "UTMALDG" : way == Way::store ? "UTMASTG" : "UTMAREDG";
  line(fmt::format("{}.{}D{}{} [UR8], [UR4]{}", name, copy.map.rank,
                   way == Way::reduce ? "." + copy.reduction : "",
                   std::array{"", ".IM2COL", ".W", ".W128"}[static_cast<std::size_t>(copy.map.walk)], extra));
  line(fmt::format("UMOV UR9, {:#x}", kBarrier));
  line("SYNCS.PHASECHK.TRANS64 P0, [UR9], RZ");
  line("SEL R7, R6, RZ, P0");
  for (std::uint32_t i = 0; i < kSharedBytes; i += 512) {
    line(fmt::format("LDS.128 R8, [R1+{:#x}]", i));
    line(fmt::format("STG.E.128 [R4.64+{:#x}], R8", i));
  }
  line(fmt::format("STG.E [R4.64+{:#x}], R7", kSharedBytes));
  line("EXIT");
  Assembled a(text, 32, 6, 90);
  a.program.static_shared = kSharedBytes + 8;
  const std::uint64_t at = a.memory->allocate(kTensorBytes, "tensor");
  a.memory->write(at, std::as_bytes(std::span(tensor)));
  copy.map.address = at;
  a.buffer(0, shared, "shared in");
  const std::uint64_t out = a.buffer(2, std::vector<std::uint32_t>(kSharedBytes / 4 + 128), "out");
  std::vector<std::uint32_t> words(32);
  const TensorMapBytes bytes = encode(copy.map);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  a.buffer(4, words, "map");
  a.run();
  Outcome o{bytes_of(tensor), bytes_of(shared), bytes_of(a.read(at, kTensorBytes / 4)),
            bytes_of(a.read(out, kSharedBytes / 4))};
  o.completed = a.read(out + kSharedBytes, 1)[0] == all_bytes;
  return o;
}

inline std::size_t swizzled_at(const TensorMap& map, std::size_t at) {
  const std::size_t rows = map.swizzle == TensorSwizzle::bytes_128  ? 8
                           : map.swizzle == TensorSwizzle::bytes_64 ? 4
                           : map.swizzle == TensorSwizzle::bytes_32 ? 2
                                                                    : 1;
  const std::size_t chunk = at / 16 % 8, row = at / 128;
  return at / 128 * 128 + (chunk ^ (row % rows)) * 16 + at % 16;
}

inline FaultKind fault_of(const Copy& copy, Way way, std::string& what) {
  try {
    run(copy, way);
  } catch (const KernelFault& fault) {
    what = fault.what();
    return fault.kind();
  }
  return FaultKind::trap;
}

}  // namespace foretrace::emulate
