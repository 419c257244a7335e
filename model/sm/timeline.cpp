#include "model/sm/timeline.h"

#include <algorithm>
#include <tuple>

#include "model/units/error.h"

namespace foretrace::sm {

const char* name_of(Stage stage) {
  static constexpr std::array<const char*, kStages> kNames = {
      "operands", "execute",   "queue",      "address", "tags", "data", "network",
      "l2",       "partition", "dram_queue", "dram",    "fill", "copy"};
  return kNames[static_cast<std::size_t>(stage)];
}

Cycle TimelineRow::first() const { return states.empty() ? issued : std::min(issued, states.front().from); }

Cycle TimelineRow::last() const {
  Cycle last = issued + 1;
  for (const StateTime& each : states) last = std::max(last, each.to);
  for (const StageTime& each : stages) last = std::max(last, each.to);
  for (const Cycle each : {sources_read, written}) {
    if (each != kNever) last = std::max(last, each + 1);
  }
  return last;
}

bool TimelineChoice::has(std::uint64_t block, std::uint32_t warp) const {
  const auto named = [](const auto& list, auto number) {
    return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
  };
  return named(blocks, block) && named(warps, warp);
}

// --- warps ----------------------------------------------------------------------------------------------------------

void SmTimeline::start_warp(std::uint16_t slot, std::uint64_t block, std::uint32_t warp, Cycle now) {
  Slot& of = slots_[slot];
  of = Slot{};
  of.chosen = choice_.has(block, warp) && now < choice_.to;
  of.next.block = block;
  of.next.warp = warp;
  of.next.sm = sm_;
}

void SmTimeline::end_warp(std::uint16_t slot) { slots_[slot].chosen = false; }

TimelineRow* SmTimeline::last_of(std::uint16_t slot) {
  const Slot& of = slots_[slot];
  return of.chosen && of.last != kNobody ? &rows_[static_cast<std::size_t>(of.last)] : nullptr;
}

void SmTimeline::waited(std::uint16_t slot, std::uint32_t index, stats::WarpState state, Cycle from,
                        Cycle to) {
  Slot& of = slots_[slot];
  if (!of.chosen || to <= from || state == stats::WarpState::selected) return;
  TimelineRow* last = last_of(slot);
  TimelineRow& row = last && last->index == index && of.next.states.empty() ? *last : of.next;
  if (!row.states.empty() && row.states.back().state == state && row.states.back().to == from) {
    row.states.back().to = to;
  } else {
    row.states.push_back({state, from, to});
  }
}

void SmTimeline::issued(std::uint16_t slot, std::uint32_t index, std::uint32_t active, std::uint32_t executed,
                        Cycle now) {
  Slot& of = slots_[slot];
  if (!of.chosen) return;
  if (now >= choice_.to) {
    of.chosen = false;
    return;
  }
  TimelineRow row = of.next;
  row.index = index;
  row.active = active;
  row.executed = executed;
  row.issued = now;
  row.sub_core = slot / static_cast<std::uint32_t>(slots_.size() / 4);
  of.last = static_cast<std::int64_t>(rows_.size());
  rows_.push_back(std::move(row));
  ++of.next.number;
  of.next.states.clear();
}

void SmTimeline::stage(std::uint16_t slot, Stage stage, Cycle from, Cycle to) {
  if (TimelineRow* row = last_of(slot); row && to > from) row->stages.push_back({stage, from, to});
}
void SmTimeline::row_stage(std::int64_t row, Stage stage, Cycle from, Cycle to) {
  if (row != kNobody && to > from) rows_[static_cast<std::size_t>(row)].stages.push_back({stage, from, to});
}
void SmTimeline::written(std::uint16_t slot, Cycle when) {
  if (TimelineRow* row = last_of(slot)) row->written = when;
}
void SmTimeline::sources_read(std::uint16_t slot, Cycle when) {
  if (TimelineRow* row = last_of(slot)) row->sources_read = when;
}

// --- memory operations ----------------------------------------------------------------------------------------------

TimelineRow* SmTimeline::of(const std::unordered_map<std::uint32_t, std::size_t>& keys, std::uint32_t key) {
  const auto found = keys.find(key);
  return found == keys.end() ? nullptr : &rows_[found->second];
}

void SmTimeline::queued(std::uint32_t operation, std::uint16_t slot, Cycle now, Cycle address, Cycle ready) {
  operations_.erase(operation);  // whoever had that number before
  if (last_of(slot) == nullptr) return;
  operations_[operation] = static_cast<std::size_t>(slots_[slot].last);
  stage(slot, Stage::queue, now + 1, address);
  stage(slot, Stage::address, address, ready);
  stage(slot, Stage::queue, ready, ready + 1);  // until accepted() knows better
}

void SmTimeline::accepted(std::uint32_t operation, Cycle now) {
  if (TimelineRow* row = of(operations_, operation)) {
    row->stages.back().to = now;
    if (row->stages.back().to <= row->stages.back().from) row->stages.pop_back();
  }
}

void SmTimeline::operation_stage(std::uint32_t operation, Stage stage, Cycle from, Cycle to) {
  if (TimelineRow* row = of(operations_, operation); row && to > from)
    row->stages.push_back({stage, from, to});
}
void SmTimeline::operation_written(std::uint32_t operation, Cycle when) {
  if (TimelineRow* row = of(operations_, operation)) row->written = when;
}
void SmTimeline::operation_sources_read(std::uint32_t operation, Cycle when) {
  if (TimelineRow* row = of(operations_, operation)) row->sources_read = when;
}

void SmTimeline::asks(std::uint32_t operation, std::uint32_t request, Cycle now) {
  const auto found = operations_.find(operation);
  if (found != operations_.end()) requests_[request].push_back({found->second, now});
}

void SmTimeline::answered(const memory::ReadJourney& journey) {
  const auto found = requests_.find(journey.id);
  if (found == requests_.end()) return;
  const std::array<std::pair<Stage, Cycle>, 6> parts = {{{Stage::network, journey.reached},
                                                         {Stage::l2, journey.l2},
                                                         {Stage::partition, journey.partition},
                                                         {Stage::dram_queue, journey.dram_queue},
                                                         {Stage::dram, journey.dram},
                                                         {Stage::network, journey.answered}}};
  for (const Asked& asked : found->second) {
    Cycle from = std::max(journey.issued, asked.since);
    for (const auto& [stage, to] : parts) {
      if (to <= from) continue;
      rows_[asked.row].stages.push_back({stage, from, to});
      from = to;
    }
  }
}

void SmTimeline::arrived(std::uint32_t request, Cycle from, Cycle to) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  for (const Asked& asked : found->second) rows_[asked.row].stages.push_back({Stage::fill, from, to});
  requests_.erase(found);
}

// --- what goes on behind a warp's back ------------------------------------------------------------------------------

void SmTimeline::begin_copy(std::uint32_t job, std::uint16_t slot, Cycle now) {
  copies_.erase(job);
  if (last_of(slot) == nullptr) return;
  copies_[job] = static_cast<std::size_t>(slots_[slot].last);
  stage(slot, Stage::copy, now + 1, now + 2);
}

void SmTimeline::end_copy(std::uint32_t job, Cycle now) {
  if (TimelineRow* row = of(copies_, job)) row->stages.back().to = now;
  copies_.erase(job);
}

void SmTimeline::begin_test(std::uint32_t test, std::uint16_t slot) {
  tests_.erase(test);
  if (last_of(slot) != nullptr) tests_[test] = static_cast<std::size_t>(slots_[slot].last);
}

void SmTimeline::end_test(std::uint32_t test, Cycle when) {
  if (TimelineRow* row = of(tests_, test)) row->written = when;
  tests_.erase(test);
}

// --- the end --------------------------------------------------------------------------------------------------------

std::vector<TimelineRow> SmTimeline::take() {
  std::vector<TimelineRow> taken = std::move(rows_);
  std::erase_if(
      taken, [&](const TimelineRow& row) { return row.last() <= choice_.from || row.first() >= choice_.to; });
  for (TimelineRow& row : taken) {
    std::stable_sort(row.stages.begin(), row.stages.end(),
                     [](const StageTime& a, const StageTime& b) { return a.from < b.from; });
  }
  rows_.clear();
  return taken;
}

SmTimeline& Timeline::of_sm(std::uint32_t sm) {
  if (sms_.size() <= sm) sms_.resize(sm + 1);
  if (!sms_[sm]) sms_[sm] = std::make_unique<SmTimeline>(choice_, sm);
  return *sms_[sm];
}

void Timeline::answered(const std::vector<memory::ReadJourney>& journeys) {
  for (const memory::ReadJourney& journey : journeys) {
    if (journey.sm < sms_.size() && sms_[journey.sm]) sms_[journey.sm]->answered(journey);
  }
}

void Timeline::finish() {
  for (const auto& sm : sms_) {
    if (!sm) continue;
    std::vector<TimelineRow> taken = sm->take();
    rows.insert(rows.end(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
  }
  std::sort(rows.begin(), rows.end(), [](const TimelineRow& a, const TimelineRow& b) {
    return std::tie(a.block, a.warp, a.number) < std::tie(b.block, b.warp, b.number);
  });
}

}  // namespace foretrace::sm
