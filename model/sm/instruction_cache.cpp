#include "model/sm/instruction_cache.h"

#include <algorithm>

namespace foretrace::sm {

namespace {
constexpr std::uint32_t kInstructionsPerLine = kLineBytes / kInstructionBytes;
}

InstructionCache::InstructionCache(const spec::FetchSpec& spec, std::size_t code_bytes)
    : spec_(spec), lines_(static_cast<std::uint32_t>((code_bytes + kLineBytes - 1) / kLineBytes)), wanted_(lines_) {
  for (Level& level : l0_) {
    level.ready.assign(lines_, kNever);
    level.capacity = std::max<std::size_t>(1, spec.l0_bytes / kLineBytes);
  }
  l1_.ready.assign(lines_, kNever);
  l1_.capacity = std::max<std::size_t>(1, spec.l1_bytes / kLineBytes);
}

void InstructionCache::Level::insert(std::uint32_t line, Cycle when) {
  if (order.size() - first >= capacity) {
    ready[order[first]] = kNever;
    ++first;
    if (first > 4096 && first * 2 > order.size()) {
      order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first));
      first = 0;
    }
  }
  order.push_back(line);
  ready[line] = when;
}

/// When a line that L1 sends a sub-core from `now` on is there: one line an interval.
Cycle InstructionCache::arrival(int sub_core, Cycle now) {
  Cycle& last = last_arrival_[static_cast<std::size_t>(sub_core)];
  return last = std::max(now + spec_.l1_latency, last + spec_.l1_interval);
}

Cycle InstructionCache::start(int sub_core, std::uint32_t line, Cycle now, std::vector<std::uint32_t>& requests) {
  Level& l0 = l0_[sub_core];
  if (l0.ready[line] != kNever) return l0.ready[line];
  if (l1_.ready[line] != kNever) {
    ++l0_misses;
    const Cycle when = arrival(sub_core, std::max(now, l1_.ready[line]));
    l0.insert(line, when);
    return when;
  }
  const auto bit = static_cast<std::uint8_t>(1u << sub_core);
  if (!(wanted_[line] & bit)) {
    ++l0_misses;
    if (wanted_[line] == 0) {
      ++l1_misses;
      requests.push_back(line);
    }
    wanted_[line] = static_cast<std::uint8_t>(wanted_[line] | bit);
  }
  return kNever;
}

Cycle InstructionCache::ready(int sub_core, std::uint32_t index, Cycle now, std::vector<std::uint32_t>& requests) {
  const std::uint32_t line = index / kInstructionsPerLine;
  const Cycle here = l0_[sub_core].ready[line];
  if (here <= now && index % kInstructionsPerLine) return now;  // inside a line that is there
  const Cycle when = start(sub_core, line, now, requests);
  const std::uint32_t last = std::min(lines_ - 1, line + spec_.prefetch_lines);
  for (std::uint32_t next = line + 1; next <= last; ++next) start(sub_core, next, now, requests);
  return when <= now ? now : when;
}

void InstructionCache::preload(Cycle now) {
  const std::uint32_t lines = std::min<std::uint32_t>({lines_, spec_.preload_bytes / kLineBytes, static_cast<std::uint32_t>(l1_.capacity)});
  for (std::uint32_t line = 0; line < lines; ++line) l1_.insert(line, now + spec_.preload_latency);
}

void InstructionCache::fill(std::uint32_t line, Cycle now) {
  l1_.insert(line, now);
  for (int sub_core = 0; sub_core < kSubCores; ++sub_core) {
    if (wanted_[line] & (1u << sub_core)) l0_[sub_core].insert(line, arrival(sub_core, now));
  }
  wanted_[line] = 0;
}

}  // namespace foretrace::sm
