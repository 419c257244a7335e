// Launches that may share the chip: their records are kept, and those that overlap on the time line are simulated together.
//
// Models:  the first of a group finds L2 as it found it alone; then all share the machine (engine/beside.h), each launched when the time
//          line says. What a launch takes alone is what it took when it was simulated by itself.
//          Launches that were sampled or represented, have clusters or wait for other blocks go on by their rates (host/rates.h); beyond a
//          budget of simulated warp instructions, all of them.
// Ignores: launches that launch others: the time line has them by their shares of the chip.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "sim/engine/beside.h"
#include "sim/engine/kept_blocks.h"
#include "sim/engine/machine.h"
#include "sim/host/rates.h"
#include "sim/host/sharing.h"

namespace foretrace::runtime {

class SideBySide final : public host::Sharing {
 public:
  /// `budget`: warp instructions to simulate beside others; 0: without limit. `cold`: launches find empty caches.
  SideBySide(std::shared_ptr<const spec::GpuSpec> spec, std::uint64_t budget, bool cold, int threads);

  /// A launch that is going to be simulated alone.
  struct Kept {
    engine::Launch shape;
    std::shared_ptr<engine::KeptBlocks> blocks;
    std::shared_ptr<const memory::L2Contents> l2;  ///< before it; null: cold
    std::uint64_t warp_instructions = 0;
    std::size_t bytes = 0;  ///< of the host's memory
  };
  /// Each launch whose time is known, when it is.
  void remember(std::uint64_t launch, const host::Rates& rates) { rates_[launch] = rates; }
  /// What the launch is like, as far as it is known.
  host::Rates rates_of(std::uint64_t launch) const {
    const auto found = rates_.find(launch);
    return found == rates_.end() ? host::Rates{} : found->second;
  }
  /// What to keep of it.
  Kept begin(const engine::Launch& shape, engine::Machine& machine) const;
  /// It has been; nothing is kept where it was not simulated block by block.
  void add(std::uint64_t launch, Kept kept);
  void forget(std::uint64_t launch);
  /// The program does what lets launches overlap; before that nothing needs to be kept.
  void expect() { expected_ = true; }
  bool expected() const { return expected_; }

  How possible(const std::vector<Member>& members) override;
  std::vector<Times> times(const std::vector<Member>& members, How how) override;

 private:
  void drop(std::uint64_t launch);
  std::vector<Times> simulate(const std::vector<Member>& members);
  std::uint64_t cost(const std::vector<Member>& members) const;

  const std::shared_ptr<const spec::GpuSpec> spec_;
  const std::uint64_t budget_;
  const bool cold_;
  const int threads_;
  std::map<std::uint64_t, Kept> kept_;  // by launch: the last ones, as many as memory is set aside for
  std::map<std::uint64_t, host::Rates> rates_;  // by launch
  std::size_t bytes_ = 0;
  std::uint64_t spent_ = 0;
  bool expected_ = false;
};

}  // namespace foretrace::runtime
