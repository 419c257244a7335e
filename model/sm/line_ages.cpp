#include "model/sm/line_ages.h"

namespace foretrace::sm {

std::uint32_t LineAges::take_group(std::uint32_t list, std::uint32_t stretch, std::uint32_t older) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(groups_.size()));
    groups_.emplace_back();
  }
  const std::uint32_t taken = free_.back();
  free_.pop_back();
  Group& group = groups_[taken];
  group.list = list;
  group.stretch = stretch;
  group.older = older;
  group.younger = older == kNone ? lists_[list].oldest : groups_[older].younger;
  (older == kNone ? lists_[list].oldest : groups_[older].younger) = taken;
  (group.younger == kNone ? lists_[list].youngest : groups_[group.younger].older) = taken;
  return taken;
}

void LineAges::add(std::uint32_t list, std::uint32_t line, std::uint32_t stretch) {
  std::uint32_t group = lists_[list].youngest;
  while (group != kNone && groups_[group].stretch > stretch) group = groups_[group].older;
  if (group == kNone || groups_[group].stretch != stretch) group = take_group(list, stretch, group);
  at_[line] = {group, static_cast<std::uint32_t>(groups_[group].lines.size())};
  groups_[group].lines.push_back(line);
  ++lists_[list].lines;
}

void LineAges::remove(std::uint32_t line) {
  const Place place = at_[line];
  at_[line] = {};
  Group& group = groups_[place.group];
  List& list = lists_[group.list];
  --list.lines;
  const std::uint32_t last = group.lines.back();
  group.lines.pop_back();
  if (last != line) {
    group.lines[place.index] = last;
    at_[last].index = place.index;
  }
  if (!group.lines.empty()) return;
  (group.older == kNone ? list.oldest : groups_[group.older].younger) = group.younger;
  (group.younger == kNone ? list.youngest : groups_[group.younger].older) = group.older;
  free_.push_back(place.group);
}

}  // namespace foretrace::sm
