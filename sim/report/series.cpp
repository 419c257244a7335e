#include "sim/report/series.h"

#include <algorithm>

namespace foretrace::report {
namespace {

using stats::Instant;

/// What `of` an instant rose by in each slice. States are told apart when a wait ends, so that one may fall by a little: no rise.
template <typename Of>
void add_rises(std::vector<Series>& to, std::string name, const std::vector<Instant>& instants,
               const Of& of) {
  Series series{std::move(name), {}};
  std::uint64_t before = 0;
  for (const Instant& instant : instants) {
    const std::uint64_t now = of(instant);
    series.values.push_back(now > before ? now - before : 0);
    before = std::max(before, now);
  }
  if (std::any_of(series.values.begin(), series.values.end(), [](std::uint64_t v) { return v > 0; }))
    to.push_back(std::move(series));
}

}  // namespace

std::vector<Series> over_time(const stats::LaunchCounters& counters) {
  const std::vector<Instant>& instants = counters.over_time;
  if (instants.empty()) return {};
  std::vector<Series> all{{"end", {}}, {"blocks", {}}};
  for (const Instant& instant : instants) {
    all[0].values.push_back(instant.now);
    all[1].values.push_back(instant.placed - std::min(instant.placed, instant.ended));
  }
  add_rises(all, "instructions", instants, [](const Instant& i) { return i.instructions; });
  add_rises(all, "l1_tag", instants, [](const Instant& i) { return i.l1_tag; });
  add_rises(all, "l1_data", instants, [](const Instant& i) { return i.l1_data; });
  add_rises(all, "l2_sectors", instants, [](const Instant& i) { return i.l2_sectors; });
  add_rises(all, "dram_bytes", instants, [](const Instant& i) { return i.dram_bytes; });
  for (std::size_t s = 0; s < static_cast<std::size_t>(stats::kWarpStates); ++s) {
    add_rises(all, std::string("warps.") + stats::name_of(static_cast<stats::WarpState>(s)), instants,
              [&](const Instant& i) { return i.state[s]; });
  }
  for (std::size_t p = 0; p < spec::kPipes; ++p) {
    add_rises(all, std::string("pipe.") + spec::name_of(static_cast<spec::Pipe>(p)), instants,
              [&](const Instant& i) { return i.pipe_busy[p]; });
  }
  return all;
}

std::vector<Series> over_sms(const stats::LaunchCounters& counters) {
  if (counters.sm_blocks_each.empty()) return {};
  return {{"active", counters.sm_active_each},
          {"instructions", counters.sm_inst_each},
          {"blocks", counters.sm_blocks_each}};
}

}  // namespace foretrace::report
