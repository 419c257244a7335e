// Launches that do again what has been done: not executed.
//
// Models:  a launch whose blocks are independent (emulate::blocks_are_independent) is a function of its code, shape, parameters,
//          constants, textures and of the memory. Where one has left all memory as it was, the same launch on the same memory does so again.
//          Memory is compared by a hash of 128 bits of every allocation, taken before and after a launch that comes a second time;
//          one that changes it every time is looked at ever more seldom.
// Ignores: launches too small, or memory too large, for that to pay; programs with registered or mapped memory (it may not be there to be
//          read) or a device heap in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "sim/emulate/emulator.h"
#include "sim/runtime/device/memory.h"

namespace foretrace::runtime {

class Repeats {
 public:
  using Execute = std::function<emulate::BlockCount()>;
  /// What `execute` counts, or counted when nothing was different; `repeated` says that it was not called now. `objects`: another number
  /// whenever a texture or surface was made or removed.
  emulate::BlockCount run(const emulate::LaunchContext& context, DeviceMemory& memory, std::uint64_t objects,
                          const Execute& execute, bool& repeated);

 private:
  using Digest = std::pair<std::uint64_t, std::uint64_t>;
  struct Known {
    emulate::BlockCount count;
    bool ran = false;
    std::uint64_t skip = 0;           // launches until memory is compared again
    int in_vain = 0;                  // comparisons in a row that were
    std::optional<Digest> unchanged;  // the memory that a launch found and left
  };
  std::map<Digest, Known> known_;
};

}  // namespace foretrace::runtime
