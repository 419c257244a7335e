// A launch as all its blocks see it: the translated code, literals, and what the blocks share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/isa/operands.h"
#include "sim/emulate/emulator.h"
#include "sim/emulate/schedule/grid_barrier.h"
#include "sim/emulate/schedule/waits.h"
#include "sim/emulate/translate/compiled.h"

namespace foretrace::emulate {

struct Emulator::Launch {
  LaunchContext context;
  const LaneTable* lanes = nullptr;
  std::shared_ptr<const Translation> translation;
  LaneWords literals;
  mutable std::atomic<bool> bounds_reported{false};      ///< of an access, Checks::bounds
  mutable std::atomic<bool> divergence_reported{false};  ///< of a barrier, LaunchContext::strict_barriers
  mutable WriteHistory writes;       ///< of launches with spin loops, whose blocks one thread executes
  mutable GridBarrier grid_barrier;  ///< of launches with calls, whose blocks one thread executes
  std::uint64_t workspace = 0;       ///< address of what a grid-wide barrier needs; 0: none
  std::uint64_t parameter_area =
      0;  ///< allocation that holds the parameters where code asks for their address; 0: none
  std::uint32_t threads = 0;           ///< a block
  std::uint32_t warps = 0;             ///< a block
  std::uint32_t shared_bytes = 0;      ///< a block, the part below Program::shared_base included
  std::uint32_t all_shared_bytes = 0;  ///< a block, in whole units and with what the system keeps of it
  std::uint32_t local_bytes = 0;       ///< a thread
  std::vector<isa::Access> accesses;  ///< by instruction, where checks are asked for; what is no access: load
  std::array<LaneWords, 3> coordinates;  ///< threadIdx.x, y, z of all threads, 32 words per warp

  explicit Launch(const LaunchContext& from);
  /// `shared_bytes` in whole units of the chip.
  std::uint32_t shared_given_out() const {
    return (shared_bytes + context.shared_unit - 1) / context.shared_unit * context.shared_unit;
  }
  ~Launch();

 private:
  void number_threads();
  // What the driver writes before the parameters.
  void write_shape();
  void place_shared(const AsksFor& asks);
  void allocate_areas(const AsksFor& asks);
  void append_parameters();
};

}  // namespace foretrace::emulate
