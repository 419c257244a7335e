#include "model/memory/topology.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "model/units/error.h"
#include "model/units/units.h"

namespace foretrace::memory {
namespace {

// Beside the published bits within 2 MiB every bit above picks the partition, where nothing is published, so that no
// power-of-two stride stays on one side.
constexpr std::uint64_t kHighBits = ~std::uint64_t{0x1FFFFF};

// A number in [0, count), evenly spread, from `value`: what rotates one run of lines against the next.
std::uint32_t scatter(std::uint64_t value, std::uint32_t count) {
  value *= 0x9E3779B97F4A7C15u;
  value ^= value >> 32;
  value *= 0xD6E8FEB86659FD93u;
  return static_cast<std::uint32_t>((value >> 32) * count >> 32);
}

std::uint32_t parity(std::uint64_t bits) {
  for (const int half : {32, 16, 8, 4}) bits ^= bits >> half;
  return 0x6996u >> (bits & 15) & 1;  // one digit per nibble
}

std::uint32_t rotate(std::uint64_t position, std::uint64_t by, std::uint32_t count) {
  const std::uint32_t sum = static_cast<std::uint32_t>(position) + scatter(by, count);
  return sum >= count ? sum - count : sum;
}

// The bits of `value` at the places of `mask`, moved together.
std::uint32_t gather(std::uint32_t value, std::uint32_t mask) {
  std::uint32_t result = 0;
  for (std::uint32_t to = 1; mask != 0; mask &= mask - 1, to <<= 1) {
    if ((value & mask & (0 - mask)) != 0) result |= to;
  }
  return result;
}

}  // namespace

std::vector<Ways> ways_of_sms(const spec::GpuSpec& spec) {
  const spec::NetworkSpec& network = spec.network;
  std::vector<double> farther;
  double sum = 0;
  for (std::uint32_t sm = 0; sm < spec.sm.count; ++sm) {
    const std::uint32_t tpc = sm / 2 / spec.sm.gpcs;  // of its GPC
    const std::uint32_t cpc = tpc % spec.sm.cpcs, row = tpc / spec.sm.cpcs;
    farther.push_back(network.cpc_step * cpc - network.tpc_step * row);
    sum += farther.back();
  }
  std::vector<Ways> ways;
  for (const double way : farther) {
    const auto both = std::lround(way - sum / spec.sm.count);
    const long there = both >> 1;  // of an odd number the way back has the more
    const auto plus = [](std::uint32_t latency, long more) {
      return static_cast<std::uint32_t>(std::max(long{latency} + more, 1L));
    };
    ways.push_back({plus(network.request_latency, there), plus(network.reply_latency, both - there)});
  }
  return ways;
}

AddressMap::AddressMap(const spec::GpuSpec& spec) {
  const spec::L2Spec& l2 = spec.l2;
  const spec::DramSpec& dram = spec.dram;
  const auto require = [&spec](bool condition, const std::string& what) {
    if (!condition) throw InputError(fmt::format("{}: {}", spec.name, what));
  };
  require(l2.partitions == 1 || l2.partitions == 2,
          fmt::format("l2.partitions is {}, expected 1 or 2", l2.partitions));
  require(
      l2.slices > 0 && l2.slices % l2.partitions == 0,
      fmt::format("l2.slices is {}, expected a multiple of l2.partitions ({})", l2.slices, l2.partitions));
  partitions_ = l2.partitions;
  slices_ = l2.slices / l2.partitions;
  const std::uint64_t set_bytes = std::uint64_t{l2.slices} * l2.ways * kLineBytes;
  require(set_bytes > 0 && l2.bytes >= set_bytes && l2.bytes % set_bytes == 0,
          fmt::format("l2.bytes is {}, expected a multiple of slices x ways x {} bytes ({})", l2.bytes,
                      kLineBytes, set_bytes));
  sets_ = static_cast<std::uint32_t>(l2.bytes / set_bytes);
  require(l2.ways >= l2.partitions,
          fmt::format("l2.ways is {}, expected at least l2.partitions ({})", l2.ways, l2.partitions));
  require(dram.channels > 0 && (l2.slices % dram.channels == 0 || dram.channels % l2.slices == 0),
          fmt::format("dram.channels is {}, expected a divisor or a multiple of l2.slices ({})",
                      dram.channels, l2.slices));
  channels_ = dram.channels;
  slices_per_channel_ = std::max(1u, l2.slices / channels_);
  channels_per_slice_ = std::max(1u, channels_ / l2.slices);
  require(dram.banks > 0, "dram.banks is 0, expected at least 1");
  require(dram.row_bytes >= kLineBytes && dram.row_bytes % kLineBytes == 0,
          fmt::format("dram.row_bytes is {}, expected a multiple of {}", dram.row_bytes, kLineBytes));
  banks_ = dram.banks;
  row_lines_ = dram.row_bytes / kLineBytes;
  partition_bits_ = l2.partition_bits | kHighBits;
  const std::uint32_t granule_lines = l2.granule() / kLineBytes, together = l2.together_bits / kLineBytes;
  granule_shift_ = std::countr_zero(granule_lines);
  together_shift_ = std::popcount(together);
  for (std::uint32_t line = 0; line < granule_lines; ++line) {
    in_granule_.push_back({gather(line, (granule_lines - 1) & ~together), gather(line, together)});
  }
}

Place AddressMap::place(std::uint64_t line) const {
  Place place;
  std::uint64_t local = line;
  if (partitions_ == 2) {
    // Two neighbouring granules lie in different partitions (bit 12 is one of the parity's), so that one of
    // a pair is the pair-number-th granule of its partition: lines stay dense on both sides.
    place.home = parity(line * kLineBytes & partition_bits_);
    local = line >> (granule_shift_ + 1) << granule_shift_ | (line & (in_granule_.size() - 1));
  }
  const InGranule within = in_granule_[local & (in_granule_.size() - 1)];
  const std::uint64_t turn = (local >> granule_shift_ << (granule_shift_ - together_shift_)) + within.turn;
  const std::uint64_t round = turn / slices_;
  place.index = rotate(turn - round * slices_, round, slices_);
  const std::uint64_t group = (round << together_shift_) + within.order;  // the how-many-th line of its slice
  const std::uint64_t block = group / sets_;
  place.set = rotate(group - block * sets_, block, sets_);
  FORETRACE_ASSERT(block < (std::uint64_t{1} << 31), "an address is too far from zero for the L2's tags");
  place.tag = static_cast<std::uint32_t>(block << 1 | place.home);
  return place;
}

DramPlace AddressMap::dram(const Place& place) const {
  const std::uint32_t slice = place.home * slices_ + place.index;
  const std::uint64_t block = place.tag >> 1;
  const std::uint32_t turn = scatter(block, sets_);  // place() rotated the set by this
  const std::uint64_t group =
      block * sets_ + (place.set >= turn ? place.set - turn : place.set + sets_ - turn);
  DramPlace result;
  std::uint64_t local;  // the how-many-th line of its channel
  if (channels_per_slice_ > 1) {
    result.channel = slice * channels_per_slice_ + static_cast<std::uint32_t>(group % channels_per_slice_);
    local = group / channels_per_slice_;
  } else {
    result.channel = slice / slices_per_channel_;
    local = group * slices_per_channel_ + slice % slices_per_channel_;
  }
  const std::uint64_t row = local / row_lines_;
  result.row = row / banks_;
  result.bank = rotate(row - result.row * banks_, result.row, banks_);
  return result;
}

}  // namespace foretrace::memory
