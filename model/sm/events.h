// What happens in an SM at a time to come.
//
// Models:  nothing; it is what the SM's units tell each other of a cycle ahead.
#pragma once

#include <cstdint>

#include "model/support/event_wheel.h"

namespace foretrace::sm {

struct Event {
  enum class Kind : std::uint8_t {
    release,
    copy_done,
    store_done,
    reply,
    end,
    barrier,        ///< an operation on mbarriers has come to them; id: of BarrierUnit
    copy_step,      ///< the copy engine's next row
    copy_told,      ///< one of its copies is done; id: its job
    message,        ///< from another SM of the cluster; id: of ClusterPort
    constant_pass,  ///< the next word of an LDC; id: of ConstantPath's lookups
    product         ///< the tensor cores are free for the next warpgroup's product
  };
  Kind kind = Kind::end;
  std::uint8_t scoreboard = 0;
  std::uint16_t warp = 0;
  std::uint32_t id = 0;  ///< reply: the request; copy_done: the group
  std::uint32_t generation =
      0;  ///< the warp's age: an event of a warp that has ended in the meantime means nothing
};
using Events = support::EventWheel<Event>;

}  // namespace foretrace::sm
