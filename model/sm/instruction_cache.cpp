#include "model/sm/instruction_cache.h"

#include <algorithm>

namespace foretrace::sm {

InstructionCache::InstructionCache(const spec::FetchSpec& spec, std::size_t code_bytes)
    : prefetch_(spec.prefetch_lines),
      lines_(static_cast<std::uint32_t>((code_bytes + kLineBytes - 1) / kLineBytes)),
      associativity_(spec.l1_ways), sets_(std::max(1u, spec.l1_bytes / kLineBytes / spec.l1_ways)),
      state_(lines_, State::absent), ways_(std::size_t{sets_} * associativity_) {}

void InstructionCache::want(std::uint32_t line, std::vector<std::uint32_t>& requests) {
  if (state_[line] != State::absent) return;
  state_[line] = State::asked;
  ++misses;
  requests.push_back(line);
}

bool InstructionCache::enter(std::uint32_t index, Buffer& buffer, std::vector<std::uint32_t>& requests) {
  const std::uint32_t line = index / kInstructionsPerLine;
  const bool here = state_[line] == State::here;
  if (here) {
    buffer.held = line;
    Way* set = set_of(line);
    std::find_if(set, set + associativity_, [line](const Way& way) {
      return way.used && way.line == line;
    })->used = ++clock_;
  }
  // Runs ahead once for each line that the warp enters, not each time that it asks whether the line has come.
  const std::uint32_t last = buffer.wanted == line ? line : std::min(lines_ - 1, line + prefetch_);
  buffer.wanted = line;
  for (std::uint32_t next = line; next <= last; ++next) want(next, requests);
  return here;
}

void InstructionCache::fill(std::uint32_t line) {
  Way* set = set_of(line);
  Way* oldest =
      std::min_element(set, set + associativity_, [](const Way& a, const Way& b) { return a.used < b.used; });
  if (oldest->used) state_[oldest->line] = State::absent;
  *oldest = {line, ++clock_};
  state_[line] = State::here;
}

}  // namespace foretrace::sm
