#include "model/gpu/dispatcher.h"

#include <algorithm>
#include <utility>

#include "model/memory/topology.h"
#include "model/rules/clusters.h"
#include "model/units/error.h"

namespace foretrace::gpu {

namespace {

using Sms = std::vector<std::uint32_t>;

/// The SMs that a grid's blocks come to in one run, TPC by TPC: those that come first, then each GPC's.
std::vector<Sms> groups_of_sms(const spec::GpuSpec& spec) {
  std::vector<Sms> groups(1 + spec.sm.gpcs);
  for (std::uint32_t sm = 0; sm < spec.sm.count; ++sm) {
    const std::uint32_t gpc = memory::gpc_of_sm(spec.sm, sm);
    const bool first = gpc == 0 && groups[0].size() < spec.launch.first_group;
    groups[first ? 0 : 1 + gpc].push_back(sm);
  }
  return groups;
}

std::size_t tpcs_of(const Sms& group) { return (group.size() + 1) / 2; }

/// Appends those of a group that get one of `count` blocks: a TPC gets a second one when all have one.
void take(const Sms& group, std::size_t count, Sms& order) {
  const std::size_t tpcs = tpcs_of(group), doubles = count > tpcs ? count - tpcs : 0;
  for (std::size_t tpc = 0; tpc < std::min(count, tpcs); ++tpc) {
    order.push_back(group[2 * tpc]);
    if (tpc < doubles) order.push_back(group[2 * tpc + 1]);
  }
}

/// Appends the SMs of `blocks` blocks, at most one each: the first group is full before any other gets one; these get one by
/// turns, second blocks of TPCs when no TPC is left without one.
void share_out(const std::vector<Sms>& groups, std::size_t blocks, Sms& order) {
  std::vector<std::size_t> share(groups.size());
  share[0] = std::min(blocks, groups[0].size());
  std::size_t left = blocks - share[0];
  for (const bool doubles : {false, true}) {
    for (bool room = true; room && left > 0;) {
      room = false;
      for (std::size_t g = 1; g < groups.size() && left > 0; ++g) {
        if (share[g] == (doubles ? groups[g].size() : tpcs_of(groups[g]))) continue;
        room = true;
        ++share[g];
        --left;
      }
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) take(groups[g], share[g], order);
}

}  // namespace

std::vector<std::uint32_t> order_of_first_blocks(const spec::GpuSpec& spec, std::uint64_t blocks) {
  const std::uint32_t count = spec.sm.count;
  Sms order;
  if (spec.launch.by_gpc) share_out(groups_of_sms(spec), std::min<std::uint64_t>(blocks, count), order);
  std::vector<bool> taken(count);
  for (const std::uint32_t sm : order) taken[sm] = true;
  for (std::uint32_t sm = 0; sm < count; ++sm) {
    if (!taken[sm]) order.push_back(sm);
  }
  return order;
}

std::vector<std::uint32_t> order_of_filling(const spec::GpuSpec& spec, std::uint64_t blocks,
                                            std::uint32_t limit) {
  Sms order;
  if (!spec.launch.by_gpc) return order;
  const std::vector<Sms> groups = groups_of_sms(spec);
  const std::uint64_t rounds = std::min<std::uint64_t>(blocks / spec.sm.count, limit);
  std::uint64_t first = 0, others = 0;  // turns so far
  std::uint64_t until_first = 0;        // turns of the others before the first group's next one
  while (first < rounds || others < rounds * spec.sm.gpcs) {
    const bool is_first = first < rounds && (until_first == 0 || others == rounds * spec.sm.gpcs);
    const Sms& group = groups[is_first ? 0 : 1 + others % spec.sm.gpcs];
    take(group, group.size(), order);
    if (is_first) {
      until_first = spec.launch.first_group_turns - (first == 0 ? 1 : 0);
      ++first;
    } else {
      ++others;
      if (until_first > 0) --until_first;
    }
  }
  if (rounds < limit) share_out(groups, blocks % spec.sm.count, order);
  return order;
}

Dispatcher::Dispatcher(const spec::GpuSpec& spec, const LaunchSetup& setup)
    : spec_(spec), most_warps_(setup.most_warps ? setup.most_warps : setup.warps * setup.blocks_per_sm),
      most_blocks_(setup.most_blocks ? setup.most_blocks : setup.blocks_per_sm),
      shared_bytes_(setup.shared_bytes), sms_(spec.sm.count), first_(spec.sm.count), later_(spec.sm.count),
      grid_(setup.grid), cluster_(setup.cluster),
      cluster_blocks_(setup.cluster[0] * setup.cluster[1] * setup.cluster[2]),
      next_dispatch_(spec.launch.start) {
  enqueue(setup.blocks, setup.warps, setup.blocks_per_sm, setup.needs, 0);
  for (const GridBeside& other : setup.beside)
    enqueue(other.blocks, other.warps, other.blocks_per_sm, other.needs, other.begin);
  if (queue_.size() > 1) {
    FORETRACE_ASSERT(cluster_blocks_ == 1, "grids of clusters have the chip for themselves");
    for (State& state : sms_) state.of_grid.resize(queue_.size());
  }
  if (cluster_blocks_ > 1) groups_ = rules::cluster_groups(spec);
  const auto place = [](const std::vector<std::uint32_t>& order, std::vector<std::uint32_t>& places) {
    for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  };
  if (queue_.size() == 1 && cluster_blocks_ == 1)
    filling_ = order_of_filling(spec, setup.blocks, setup.blocks_per_sm);
  place(order_of_first_blocks(spec, setup.blocks), first_);
  place(order_of_first_blocks(spec, spec.sm.count), later_);
}

void Dispatcher::enqueue(std::uint64_t blocks, std::uint32_t warps, std::uint32_t limit,
                         const BlockNeeds& needs, Cycle begin) {
  Queued grid;
  grid.left = grid.time.blocks = blocks;
  grid.warps = warps;
  grid.limit = limit;
  grid.sm_interval =
      std::max<Cycle>(spec_.launch.sm_block_interval, static_cast<Cycle>(warps * spec_.launch.warp_interval));
  grid.needs = needs;
  grid.time.begin = begin;
  FORETRACE_ASSERT(queue_.empty() || (blocks > 0 && begin >= queue_.back().time.begin),
                   "grids stand in the order in which they were launched");
  queue_.push_back(grid);
}

std::uint64_t Dispatcher::left() const {
  std::uint64_t left = 0;
  for (const Queued& grid : queue_) left += grid.left;
  return left;
}

std::vector<GridTime> Dispatcher::times() const {
  std::vector<GridTime> times;
  for (const Queued& grid : queue_) times.push_back(grid.time);
  return times;
}

std::uint32_t Dispatcher::beside(std::uint32_t sm) const { return (sm ^ 1) < sms_.size() ? sm ^ 1 : sm; }

bool Dispatcher::has_room(const State& state) const {
  if (queue_.size() > 1) return fits_beside(state);
  if (state.resident < head().limit) return true;
  const std::uint32_t spare = spec_.launch.spare_warps;
  return spare && state.resident < most_blocks_ && state.warps + std::max(head().warps, spare) <= most_warps_;
}

/// A block of the grid at the head of the queue, beside what is on the SM.
bool Dispatcher::fits_beside(const State& state) const {
  const spec::LimitsSpec& limits = spec_.limits;
  const Queued& grid = head();
  const std::uint64_t carve_out = state.resident == 0 ? carve_out_of(grid) : state.carve_out;
  return state.of_grid[head_] < grid.limit && state.resident < limits.blocks &&
         state.taken_warps + grid.warps <= limits.warps &&
         state.taken.registers + grid.needs.registers <= limits.registers &&
         state.taken.shared + grid.needs.shared <= carve_out &&
         state.taken.barriers + grid.needs.barriers <= limits.barriers;
}

void Dispatcher::announced(Cycle time) {
  settled_ =
      std::max(settled_ + spec_.launch.block_interval, static_cast<double>(time + spec_.launch.block_end));
}

void Dispatcher::ended(std::uint32_t sm, Cycle time, bool block, std::uint32_t grid) {
  ++sms_[sm].ended;
  if (!block) return;
  announced(time);
  const auto take = [this](std::uint32_t of) { return std::exchange(sms_[of].ended, 0); };
  const std::uint32_t own = take(sm);
  queue_[grid].time.end = static_cast<Cycle>(settled_);
  rooms_.push_back({static_cast<Cycle>(settled_), sm, own, take(beside(sm)), grid});
}

void Dispatcher::take_room() {
  while (!rooms_.empty() && rooms_.front().time <= next_dispatch_) {
    const Room& room = rooms_.front();
    --sms_[room.sm].resident;
    sms_[room.sm].warps -= room.warps;
    sms_[beside(room.sm)].warps -= room.beside;
    if (queue_.size() > 1) give_back(sms_[room.sm], room.grid);
    rooms_.pop_front();
  }
}

std::uint64_t Dispatcher::carve_out_of(const Queued& grid) const {
  return grid.needs.carve_out ? grid.needs.carve_out : shared_bytes_;
}

void Dispatcher::take_beside(State& state) {
  const Queued& grid = head();
  if (state.resident == 0) state.carve_out = carve_out_of(grid);
  ++state.of_grid[head_];
  state.taken_warps += grid.warps;
  state.taken.registers += grid.needs.registers;
  state.taken.shared += grid.needs.shared;
  state.taken.barriers += grid.needs.barriers;
}

void Dispatcher::give_back(State& state, std::uint32_t of) {
  const Queued& grid = queue_[of];
  --state.of_grid[of];
  state.taken_warps -= grid.warps;
  state.taken.registers -= grid.needs.registers;
  state.taken.shared -= grid.needs.shared;
  state.taken.barriers -= grid.needs.barriers;
}

/// A block is dispatched to `sm` at `when`; returns when it starts: when the warps of the one before have.
Cycle Dispatcher::place(std::uint32_t sm, Cycle when) {
  State& state = sms_[sm];
  Queued& grid = queue_[head_];
  if (queue_.size() > 1) take_beside(state);
  ++state.resident;
  state.warps += grid.warps;
  const Cycle ready = std::max(when, state.ready);
  state.ready = ready + grid.sm_interval;
  pace_ += spec_.launch.fill_interval;
  const auto whole = static_cast<Cycle>(pace_);
  pace_ -= static_cast<double>(whole);
  next_dispatch_ = when + whole;
  const Cycle start = ready + spec_.launch.block_start;
  if (grid.left == grid.time.blocks) grid.time.first = start;
  if (--grid.left == 0 && head_ + 1 < queue_.size())
    next_dispatch_ = std::max(next_dispatch_, queue_[++head_].time.begin + spec_.launch.start);
  return start;
}

bool Dispatcher::next(Cycle until, Placement& placement) {
  if (cluster_blocks_ > 1) return next_of_cluster(until, placement);
  if (any_left() && filled_ < filling_.size()) {
    if (next_dispatch_ >= until) return false;
    placement = {};
    placement.sm = filling_[filled_++];
    placement.start = place(placement.sm, next_dispatch_);
    return true;
  }
  while (any_left()) {
    take_room();
    std::uint32_t best = 0;
    Cycle when = kNever;
    const auto order = [this](std::uint32_t sm) {
      const std::uint32_t resident = sms_[sm].resident;
      return std::pair(resident, (resident ? later_ : first_)[sm]);
    };
    for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
      const State& state = sms_[sm];
      if (!has_room(state)) continue;
      const Cycle possible = std::max(next_dispatch_, state.ready);
      if (when == kNever || possible < when || (possible == when && order(sm) < order(best))) {
        best = sm;
        when = possible;
      }
    }
    if (!rooms_.empty() && rooms_.front().time <= when) {  // another SM has room by then: look again with it
      next_dispatch_ = std::max(next_dispatch_, rooms_.front().time);
      if (next_dispatch_ >= until) return false;
      continue;
    }
    if (when >= until) return false;  // also when no SM has room
    placement = {};
    placement.sm = best;
    placement.grid = static_cast<std::uint32_t>(head_);
    placement.start = place(best, when);
    return true;
  }
  return false;
}

/// The SMs of GPC `group` for all blocks of the next cluster, those with the fewest blocks first, and when. Returns how many blocks the
/// fullest of them had; nothing: there is no room.
std::optional<std::uint32_t> Dispatcher::cluster_room(const std::vector<std::uint32_t>& group, Cycle& when,
                                                      std::vector<std::uint32_t>& sms) const {
  std::vector<std::uint32_t> taken(group.size());
  sms.clear();
  when = next_dispatch_;
  bool room = true;
  for (std::uint32_t level = 0; room; ++level) {
    room = false;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const State& state = sms_[group[i]];
      State after = state;
      after.resident += taken[i];
      after.warps += taken[i] * head().warps;
      if (after.resident >= std::min(head().limit, spec_.cluster.blocks)) continue;
      room = true;
      if (after.resident > level) continue;
      ++taken[i];
      sms.push_back(group[i]);
      when = std::max(when, state.ready);
      if (sms.size() == cluster_blocks_) return level;
    }
  }
  return std::nullopt;
}

/// Same, in the GPC where the fullest has the fewest blocks, of several that whose turn it is; false: none has room.
bool Dispatcher::find_cluster_room(Cycle& when, std::vector<std::uint32_t>& sms) const {
  std::optional<std::uint32_t> best;
  Cycle from = 0;
  std::vector<std::uint32_t> of_group;
  for (std::size_t turn = 0; turn < groups_.size(); ++turn) {
    const auto& group = groups_[(group_turn_ + turn) % groups_.size()];
    if (group.size() < cluster_blocks_) continue;
    const std::optional<std::uint32_t> level = cluster_room(group, from, of_group);
    if (!level || (best && *level >= *best)) continue;
    best = level;
    when = from;
    sms.swap(of_group);
  }
  return best.has_value();
}

bool Dispatcher::next_of_cluster(Cycle until, Placement& placement) {
  if (!placed_.empty()) {
    placement = std::move(placed_.front());
    placed_.pop_front();
    return true;
  }
  while (any_left()) {
    take_room();
    Cycle when = kNever;
    std::vector<std::uint32_t> sms;
    const bool found = find_cluster_room(when, sms);
    if (!found) {
      if (rooms_.empty()) return false;
      next_dispatch_ = std::max(next_dispatch_, rooms_.front().time);
      if (next_dispatch_ >= until) return false;
      continue;
    }
    if (when >= until) return false;
    const std::uint64_t number = clusters_placed_++;
    const std::uint64_t across = grid_[0] / cluster_[0], down = grid_[1] / cluster_[1];
    const std::uint64_t at[3] = {number % across, number / across % down, number / across / down};
    for (std::uint32_t rank = 0; rank < cluster_blocks_; ++rank) {
      const std::uint64_t x = at[0] * cluster_[0] + rank % cluster_[0];
      const std::uint64_t y = at[1] * cluster_[1] + rank / cluster_[0] % cluster_[1];
      const std::uint64_t z = at[2] * cluster_[2] + rank / cluster_[0] / cluster_[1];
      Placement each;
      each.sm = sms[rank];
      each.start = place(sms[rank], when);
      each.block = x + grid_[0] * (y + grid_[1] * z);
      each.cluster = number;
      each.rank = rank;
      each.places = sms;
      placed_.push_back(std::move(each));
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (std::find(groups_[g].begin(), groups_[g].end(), sms[0]) != groups_[g].end())
        group_turn_ = (g + 1) % groups_.size();
    }
    return next_of_cluster(until, placement);
  }
  return false;
}

Cycle Dispatcher::next_event() const {
  if (!any_left()) return kNever;
  if (filled_ < filling_.size()) return next_dispatch_;
  Cycle next = rooms_.empty() ? kNever : std::max(next_dispatch_, rooms_.front().time);
  if (cluster_blocks_ > 1) {
    Cycle when = kNever;
    std::vector<std::uint32_t> sms;
    return find_cluster_room(when, sms) ? std::min(next, when) : next;
  }
  for (const State& state : sms_) {
    if (has_room(state)) next = std::min(next, std::max(next_dispatch_, state.ready));
  }
  return next;
}

}  // namespace foretrace::gpu
