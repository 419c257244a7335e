// One execution of a launch for several chips of the same machine code: one run executes it, the others read its records.
//
// Models:  records as they come, each kept until all readers have had it. A reader that comes to a record which is not there, because
//          the run that executes has ended, failed or sampled, or too much would be held, or because on a chip with another number of
//          resident blocks it might be another record, executes the launch itself from that block on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/work/block_source.h"

namespace foretrace::engine {

/// Safe from several threads. The run that executes never waits for a reader.
class SharedBlocks {
 public:
  /// `readers`: as many runs as read. At most about `most_bytes` are held.
  SharedBlocks(std::size_t readers, std::size_t most_bytes);

  // For the run that executes.
  /// All blocks will be simulated, `resident` at a time. `everywhere`: whatever the chip; `why`: as Suitability::why_not.
  void begin(std::uint64_t resident, bool everywhere, std::string why);
  /// The next block's record. `alone`: it is the same whatever the number of resident blocks.
  void add(std::shared_ptr<const work::BlockRecord> record, bool alone);
  /// No more records come.
  void close();
  /// Closes it when it goes away; null: nothing.
  class Closing {
   public:
    explicit Closing(SharedBlocks* shared) : shared_(shared) {}
    ~Closing() {
      if (shared_ != nullptr) shared_->close();
    }
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;

   private:
    SharedBlocks* shared_;
  };

  // For the others; each waits for the run that executes.
  /// A new reader, of which records are kept from the first on.
  std::size_t enter();
  void leave(std::size_t reader);
  /// Why the launch is simulated exactly on every chip; nothing: that is for each chip to say.
  std::optional<std::string> exact_everywhere();
  /// The reader's next record on a chip that holds `resident` blocks; null: the reader has to execute what follows itself.
  std::shared_ptr<const work::BlockRecord> take(std::size_t reader, std::uint64_t resident);

 private:
  struct Kept {
    std::shared_ptr<const work::BlockRecord> record;
    bool alone = true;
  };
  void drop_read();

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint64_t> read_;  // by reader: records that it has had
  std::size_t entered_ = 0;          // readers
  std::deque<Kept> kept_;
  std::uint64_t dropped_ = 0;  // records before the first kept one
  std::size_t bytes_ = 0;
  std::uint64_t resident_ = 0;
  bool begun_ = false, closed_ = false, everywhere_ = false;
  std::string why_;
};

/// A reader's place.
class SharedReader {
 public:
  explicit SharedReader(SharedBlocks& shared) : shared_(shared), number_(shared.enter()) {}
  ~SharedReader() { shared_.leave(number_); }
  SharedReader(const SharedReader&) = delete;
  SharedReader& operator=(const SharedReader&) = delete;
  std::optional<std::string> exact_everywhere() { return shared_.exact_everywhere(); }
  std::shared_ptr<const work::BlockRecord> take(std::uint64_t resident) {
    return shared_.take(number_, resident);
  }

 private:
  SharedBlocks& shared_;
  const std::size_t number_;
};

/// The records that a reader takes, then those of its own execution.
class TakenBlocks final : public work::BlockSource {
 public:
  /// Executes all blocks but gives out those after the first `skipped` only.
  using Own = std::function<std::unique_ptr<work::BlockSource>(std::uint64_t skipped)>;
  TakenBlocks(SharedReader& reader, std::uint64_t blocks, std::uint64_t resident, Own own)
      : reader_(reader), blocks_(blocks), resident_(resident), own_(std::move(own)) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  SharedReader& reader_;
  const std::uint64_t blocks_, resident_;
  const Own own_;
  std::uint64_t taken_ = 0;
  std::unique_ptr<work::BlockSource> executed_;
};

}  // namespace foretrace::engine
