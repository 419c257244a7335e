// The data stage of an SM's L1, which shared memory and global data go through, and what waits for it.
//
// Models:  one wavefront per cycle; passes that conflicts add go to one sub-core at half that rate; loads that hit wait for the stage in a
//          limited number, and what comes straight to it waits behind them in one of their places; accesses that meet others in their
//          half of the array go again (data_array.h); tensor cores' operands come first, other shared accesses get the cycles they
//          leave; ways of their own for what asynchronous copies write to shared memory and for what goes to other SMs' shared memory. What
//          stores write to lines that leave at once goes into a queue of lines, one of which leaves per interval; while it is full the stage
//          stands still. Stores whose lines wait for others (store_buffer.h) take the stage for as long per wavefront.
// Ignores: where loads that waited for their data wait: elsewhere, without a limit.
// Source:  CIC; our load_queue, hits_beside_misses, product_loads, row_walks, async_copies, warpgroup_beside and ncu_warpgroup on
//          H100, row_hits on H200 (docs/sources.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/sm/data_array.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/units/units.h"

namespace foretrace::sm {

/// What the stage has not taken yet, in order: loads that hit, and what came behind them.
class HitQueue {
 public:
  explicit HitQueue(std::uint32_t places) : starts_(places) {}
  /// From when on another may come.
  Cycle room_from() const { return starts_[oldest_]; }
  /// Whether the stage has not taken at `now` all that came.
  bool waits(Cycle now) const { return last_ > now; }
  /// One that the stage takes at `start`: it holds its place until then.
  void enter(Cycle start) {
    starts_[oldest_] = last_ = start;
    oldest_ = (oldest_ + 1) % starts_.size();
  }

 private:
  std::vector<Cycle> starts_;  // when the stage takes each of the last that came
  std::size_t oldest_ = 0;
  Cycle last_ = 0;  // the latest of them
};

/// What tensor cores take of the stage for their operands.
class ProductReads {
 public:
  /// `interval`: cycles for which the others get one where none is left.
  explicit ProductReads(std::uint32_t interval) : interval_(interval) {}
  /// They read for `shared` of the cycles from `start` to `end`, which are not before those before them.
  void take(Cycle start, Cycle end, std::uint32_t shared) {
    if (shared && end > start) taken_.push_back({start, end, shared});
  }
  /// How long an access of `busy` cycles from `start` on takes: it gets what they leave. Starts do not go back.
  Cycle beside(Cycle start, Cycle busy) {
    while (!taken_.empty() && taken_.front().end <= start) taken_.pop_front();
    if (taken_.empty() || taken_.front().start > start) return busy;
    const Taken& taken = taken_.front();
    const Cycle all = taken.end - taken.start, left = all - std::min<Cycle>(taken.shared, all);
    return left * interval_ <= all ? busy * interval_ : (busy * all + left - 1) / left;
  }

 private:
  struct Taken {
    Cycle start = 0, end = 0;
    std::uint32_t shared = 0;
  };
  const std::uint32_t interval_;
  std::deque<Taken> taken_;  // in order of time
};

class DataStage {
 public:
  static constexpr Cycle kAfterTags = 1;  ///< it follows the tag stage

  /// `block_shared`: bytes of shared memory per block.
  DataStage(const spec::GpuSpec& spec, std::uint64_t block_shared, stats::LaunchCounters& counters)
      : array(spec.l1.unified_bytes, block_shared, spec.l1.sector_interval), spec_(spec), counters_(counters),
        hits_(spec.lsu.data_queue), products_(spec.wgmma.shared_interval) {}

  DataArray array;

  /// From when on the memory unit may take what goes straight here, a shared access or a shuffle, as it looks at `now`: where hits wait it
  /// waits behind them in one of their places, else in its sub-core's queue until the stage is free.
  Cycle takes_from(int sub_core, Cycle now) const {
    const Cycle free =
        std::max(hits_.waits(now) ? hits_.room_from() : free_, ports_[static_cast<std::size_t>(sub_core)]);
    return free > kAfterTags ? free - kAfterTags : 0;
  }
  /// From when on it may take a load that may hit.
  Cycle takes_hits_from() const {
    const Cycle start = hits_.room_from();
    return start > kAfterTags ? start - kAfterTags : 0;
  }

  /// Takes the stage for `cycles`, not before `from`. Returns when that begins.
  Cycle pass(Cycle from, Cycle cycles) {
    const Cycle start = std::max(free_, from);
    free_ = start + cycles;
    counters_.l1_data_wavefronts += cycles;
    return start;
  }
  /// A store to global memory of so many wavefronts, of which `lines` leave the SM at once; 0: they wait for others. Returns when it begins.
  Cycle take_store(Cycle from, Cycle wavefronts, std::uint32_t lines) {
    if (lines == 0) return pass(from, wavefronts * spec_.l1.store_interval);
    const Cycle start = pass(from, wavefronts), queue = Cycle{spec_.l1.store_queue} * spec_.l1.store_interval;
    stored_out_ = std::max(stored_out_, start) + Cycle{lines} * spec_.l1.store_interval;
    if (stored_out_ > queue) free_ = std::max(free_, stored_out_ - queue);
    return start;
  }
  /// From when on it may take another: the lines of those before it have left then, or will soon.
  Cycle takes_stores_from() const {
    return stored_out_ > spec_.l1.store_way_ahead ? stored_out_ - spec_.l1.store_way_ahead : 0;
  }
  struct Load {
    std::size_t sub_core = 0;
    Cycle busy = 0;       ///< cycles
    Cycle conflicts = 0;  ///< passes of these that conflicts added
    bool hit = false;
  };
  /// A load whose data are there at `now`. Returns when it begins.
  Cycle load(const Load& load, Cycle now) {
    Cycle& port = ports_[load.sub_core];
    const Cycle slot = pass(now + kAfterTags, load.busy);
    const Cycle start = load.conflicts ? std::max(slot, port) : slot;
    if (load.conflicts) port = start + load.busy + load.conflicts * (spec_.shared.sub_core_interval - 1);
    if (load.hit) hits_.enter(slot);
    return start;
  }
  /// A load to shared memory that took the stage at `start` writes there in so many wavefronts. Returns when that is over.
  Cycle write_copied(Cycle start, std::uint32_t wavefronts) {
    const std::uint32_t rate = spec_.shared.copy_wavefronts;
    copied_free_ = std::max(copied_free_, start) + (wavefronts + rate - 1) / rate;
    return copied_free_;
  }

  /// When a shared access can begin that the memory unit takes at `now`.
  Cycle shared_start(Cycle now) const { return std::max(free_, now + kAfterTags); }
  /// How many passes of a shared access go again, since something else takes its half.
  Cycle again(DataArray::Way way, unsigned half, Cycle start, Cycle passes) {
    const Cycle again = array.access(way, half, start, passes);
    contention(way) += again;
    return again;
  }
  /// A shared access of `busy` cycles; its sub-core's path is taken for `wavefronts`. Returns how long it takes beside products.
  Cycle take_shared(std::size_t sub_core, Cycle start, Cycle busy, Cycle wavefronts) {
    counters_.l1_data_wavefronts += busy;
    const Cycle takes = products_.beside(start, busy);
    free_ = start + takes;
    hits_.enter(start);
    ports_[sub_core] = start + wavefronts * spec_.shared.sub_core_interval;
    return takes;
  }
  /// What moves registers alone, a shuffle, and that the memory unit takes at `now`. Returns when it begins.
  Cycle take_other(Cycle now, Cycle cycles) {
    const Cycle start = pass(now + kAfterTags, cycles);
    hits_.enter(start);
    return start;
  }
  /// Bytes of a shared access that began at `start` go to another SM. Returns when they have left; what follows waits for that.
  Cycle send_remote(Cycle start, std::uint32_t bytes) {
    remote_free_ =
        std::max(remote_free_, start) + (bytes + spec_.cluster.remote_bytes - 1) / spec_.cluster.remote_bytes;
    free_ = std::max(free_, remote_free_);
    return remote_free_;
  }

  /// Something else than a shared access takes a way of a half for `sectors`: the passes that go again for it hold up what follows.
  void take_half(DataArray::Way way, unsigned half, Cycle now, std::uint32_t sectors) {
    const Cycle again = array.take(way, half, now, sectors);
    contention(way) += again;
    counters_.l1_data_wavefronts += again;
    free_ += again;
  }
  /// `sectors` that the copy engine brings to a block's shared memory at `now`.
  void copied_in(std::uint32_t block, std::uint32_t offset, std::uint32_t sectors, Cycle now) {
    take_half(DataArray::Way::write, array.half_of_shared(block, offset), now, sectors);
  }
  /// The tensor cores read operands from shared memory for `shared` of the cycles from `start` to `end`. They come first.
  void take_for_products(Cycle start, Cycle end, std::uint32_t shared) {
    counters_.l1_data_wavefronts += shared;
    counters_.shared_wavefronts_product += shared;
    products_.take(start, end, shared);
  }

 private:
  std::uint64_t& contention(DataArray::Way way) {
    return way == DataArray::Way::write ? counters_.shared_contention_st : counters_.shared_contention_ld;
  }

  const spec::GpuSpec& spec_;
  stats::LaunchCounters& counters_;
  Cycle free_ = 0;
  std::array<Cycle, kSubCores> ports_{};  // by sub-core: its path to the stage
  HitQueue hits_;
  ProductReads products_;
  Cycle stored_out_ = 0;   // when the last line of stores leaves the queue behind the stage
  Cycle copied_free_ = 0;  // the way of asynchronous copies into shared memory
  Cycle remote_free_ = 0;  // the way to other SMs' shared memory
};

}  // namespace foretrace::sm
