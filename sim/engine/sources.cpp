#include "sim/engine/sources.h"

#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "model/isa/product_flow.h"
#include "model/units/error.h"
#include "sim/emulate/launch.h"
#include "sim/engine/kept_blocks.h"

namespace foretrace::engine {

namespace {

// How far the emulator runs ahead. Records wait in memory, so the bound is on their bytes; a chip's first wave asks for hundreds of
// small blocks at once, so there is no bound on their number.
constexpr std::size_t kAheadBytes = std::size_t{64} << 20;
/// A reader that has waited so long gets help: most launches are over before.
constexpr std::chrono::milliseconds kPatience{2};

void shrink(work::BlockRecord& record) {
  for (work::WarpRecord& warp : record.warps) {
    warp.runs.shrink_to_fit();
    warp.details.shrink_to_fit();
  }
}

/// How many threads may execute beside the first. The control flow of kernels that multiply matrices does not depend on what other blocks
/// just happened to have written, as that of a graph's search may: any number of threads gives the same records.
std::size_t helpers(const emulate::Emulator& emulator, int threads, bool writes) {
  const emulate::LaunchContext& context = emulator.launch().context;
  if (threads <= 1 || writes || emulator.clusters() < 2 || !isa::multiplies_matrices(*context.program) ||
      !emulate::may_run_at_once(context))
    return 0;
  return static_cast<std::size_t>(threads) - 1;
}

}  // namespace

EmulatedBlocks::EmulatedBlocks(const emulate::Emulator& emulator, std::uint64_t resident, int threads,
                               trace::TraceWriter* writer, SharedBlocks* shared)
    : emulator_(emulator), resident_(resident), most_helpers_(helpers(emulator, threads, writer != nullptr)),
      writer_(writer), shared_(shared), end_(emulator.clusters()), producer_([this] { produce(); }) {}

EmulatedBlocks::~EmulatedBlocks() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
  producer_.join();
}

void EmulatedBlocks::produce() {
  if (most_helpers_ > 0) return execute_clusters(false);
  try {
    execute_in_order();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void EmulatedBlocks::execute_in_order() {
  emulate::BlockSequence blocks(emulator_, resident_, true);
  while (const std::shared_ptr<work::BlockRecord> record = blocks.next()) {
    shrink(*record);
    if (writer_) writer_->add(*record);
    if (shared_) shared_->add(record, !blocks.has_waited());
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || unread_ || held_bytes_ < kAheadBytes; });
    if (stop_) return;
    if (unread_) continue;
    held_bytes_ += bytes_of(*record);
    put(record);
  }
}

bool EmulatedBlocks::may_execute(bool helps) const {
  return helps ? waited_for_ : unread_ || ready_.empty() || held_bytes_ < kAheadBytes;
}

/// Takes clusters as long as there are any; `helps`: only while somebody waits for blocks.
void EmulatedBlocks::execute_clusters(bool helps) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || next_cluster_ >= end_ || may_execute(helps); });
    if (stop_ || next_cluster_ >= end_) break;
    const std::uint64_t cluster = next_cluster_++;
    ++executing_;
    lock.unlock();
    std::vector<std::shared_ptr<work::BlockRecord>> records;
    std::exception_ptr failure;
    try {
      emulator_.run_cluster(cluster, &records);
      for (const auto& record : records) shrink(*record);
    } catch (...) { failure = std::current_exception(); }
    lock.lock();
    --executing_;
    if (!failure) {
      keep(std::move(records));
    } else if (cluster < end_) {  // the first one in order is the one reported
      end_ = cluster;
      failure_ = failure;
    }
    changed_.notify_all();
  }
  if (executing_ == 0) finished_ = true;
  changed_.notify_all();
}

/// Makes those ready whose turn it is.
void EmulatedBlocks::keep(std::vector<std::shared_ptr<work::BlockRecord>> records) {
  for (auto& record : records) {
    held_bytes_ += bytes_of(*record);
    early_[record->block] = std::move(record);
  }
  for (auto first = early_.begin(); first != early_.end() && first->first == next_block_;
       first = early_.erase(first)) {
    ++next_block_;
    if (shared_) shared_->add(first->second, true);
    if (!unread_) put(first->second);
  }
}

void EmulatedBlocks::put(std::shared_ptr<const work::BlockRecord> record) {
  ready_.push_back(std::move(record));
  changed_.notify_all();
}

void EmulatedBlocks::wait_for_blocks(std::unique_lock<std::mutex>& lock,
                                     const std::function<bool()>& enough) {
  if (changed_.wait_for(lock, kPatience, enough)) return;
  try {
    while (helpers_.size() < most_helpers_) helpers_.emplace_back([this] { execute_clusters(true); });
  } catch (const std::system_error&) {}  // with fewer where the host gives no more
  waited_for_ = true;
  changed_.notify_all();
  changed_.wait(lock, enough);
  waited_for_ = false;
}

std::shared_ptr<const work::BlockRecord> EmulatedBlocks::next() {
  std::unique_lock lock(mutex_);
  wait_for_blocks(lock, [&] { return finished_ || !ready_.empty(); });
  if (ready_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    return nullptr;
  }
  auto record = std::move(ready_.front());
  ready_.pop_front();
  held_bytes_ -= bytes_of(*record);
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
  wait_for_blocks(lock, [&] { return finished_; });
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
