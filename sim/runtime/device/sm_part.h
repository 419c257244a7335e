// A part of a device's SMs, as a green context has it.
//
// Models:  a kernel in it finds a chip of so many SMs, with the whole chip's L2 and memory. How large parts may be, how many there are, and
//          which clusters they take is what an H200 was asked (validate/measurements/driver_calls/h200.txt, 2026-11-28).
// Ignores: which SMs of which GPCs they are. An H200 read from DRAM 7% slower with 16 SMs of one GPC than with 16 of two.
#pragma once

#include <cstdint>
#include <tuple>

#include "model/spec/gpu_spec.h"

namespace foretrace::runtime {

/// What parts of a chip are made of (CUdevSmResource): at least so many SMs, so many of one GPC.
struct SmUnits {
  std::uint32_t least = 1, together = 1;
};
/// Source: cuda.h, "Green Contexts", by compute capability. `single`: pairs of SMs, whatever GPC they are in.
SmUnits sm_units(const spec::GpuSpec& chip, bool single);

struct SmPart {
  std::uint32_t sms = 0;  ///< 0: all of the device's
  std::uint32_t together =
      0;  ///< groups of so many share a GPC, and no cluster is larger; 0: what others have left of the GPCs
  std::uint32_t others = 0;  ///< how many SMs these have, where that is so

  bool whole() const { return sms == 0; }
  std::uint32_t of(const spec::GpuSpec& chip) const { return whole() ? chip.sm.count : sms; }
  SmUnits units(const spec::GpuSpec& chip) const;
  friend bool operator<(const SmPart& a, const SmPart& b) {
    return std::tie(a.sms, a.together, a.others) < std::tie(b.sms, b.together, b.others);
  }
};

/// The chip as a kernel in the part finds it.
spec::GpuSpec chip_of(const spec::GpuSpec& whole, const SmPart& part);

/// So many parts of `size` SMs can be made of a resource of `sms`.
std::uint32_t parts_of(const spec::GpuSpec& chip, std::uint32_t sms, std::uint32_t size, SmUnits units);

/// Clusters of `size` blocks, of which an SM holds `blocks`, that run in the part at a time.
std::uint64_t clusters_in(const spec::GpuSpec& whole, const SmPart& part, std::uint32_t blocks,
                          std::uint32_t size);

}  // namespace foretrace::runtime
