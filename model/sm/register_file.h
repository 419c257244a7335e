// Operand reads of a sub-core: register banks, their ports, and the register-file cache that the reuse bits steer.
//
// Models:  register r in bank r mod banks; each bank serves `ports` reads a cycle; a fixed-latency instruction reserves all its reads
//          within a window of cycles and holds up the one behind it until it can; one cache entry a bank and operand slot, filled by a
//          read with its reuse bit set, valid for the same warp, register and slot until another read goes to that bank and slot.
// Ignores: write ports (a fixed-latency result never waits; a load's may, by one cycle).
// Source:  facts B2, B3 (HUE).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/sm/static_program.h"
#include "model/spec/gpu_spec.h"

namespace foretrace::sm {

class RegisterFile {
 public:
  explicit RegisterFile(const spec::RegisterFileSpec& spec) : spec_(spec) {}

  /// Reserves the reads of an instruction issued at `now`; cycles that the allocate stage is held beyond its one.
  Cycle allocate(const StaticInstruction& instruction, std::uint16_t warp, Cycle now) {
    std::array<std::uint32_t, kMaxBanks> reads{};
    count_reads(instruction, warp, reads);
    const Cycle start = now + 2;  // control, then allocate
    Cycle hold = 0;
    for (std::uint32_t bank = 0; bank < spec_.banks; ++bank) {
      if (reads[bank] == 0) continue;
      const Cycle cycles = (reads[bank] + spec_.ports - 1) / spec_.ports;
      const Cycle end = std::max(start, free_[bank]) + cycles;
      free_[bank] = end;
      if (end > start + spec_.window) hold = std::max(hold, end - start - spec_.window);
    }
    return hold;
  }

  /// Reads of a memory instruction: they take port cycles but hold nothing up.
  void read(const StaticInstruction& instruction, Cycle now) {
    for (std::uint32_t slot = 0; slot < instruction.sources; ++slot) {
      for (std::uint32_t i = 0; i < instruction.source_count[slot]; ++i) {
        Cycle& free = free_[(instruction.source_register[slot] + i) % spec_.banks];
        free = std::max(free, now + 2) + 1;
      }
    }
  }

 private:
  static constexpr std::uint32_t kMaxBanks = 4;
  struct Cached {
    std::uint16_t warp = 0xffff;
    std::uint8_t reg = 255;
  };

  void count_reads(const StaticInstruction& instruction, std::uint16_t warp,
                   std::array<std::uint32_t, kMaxBanks>& reads) {
    for (std::uint32_t slot = 0; slot < instruction.sources; ++slot) {
      for (std::uint32_t i = 0; i < instruction.source_count[slot]; ++i) {
        const auto reg = static_cast<std::uint8_t>(instruction.source_register[slot] + i);
        const std::uint32_t bank = reg % spec_.banks;
        Cached& cached = cache_[bank][slot];
        const bool hit = cached.warp == warp && cached.reg == reg;
        if (!hit && !named_before(instruction, slot, reg)) ++reads[bank];
        cached = instruction.source_reuse[slot] ? Cached{warp, reg} : Cached{};
      }
    }
  }

  /// A register that two operands name is read once (validate/microbenchmarks/register_banks).
  static bool named_before(const StaticInstruction& instruction, std::uint32_t slot, std::uint8_t reg) {
    for (std::uint32_t earlier = 0; earlier < slot; ++earlier) {
      const auto distance = static_cast<std::uint8_t>(reg - instruction.source_register[earlier]);
      if (distance < instruction.source_count[earlier]) return true;
    }
    return false;
  }

  const spec::RegisterFileSpec& spec_;
  std::array<Cycle, kMaxBanks> free_{};
  std::array<std::array<Cached, 3>, kMaxBanks> cache_{};
};

}  // namespace foretrace::sm
