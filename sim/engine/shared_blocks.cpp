#include "sim/engine/shared_blocks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/units/error.h"
#include "sim/engine/kept_blocks.h"

namespace foretrace::engine {

namespace {

constexpr std::uint64_t kLeft = std::numeric_limits<std::uint64_t>::max();

}  // namespace

SharedBlocks::SharedBlocks(std::size_t readers, std::size_t most_bytes)
    : most_bytes_(most_bytes), read_(readers) {}

void SharedBlocks::begin(std::uint64_t resident, bool everywhere, std::string why) {
  const std::lock_guard lock(mutex_);
  resident_ = resident;
  everywhere_ = everywhere;
  why_ = std::move(why);
  begun_ = true;
  changed_.notify_all();
}

void SharedBlocks::add(std::shared_ptr<const work::BlockRecord> record, bool alone) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  bytes_ += bytes_of(*record);
  kept_.push_back({std::move(record), alone});
  drop_read();
  closed_ = bytes_ > most_bytes_;
  changed_.notify_all();
}

void SharedBlocks::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::size_t SharedBlocks::enter() {
  const std::lock_guard lock(mutex_);
  FORETRACE_ASSERT(entered_ < read_.size(), "no more readers come than were said to");
  return entered_++;
}

void SharedBlocks::leave(std::size_t reader) {
  const std::lock_guard lock(mutex_);
  read_[reader] = kLeft;
  drop_read();
}

std::optional<std::string> SharedBlocks::exact_everywhere() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return begun_ || closed_; });
  if (!begun_ || !everywhere_) return std::nullopt;
  return why_;
}

std::shared_ptr<const work::BlockRecord> SharedBlocks::take(std::size_t reader, std::uint64_t resident) {
  std::unique_lock lock(mutex_);
  std::uint64_t& next = read_[reader];
  changed_.wait(lock, [&] { return closed_ || next < dropped_ + kept_.size(); });
  if (next >= dropped_ + kept_.size()) return nullptr;
  const Kept& kept = kept_[next - dropped_];
  if (!kept.alone && resident != resident_) return nullptr;
  std::shared_ptr<const work::BlockRecord> record = kept.record;
  ++next;
  drop_read();
  return record;
}

/// Forgets what all readers have had.
void SharedBlocks::drop_read() {
  const std::uint64_t all = read_.empty() ? kLeft : *std::min_element(read_.begin(), read_.end());
  for (; dropped_ < all && !kept_.empty(); ++dropped_) {
    bytes_ -= bytes_of(*kept_.front().record);
    kept_.pop_front();
  }
}

std::shared_ptr<const work::BlockRecord> TakenBlocks::next() {
  if (executed_) return executed_->next();
  if (taken_ == blocks_) return nullptr;
  if (auto record = reader_.take(resident_)) {
    ++taken_;
    return record;
  }
  executed_ = own_(taken_);
  return executed_->next();
}

}  // namespace foretrace::engine
