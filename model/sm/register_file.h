// Operand reads of a sub-core: register banks, their ports, and the register-file cache that the reuse bits steer.
//
// Models:  register r in bank r mod banks; each bank serves `ports` reads a cycle; a fixed-latency instruction reserves all its reads
//          within a window of cycles and holds up the one behind it until it can; one cache entry per bank and operand slot, filled by a
//          read with its reuse bit set, valid for the same warp, register and slot until another read goes to that bank and slot.
// Ignores: write ports (a fixed-latency result never waits; a load's may, by one cycle).
// Source:  HUE section 5.3 (docs/sources.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "model/sm/static_program.h"
#include "model/spec/gpu_spec.h"

namespace foretrace::sm {

class RegisterFile {
 public:
  explicit RegisterFile(const spec::RegisterFileSpec& spec)
      : banks_(spec.banks), ports_(spec.ports), window_(spec.window), latency_(spec.allocate_latency) {}

  /// Reserves the reads of an instruction issued at `now`; cycles that the allocate stage is held beyond its one.
  Cycle allocate(std::span<const RegisterRead> reads, std::uint16_t warp, Cycle now) {
    std::array<std::uint32_t, RegisterRead::kMaxBanks> asked{};
    for (const RegisterRead& read : reads) {
      const std::uint32_t name = std::uint32_t{warp} << 8 | read.number;
      std::uint32_t& cached = cache_[read.bank][read.slot];
      if (cached != name) asked[read.bank] += read.first;
      cached = read.reuse ? name : kNothing;
    }
    const Cycle start = now + latency_;
    Cycle hold = 0;
    for (std::uint32_t bank = 0; bank < banks_; ++bank) {
      if (asked[bank] == 0) continue;
      const Cycle cycles = ports_ == 1 ? asked[bank] : (asked[bank] + ports_ - 1) / ports_;
      const Cycle end = std::max(start, free_[bank]) + cycles;
      free_[bank] = end;
      if (end > start + window_) hold = std::max(hold, end - start - window_);
    }
    return hold;
  }

  /// Reads of a memory instruction: they take port cycles but hold nothing up.
  void read(std::span<const RegisterRead> reads, Cycle now) {
    for (const RegisterRead& read : reads) free_[read.bank] = std::max(free_[read.bank], now + latency_) + 1;
  }
  /// Others have the ports for `cycles` before the reads that were reserved at `now` are done.
  void delay(Cycle cycles, Cycle now) {
    for (Cycle& free : free_) free += free > now + latency_ ? cycles : 0;
  }

 private:
  static constexpr std::uint32_t kNothing = ~0u;
  const std::uint32_t banks_, ports_, window_, latency_;
  std::array<Cycle, RegisterRead::kMaxBanks> free_{};
  // By bank and operand slot: warp and register that are kept.
  std::array<std::array<std::uint32_t, 3>, RegisterRead::kMaxBanks> cache_ = nothing_kept();
  static constexpr std::array<std::array<std::uint32_t, 3>, RegisterRead::kMaxBanks> nothing_kept() {
    std::array<std::array<std::uint32_t, 3>, RegisterRead::kMaxBanks> none{};
    for (auto& bank : none) bank.fill(kNothing);
    return none;
  }
};

}  // namespace foretrace::sm
