#include "sim/engine/kept_blocks.h"

#include <utility>

namespace foretrace::engine {

namespace {

class Again final : public work::BlockSource {
 public:
  explicit Again(const std::vector<std::shared_ptr<const work::BlockRecord>>& records) : records_(records) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    return next_ < records_.size() ? records_[next_++] : nullptr;
  }

 private:
  const std::vector<std::shared_ptr<const work::BlockRecord>>& records_;
  std::size_t next_ = 0;
};

}  // namespace

std::size_t bytes_of(const work::BlockRecord& record) {
  std::size_t bytes = sizeof record;
  for (const work::WarpRecord& warp : record.warps)
    bytes += sizeof warp + warp.runs.capacity() + warp.details.capacity();
  return bytes;
}

void KeptBlocks::add(std::shared_ptr<const work::BlockRecord> record) {
  if (full_) return;
  bytes_ += bytes_of(*record);
  records_.push_back(std::move(record));
  full_ = bytes_ > most_bytes_;
  if (!full_) return;
  records_ = {};
  bytes_ = 0;
}

std::unique_ptr<work::BlockSource> KeptBlocks::open() const { return std::make_unique<Again>(records_); }

std::shared_ptr<const work::BlockRecord> KeepingBlocks::next() {
  std::shared_ptr<const work::BlockRecord> record = source_.next();
  if (record != nullptr) kept_.add(record);
  return record;
}

}  // namespace foretrace::engine
