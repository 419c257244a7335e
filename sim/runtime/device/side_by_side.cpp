#include "sim/runtime/device/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace foretrace::runtime {

namespace {

// Of the host's memory, for the launches that may still be beside later ones.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostTogether = 8;  // each that joins a group is a simulation of all
constexpr std::size_t kMostBytesEach = std::size_t{256} << 20;

/// What stands for an L2's contents, about: tags, states and byte masks.
std::size_t bytes_of_l2(const spec::GpuSpec& spec) { return spec.l2.bytes / kLineBytes * 48; }

}  // namespace

SideBySide::SideBySide(std::shared_ptr<const spec::GpuSpec> spec, std::uint64_t budget, bool cold,
                       int threads)
    : spec_(std::move(spec)), budget_(budget), cold_(cold), threads_(threads) {}

SideBySide::Kept SideBySide::begin(const engine::Launch& shape, engine::Machine& machine) const {
  Kept kept;
  kept.shape = shape;
  if (!engine::can_be_beside(*spec_, shape)) return kept;
  kept.blocks = std::make_shared<engine::KeptBlocks>(kMostBytesEach);
  if (!cold_) kept.l2 = machine.l2_contents();
  return kept;
}

void SideBySide::add(std::uint64_t launch, Kept kept) {
  if (kept.blocks == nullptr || !kept.blocks->whole(kept.shape.grid.count())) return;
  kept.bytes = kept.blocks->bytes() + (kept.l2 ? bytes_of_l2(*spec_) : 0);
  drop(launch);
  bytes_ += kept.bytes;
  kept_.emplace(launch, std::move(kept));
  while (bytes_ > kMostBytes && kept_.size() > 1) drop(kept_.begin()->first);
}

void SideBySide::forget(std::uint64_t launch) {
  drop(launch);
  rates_.erase(launch);
}

void SideBySide::drop(std::uint64_t launch) {
  const auto found = kept_.find(launch);
  if (found == kept_.end()) return;
  bytes_ -= found->second.bytes;
  kept_.erase(found);
}

std::uint64_t SideBySide::cost(const std::vector<Member>& members) const {
  std::uint64_t sum = 0;
  for (const Member& member : members) sum += kept_.at(member.launch).warp_instructions;
  return sum;
}

host::Sharing::How SideBySide::possible(const std::vector<Member>& members) {
  const auto all_in = [&](const auto& known) {
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& member) { return known.count(member.launch) != 0; });
  };
  if (members.size() <= kMostTogether && all_in(kept_) && (budget_ == 0 || spent_ + cost(members) <= budget_))
    return How::simulation;
  return all_in(rates_) ? How::rates : How::unknown;
}

std::vector<host::Sharing::Times> SideBySide::times(const std::vector<Member>& members, How how) {
  if (how == How::simulation) return simulate(members);
  std::vector<host::Rates> rates;
  for (const Member& member : members) {
    rates.push_back(rates_.at(member.launch));
    rates.back().launched = member.launched;
  }
  return host::run_by_rates(rates);
}

std::vector<host::Sharing::Times> SideBySide::simulate(const std::vector<Member>& members) {
  const Kept& head = kept_.at(members.front().launch);
  std::vector<const isa::Program*> programs;
  for (const Member& member : members) programs.push_back(kept_.at(member.launch).shape.program.get());
  const std::shared_ptr<const spec::GpuSpec> chip = engine::at_clock_of(spec_, programs);
  const double cycles = static_cast<double>(chip->clock.sm) * 1e-9;  // a nanosecond
  std::vector<engine::BesideLaunch> launches;
  for (const Member& member : members) {
    const Kept& kept = kept_.at(member.launch);
    const double later = std::max(0.0, member.launched - members.front().launched);
    const auto begin = static_cast<Cycle>(std::llround(later * cycles));
    launches.push_back({kept.shape, begin, [&kept] { return kept.blocks->open(); }});
  }
  spent_ += cost(members);
  const std::vector<gpu::GridTime> ran = engine::run_together(*chip, launches, false, threads_, head.l2);
  // From a launch to its first block on a chip that has room.
  const auto way = static_cast<double>(ran.front().first - ran.front().begin);
  std::vector<Times> times;
  for (const gpu::GridTime& time : ran) {
    const double begin = std::max(static_cast<double>(time.first) - way, static_cast<double>(time.begin));
    times.push_back({members.front().launched + begin / cycles,
                     members.front().launched + static_cast<double>(time.end) / cycles});
  }
  return times;
}

}  // namespace foretrace::runtime
