// The texture unit of an SM.
//
// Models:  it takes one lookup or surface access at a time, by passes and groups of four lanes.
// Ignores: its own queue: a lookup waits in the sub-core's memory queue.
// Source:  our texture microbenchmarks on H100 (docs/mechanisms.md).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/sm/memory_forms.h"
#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::sm {

class TextureUnit {
 public:
  explicit TextureUnit(const spec::TextureSpec& spec) : spec_(spec) {}
  /// From when on it takes another.
  Cycle free() const { return free_; }
  /// It takes an access of the lanes that execute it at `now`.
  void take(std::uint32_t executed, bool store, std::uint32_t passes, Cycle now) {
    const Cycle pass = divide_up(spec_.interval * quads(executed), kQuads);
    free_ = now + std::max<Cycle>(1, pass * (store ? spec_.store_passes : std::max(1u, passes)));
  }

 private:
  const spec::TextureSpec& spec_;
  Cycle free_ = 0;
};

}  // namespace foretrace::sm
