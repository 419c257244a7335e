#include "sim/engine/sources.h"

#include <cmath>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/engine/kept_blocks.h"

namespace foretrace::engine {

namespace {

// How far the emulator runs ahead. Records wait in memory, so the bound is on their bytes; a chip's first wave asks for hundreds of
// small blocks at once, so there is no bound on their number.
constexpr std::size_t kAheadBytes = std::size_t{64} << 20;

}  // namespace

EmulatedBlocks::EmulatedBlocks(const emulate::Emulator& emulator, std::uint64_t resident,
                               trace::TraceWriter* writer, SharedBlocks* shared)
    : blocks_(emulator, resident, true), writer_(writer), shared_(shared), producer_([this] { produce(); }) {}

EmulatedBlocks::~EmulatedBlocks() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  producer_.join();
}

void EmulatedBlocks::produce() {
  try {
    while (const std::shared_ptr<work::BlockRecord> record = blocks_.next()) {
      for (work::WarpRecord& warp : record->warps) {
        warp.runs.shrink_to_fit();
        warp.details.shrink_to_fit();
      }
      if (writer_) writer_->add(*record);
      if (shared_) shared_->add(record, !blocks_.has_waited());
      const std::size_t bytes = bytes_of(*record);
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || unread_ || ready_bytes_ < kAheadBytes; });
      if (stop_) return;
      if (unread_) continue;
      ready_.push_back(record);
      ready_bytes_ += bytes;
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

std::shared_ptr<const work::BlockRecord> EmulatedBlocks::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finished_ || !ready_.empty(); });
  if (ready_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    return nullptr;
  }
  auto record = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= bytes_of(*record);
  changed_.notify_all();
  return record;
}

void EmulatedBlocks::skip(std::uint64_t blocks) {
  for (std::uint64_t i = 0; i < blocks; ++i) (void)next();
}

void EmulatedBlocks::finish() {
  std::unique_lock lock(mutex_);
  unread_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return finished_; });
  if (failure_) std::rethrow_exception(failure_);
}

std::shared_ptr<const work::BlockRecord> StreamedBlocks::next() {
  if (next_ == emulator_.blocks()) return nullptr;
  if (given_.size() > look_at_) {  // a stream that nobody else holds has been read to its end
    std::erase_if(given_, [](const auto& stream) { return stream.use_count() == 1; });
    look_at_ = 2 * given_.size() + 4096;
  }
  constexpr double kGoldenRatio =
      0.6180339887498949;  // its multiples are spread evenly, however many there are
  const double part = next_ < part_way_ ? std::fmod(kGoldenRatio * static_cast<double>(next_), 1.0) : 0;
  given_.push_back(
      std::make_shared<emulate::BlockStream>(emulator_, next_++, static_cast<std::uint64_t>(part * work_)));
  return emulate::BlockStream::record(given_.back());
}

void StreamedBlocks::skip(std::uint64_t blocks) {
  FORETRACE_ASSERT(skipped_to_ == 0, "blocks are left out once");
  skipped_from_ = next_;
  skipped_to_ = next_ += blocks;
}

void StreamedBlocks::finish() {
  for (const auto& stream : given_) stream->finish();
  given_.clear();
  for (; skipped_from_ < skipped_to_; ++skipped_from_) emulator_.run_block(skipped_from_, nullptr);
  while (next_ < emulator_.blocks()) emulator_.run_block(next_++, nullptr);
}

Launch shape_of(const trace::TraceReader& reader) { return {reader.launch(), reader.program()}; }

Outcome run_traced(const std::string& file, trace::TraceReader& reader, Machine& machine,
                   const RunOptions& options) {
  TracedBlocks source(reader);
  Outcome outcome;
  try {
    outcome = machine.run(shape_of(reader), source, options);
  } catch (const InputError& error) {  // the reader names its file; what replays a record does not know it
    const std::string what = error.what();
    throw InputError(what.find(file) == std::string::npos ? fmt::format("trace {}: {}", file, what) : what);
  }
  work::BlockRecord none;
  if (reader.next(none))
    throw InputError(fmt::format("{}: more blocks than the grid of {}", file, reader.launch().grid.count()));
  return outcome;
}

std::shared_ptr<const work::BlockRecord> TracedBlocks::next() {
  auto record = std::make_shared<work::BlockRecord>();
  if (!reader_.next(*record)) return nullptr;
  return record;
}

std::shared_ptr<const work::BlockRecord> WritingBlocks::next() {
  std::shared_ptr<const work::BlockRecord> record = source_.next();
  if (record != nullptr) writer_.add(*record);
  return record;
}

}  // namespace foretrace::engine
