#include "sim/trace/block_sources.h"

namespace foretrace::trace {

std::shared_ptr<const work::BlockRecord> ReplayedBlocks::next() {
  auto record = std::make_shared<work::BlockRecord>();
  return reader_.next(*record) ? record : nullptr;
}

std::shared_ptr<const work::BlockRecord> RecordedBlocks::next() {
  auto record = source_.next();
  if (record) writer_.add(*record);
  return record;
}

}  // namespace foretrace::trace
