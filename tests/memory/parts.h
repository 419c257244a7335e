// One part of the memory system alone: packets as its neighbours hand them over, and what it puts into the calendar.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/shared.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {

/// A packet of an SM for a line at its first slice, of which nothing is booked before now.
inline std::uint32_t packet(memory::Shared& shared, std::uint32_t sm, std::uint64_t line,
                            std::uint8_t sectors, memory::Packet::Kind kind = memory::Packet::Kind::read) {
  const std::uint32_t index = shared.pool.take();
  memory::Transaction& made = shared.pool[index];
  const memory::Place place = shared.map.place(line);
  made = {};
  made.tag = place.tag;
  made.sm = static_cast<std::uint16_t>(sm);
  made.index = static_cast<std::uint16_t>(place.index);
  made.set = static_cast<std::uint16_t>(place.set);
  made.sectors = sectors;
  made.visits = made.flits = static_cast<std::uint8_t>(memory::sector_count(sectors));
  made.at = made.near = shared.sm_place[sm].partition != 0;
  made.home = place.home != 0;
  made.kind = kind;
  made.issued = made.reached = made.since = shared.now;
  return index;
}

/// A write's event, likewise, of `bytes` of each sector (bit i: byte i); an acknowledgement is awaited.
inline memory::Event written(memory::Shared& shared, std::uint32_t sm, std::uint64_t line,
                             std::uint8_t sectors, std::uint32_t bytes = ~0u) {
  const std::uint32_t index = shared.writes.take();
  memory::Write& write = shared.writes[index];
  write = {};
  write.bytes.fill(bytes);
  write.wants_reply = true;
  const std::uint32_t other = packet(shared, sm, line, sectors);
  memory::Passage passage = shared.pool[other];
  passage.write_flits = memory::write_flits(sectors, write.bytes);
  shared.pool.give_back(other);
  return {index, memory::EventKind::arrive, passage, true};
}

struct Timed {
  std::uint64_t time = 0;
  memory::EventKind kind = memory::EventKind::arrive;
  std::uint32_t index = 0;
  friend bool operator==(const Timed&, const Timed&) = default;
};

/// All that stands in a calendar, which is empty then.
inline std::vector<Timed> taken(support::Calendar<memory::Event>& calendar) {
  std::vector<Timed> all;
  while (calendar.next() != kNever) {
    const std::uint64_t time = calendar.next();
    calendar.take(time, [&](const memory::Event& event) {
      all.push_back({time, event.kind(), event.index()});
    });
  }
  return all;
}

}  // namespace foretrace::memory_tests
