// Where the records of a launch's blocks come from: the emulator, or a trace file.
#pragma once

#include <memory>

#include "model/work/warp_record.h"

namespace foretrace::work {

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// The next block in index order; nullptr after the last. May wait for it.
  virtual std::shared_ptr<const BlockRecord> next() = 0;
};

}  // namespace foretrace::work
