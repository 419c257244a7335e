// Where an SM and an address sit on the chip.
//
// Models:  SMs to GPCs, CPCs and L2 partitions; line addresses to home partition, slice, set, DRAM channel, bank
//          and row. Slices and channels need not be a power of two in number: the groups of four
//          lines that share one visit every slice in turn.
// Ignores: the physical page behind a virtual address (addresses are used as they are), slices at different
//          distances from an SM (a line's latencies from two GPCs differ by 11 cycles), which SMs of a GPC were fused off.
// Source:  GPCs by SM number: ASIM (its PR 87), [h100-sxm] gpc_sms. CPCs: [h200-sxm] sm_groups.
//          Ways: [h100-sxm] l2_latency_by_sm, where a GPC's CPCs are one behind another and a CPC's first TPC is its farthest.
//          Partitions alternate in 4 KiB granules by the parity of bits, mask 0x0B3000 within 2 MiB: QRC
//          (side_aware). Inside a partition the hardware's hash is unpublished: which lines of 4 KiB share
//          a slice was measured ([h100-sxm] atomic_pair_map), the rest of ours is only required to be even.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/spec/gpu_spec.h"

namespace foretrace::memory {

/// GPC of an SM: pairs of SMs (a TPC) go round the GPCs.
inline std::uint32_t gpc_of_sm(const spec::SmSpec& sm, std::uint32_t index) { return index / 2 % sm.gpcs; }

/// CPC of an SM among all: a GPC's TPCs go round its CPCs.
inline std::uint32_t cpc_of_sm(const spec::SmSpec& sm, std::uint32_t index) {
  return gpc_of_sm(sm, index) * sm.cpcs + index / 2 / sm.gpcs % sm.cpcs;
}

/// L2 partition next to an SM: the first half of the GPCs (rounded up) is beside partition 0. 0 where the
/// chip has one partition.
inline std::uint32_t partition_of_sm(const spec::GpuSpec& spec, std::uint32_t index) {
  return spec.l2.partitions > 1 && gpc_of_sm(spec.sm, index) >= (spec.sm.gpcs + 1) / 2 ? 1 : 0;
}

/// Ways between an SM and L2, in L2 cycles.
struct Ways {
  std::uint32_t request = 0, reply = 0;
};

/// Of each SM, where its TPC is in its CPC and its CPC in the GPC: the mean SM's are network.request_latency and network.reply_latency.
std::vector<Ways> ways_of_sms(const spec::GpuSpec& spec);

/// Where a line lives in L2. Its copy for the other partition would sit in the slice of the same index, in
/// the same set.
struct Place {
  std::uint32_t home = 0;   ///< partition
  std::uint32_t index = 0;  ///< slice within the partition
  std::uint32_t set = 0;    ///< within the slice
  std::uint32_t tag = 0;    ///< tells lines of a set apart, with `home`: those of both partitions meet there
};

/// Where a line lives in DRAM.
struct DramPlace {
  std::uint32_t channel = 0, bank = 0;
  std::uint64_t row = 0;
};

class AddressMap {
 public:
  /// Throws InputError when slices, partitions, ways, channels or rows do not divide as they must.
  explicit AddressMap(const spec::GpuSpec& spec);

  Place place(std::uint64_t line) const;
  /// Of the line with this home, slice, set and tag.
  DramPlace dram(const Place& place) const;
  /// Range [first, second) of the channels behind a slice, and of the slices before a channel.
  std::pair<std::uint32_t, std::uint32_t> channels_of(std::uint32_t slice) const {
    const std::uint32_t first = slice * channels_per_slice_ / slices_per_channel_;
    return {first, first + channels_per_slice_};
  }
  std::pair<std::uint32_t, std::uint32_t> slices_of(std::uint32_t channel) const {
    const std::uint32_t first = channel / channels_per_slice_ * slices_per_channel_;
    return {first, first + slices_per_channel_};
  }
  std::uint32_t slices_per_partition() const { return slices_; }
  std::uint32_t sets() const { return sets_; }
  /// A set among those of all slices.
  std::uint32_t set(std::uint32_t slice, std::uint32_t set_of_slice) const {
    return slice * sets_ + set_of_slice;
  }
  /// The place of what sits in set `set` (of all slices) under `tag`.
  Place place_of(std::uint32_t set, std::uint32_t tag) const {
    return {tag & 1, set / sets_ % slices_, set % sets_, tag};
  }
  /// Slice among all slices.
  std::uint32_t slice(std::uint32_t partition, std::uint32_t index) const {
    return partition * slices_ + index;
  }

 private:
  std::uint32_t partitions_, slices_, sets_;
  std::uint32_t channels_, slices_per_channel_, channels_per_slice_;
  std::uint32_t row_lines_, banks_;
  std::uint64_t partition_bits_;
  int granule_shift_, together_shift_;  // lines of a granule, and of them those that share a slice
  /// A line of a granule: which of the granule's turns round the slices it takes, and its place among those of the turn.
  struct InGranule {
    std::uint32_t turn = 0, order = 0;
  };
  std::vector<InGranule> in_granule_;
};

}  // namespace foretrace::memory
