// Checks on a block's shared memory that are made on request: reads of what nobody has written, and races between warps.
//
// Models:  every byte's last writer and each warp's last read of it, against what a warp can know has happened: block barriers (all
//          and named, arrivals included), mbarriers, atomics and waits for the products of a warpgroup order one warp's accesses before
//          another's. Two accesses of
//          different warps to a byte, one of them a plain write, that nothing orders are a race, whatever the turn they took here.
// Ignores: lanes of one warp among themselves; warps that store what is there already by the store that put it there, as compilers
//          have every warp store a value of the block; order made by spinning on a plain or volatile word, which is reported as a race;
//          accesses from other blocks of a cluster. An asynchronous copy counts as the copying warp's own store.
// Source:  vector clocks as in Flanagan and Freund, FastTrack (PLDI 2009).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace foretrace::emulate {

class SharedChecks {
 public:
  enum class Kind : std::uint8_t { unwritten, write_after_write, write_after_read, read_after_write };
  struct Finding {
    Kind kind = Kind::unwritten;
    std::uint64_t offset = 0;  ///< the byte's
    std::uint32_t warp = 0;    ///< the other warp
    std::uint32_t pc = 0;      ///< its instruction; of a write only
  };

  SharedChecks(std::uint32_t bytes, std::uint32_t warps, bool unwritten, bool races);

  std::optional<Finding> read(std::uint64_t offset, std::uint32_t bytes, std::uint32_t warp);
  /// `held` and `stored`: what is there and what comes, where it is known.
  std::optional<Finding> write(std::uint64_t offset, std::uint32_t bytes, std::uint32_t warp,
                               std::uint32_t pc, const std::byte* held = nullptr,
                               const std::byte* stored = nullptr);
  /// An atomic at `offset`: ordered with all others there.
  void atomic(std::uint64_t offset, std::uint32_t bytes, std::uint32_t warp);
  /// Bytes that hold something from elsewhere.
  void mark_written(std::uint64_t offset, std::uint32_t bytes);

  /// What the warp did is known to those who wait at `place` from now on.
  void arrive(std::uint64_t place, std::uint32_t warp);
  /// The warp has waited there.
  void wait(std::uint64_t place, std::uint32_t warp);
  void forget(std::uint64_t place) { places_.erase(place); }
  /// The place of block barrier `number`; others are offsets of barriers and atomics in shared memory.
  static std::uint64_t barrier(std::uint32_t number) { return ~std::uint64_t{0} - number; }

 private:
  struct Write {
    std::uint32_t clock = 0;  // 0: none
    std::uint32_t pc = 0;
    std::uint32_t warp = 0;
  };
  std::uint32_t& known(std::uint32_t warp, std::uint32_t of) { return clocks_[warp * warps_ + of]; }

  std::uint32_t warps_;
  bool unwritten_, races_;
  std::vector<bool> written_;          // by byte
  std::vector<Write> writes_;          // by byte
  std::vector<std::uint32_t> reads_;   // by byte and warp: the reader's clock
  std::vector<std::uint32_t> clocks_;  // by warp: how far it knows of each warp
  std::map<std::uint64_t, std::vector<std::uint32_t>> places_;
};

}  // namespace foretrace::emulate
