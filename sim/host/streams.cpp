#include "sim/host/streams.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::host {

const Streams::Stream& Streams::known(std::uint64_t stream) const {
  const auto found = streams_.find(stream);
  FORETRACE_ASSERT(found != streams_.end(), "work is given to a stream that is known");
  return found->second;
}

void Streams::add(std::uint64_t stream, bool non_blocking, unsigned device, std::uint64_t legacy) {
  streams_[legacy].device = device;
  streams_[legacy].legacy = legacy;
  Stream& state = streams_[stream];
  state.non_blocking = non_blocking;
  state.device = device;
  state.legacy = legacy;
}

std::vector<WorkId> Streams::before_next(std::uint64_t stream) {
  known(stream);
  Stream& state = streams_[stream];
  std::vector<WorkId> before = std::move(state.waits);
  state.waits.clear();
  if (state.last != kNoWork) before.push_back(state.last);
  if (stream == state.legacy) {
    for (const auto& [number, other] : streams_) {
      const bool waits = number != stream && other.legacy == stream && !other.non_blocking;
      if (waits && other.last != kNoWork) before.push_back(other.last);
    }
  } else if (!state.non_blocking && streams_[state.legacy].last != kNoWork) {
    before.push_back(streams_[state.legacy].last);
  }
  const auto alone = alone_.find(state.device);
  if (alone != alone_.end() && (state.last == kNoWork || state.last < alone->second))
    before.push_back(alone->second);
  std::sort(before.begin(), before.end());
  before.erase(std::unique(before.begin(), before.end()), before.end());
  return before;
}

WorkId Streams::take_queued(std::uint64_t stream, std::size_t most) {
  std::deque<WorkId>& launches = streams_[stream].launches;
  if (most == 0 || launches.size() < most) return kNoWork;
  const WorkId first = launches.front();
  launches.pop_front();
  return first;
}

std::vector<WorkId> Streams::all_of(std::uint64_t stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return {};
  const Stream& asked = found->second;
  std::vector<WorkId> all = asked.waits;
  for (const auto& [number, state] : streams_) {
    const bool held_up = stream == asked.legacy && !state.non_blocking;
    if ((number == stream || held_up) && state.last != kNoWork) all.push_back(state.last);
  }
  return all;
}

std::vector<WorkId> Streams::all_of_device(unsigned device) const {
  std::vector<WorkId> all;
  if (const auto alone = alone_.find(device); alone != alone_.end()) all.push_back(alone->second);
  for (const auto& [number, state] : streams_) {
    if (state.device == device && state.last != kNoWork) all.push_back(state.last);
  }
  return all;
}

}  // namespace foretrace::host
