// Plays requests into a memory system the way the engine does, window by window.
#pragma once

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/memory/topology.h"

namespace foretrace::memory_tests {

inline memory::Request read_request(Cycle time, std::uint32_t sm, std::uint64_t line, std::uint8_t sectors,
                                    std::uint32_t id = 0) {
  memory::Request request;
  request.time = time;
  request.sm = sm;
  request.id = id;
  request.line = line;
  request.sectors = sectors;
  return request;
}

inline memory::Request write_request(Cycle time, std::uint32_t sm, std::uint64_t line, std::uint8_t sectors,
                                     std::uint32_t bytes = ~0u, std::uint32_t id = 0) {
  memory::Request request = read_request(time, sm, line, sectors, id);
  request.kind = memory::RequestKind::write;
  for (std::size_t i = 0; i < 4; ++i) request.bytes[i] = sectors >> i & 1 ? bytes : 0;
  return request;
}

inline memory::Request atomic_request(Cycle time, std::uint32_t sm, std::uint64_t line, std::uint8_t sectors,
                                      std::uint8_t packets, std::uint32_t id = 0) {
  memory::Request request = read_request(time, sm, line, sectors, id);
  request.kind = memory::RequestKind::atomic;
  request.packets = packets;
  request.visits = static_cast<std::uint8_t>(packets * std::popcount(sectors));
  request.flits = request.visits;
  return request;
}

/// All of them by time, SM and id.
inline std::vector<memory::Reply> in_order(const memory::Replies& known) {
  std::vector<memory::Reply> replies = known.of_code;
  for (const memory::Replies::Sm& sm : known.of_sm) {
    replies.insert(replies.end(), sm.data.begin(), sm.data.end());
    replies.insert(replies.end(), sm.acknowledgements.begin(), sm.acknowledgements.end());
  }
  std::sort(replies.begin(), replies.end(), [](const memory::Reply& a, const memory::Reply& b) {
    return std::tie(a.time, a.sm, a.id) < std::tie(b.time, b.sm, b.id);
  });
  return replies;
}

/// Submits requests (sorted by (time, sm)) in windows of `window` cycles (the lookahead if 0) until all is
/// served.
inline std::vector<memory::Reply> play(memory::MemorySystem& memory,
                                       const std::vector<memory::Request>& requests, Cycle from = 0,
                                       Cycle window = 0) {
  if (window == 0) window = memory.lookahead();
  memory::Replies known;
  std::size_t next = 0;
  Cycle until = from;
  while (next < requests.size() || !memory.idle()) {
    until += window;
    while (next < requests.size() && requests[next].time < until) memory.submit(requests[next++]);
    memory.advance(until, known);
  }
  return in_order(known);
}

/// Latency of one request alone.
inline Cycle latency_of(memory::MemorySystem& memory, const memory::Request& request) {
  const std::vector<memory::Reply> replies = play(memory, {request}, request.time);
  return replies.size() == 1 ? replies[0].time - request.time : kNever;
}

/// First line from `first` on with the wanted home partition.
inline std::uint64_t line_at_home(const spec::GpuSpec& chip, std::uint32_t home, std::uint64_t first = 0) {
  const memory::AddressMap map(chip);
  while (map.place(first).home != home) ++first;
  return first;
}

}  // namespace foretrace::memory_tests
