#include "model/memory/l2_lines.h"

#include <algorithm>
#include <cmath>

namespace foretrace::memory {

L2Lines::L2Lines(Shared& shared, SlicePorts& ports, DramPath& dram)
    : shared_(shared), ports_(ports), dram_(dram),
      tags_(shared.spec.l2.slices, shared.map.sets(), shared.spec.l2.ways),
      dirty_limit_(std::max(1u, static_cast<std::uint32_t>(shared.spec.l2.dirty_fraction * shared.map.sets() *
                                                           shared.spec.l2.ways))),
      partly_limit_(std::max(1u, static_cast<std::uint32_t>(
                                     std::lround(shared.spec.l2.partly_fraction * shared.spec.l2.ways)))) {}

std::uint32_t L2Lines::claim(std::uint32_t slice, std::uint32_t set, std::uint32_t tag, bool copy) {
  if (left_behind_ != 0 && tags_.untouched(set)) leave_behind(set);
  const std::uint32_t slot = tags_.victim(set, dram_.may_write(slice), copy);
  if (slot == kNone) return kNone;
  if (tags_[slot].dirty) save(slot);
  tags_.install(slot, tag);
  return slot;
}

/// What was written before the launch and lies in the set still: whole lines, older than all that the launch brings (H100 and H200,
/// profiled_traffic: kernels that only read more than L2 holds write 2.4 MB to DRAM).
void L2Lines::leave_behind(std::uint32_t set) {
  constexpr std::uint32_t kUnit = 1u << 16;
  const std::uint32_t chance = set * 2654435761u >> 16;  // even over the sets
  const std::uint32_t lines = left_behind_ / kUnit + (chance < left_behind_ % kUnit ? 1 : 0);
  const std::uint32_t partition = set / shared_.map.sets() / shared_.map.slices_per_partition();
  for (std::uint32_t i = 0; i < std::min(lines, shared_.spec.l2.ways - 1); ++i) {
    const std::uint32_t slot = tags_.victim(set, false, false);
    tags_.install(slot, kLeftBehind + 2 * i + partition);
    tags_[slot].valid = tags_[slot].dirty = kWholeLine;
    tags_.put_newest_dirty(slot);
  }
}

/// Whether a store leaves a sector of a line (kNone: of none that is there) with bytes that nobody wrote.
inline bool L2Lines::writes_partly(const Write& write, std::uint8_t sectors, std::uint32_t slot) const {
  for (std::size_t sector = 0; sector < kSectorsPerLine; ++sector) {
    if (!(sectors >> sector & 1) || write.bytes[sector] == kWholeSector) continue;
    if (slot == kNone || !(tags_[slot].valid >> sector & 1)) return true;
  }
  return false;
}

bool L2Lines::write(const Write& write, std::uint32_t slice, std::uint32_t set, std::uint32_t tag,
                    std::uint8_t sectors, bool behind) {
  std::uint32_t slot = tags_.find(set, tag);
  const bool newly_dirty = slot == kNone || !tags_.listed_dirty(slot);
  const bool newly_partly =
      (slot == kNone || tags_[slot].partly() == 0) && writes_partly(write, sectors, slot);
  if (newly_dirty || newly_partly) {
    if (behind) return false;
    const bool saves = (newly_dirty && tags_.dirty_count(slice) >= dirty_limit_) ||
                       (newly_partly && tags_.partly(set).count >= partly_limit_);
    if (saves && !dram_.may_write(slice)) return false;
    if (slot == kNone) slot = claim(slice, set, tag, false);
    if (slot == kNone) return false;
  }
  L2Tags::Line& line = tags_[slot];
  for (int sector = 0; sector < kSectorsPerLine; ++sector) {
    const std::uint8_t bit = static_cast<std::uint8_t>(1 << sector);
    if (!(sectors & bit) || (line.valid & bit)) continue;
    std::uint32_t& bytes = tags_.bytes(slot, sector);
    if (!(line.dirty & bit)) bytes = 0;
    bytes |= write.bytes[static_cast<std::size_t>(sector)];
    if (bytes == kWholeSector) line.valid = (line.valid | bit) & kWholeLine;
  }
  make_dirty(slice, slot, sectors, newly_partly);
  return true;
}

void L2Lines::keep_copy(const Write& write, std::uint32_t slice, std::uint32_t set, std::uint32_t tag,
                        std::uint8_t sectors) {
  std::uint8_t whole = 0;
  for (std::size_t sector = 0; sector < kSectorsPerLine; ++sector) {
    if ((sectors >> sector & 1) && write.bytes[sector] == kWholeSector)
      whole = static_cast<std::uint8_t>(whole | 1u << sector);
  }
  if (whole == 0) return;
  std::uint32_t slot = tags_.find(set, tag);
  if (slot == kNone) slot = claim(slice, set, tag, true);
  if (slot == kNone) return;
  L2Tags::Line& line = tags_[slot];
  line.valid = (line.valid | without(whole, line.pending)) & kWholeLine;
  tags_.touch(slot);
}

void L2Lines::make_dirty(std::uint32_t slice, std::uint32_t slot, std::uint8_t sectors, bool newly_partly) {
  L2Tags::Line& line = tags_[slot];
  const std::uint8_t fresh = without(sectors, line.dirty);
  line.dirty = (line.dirty | sectors) & kWholeLine;
  shared_.counters.dirty_sectors_left += sector_count(fresh);
  tags_.touch(slot);
  tags_.put_newest_dirty(slot);
  if (newly_partly) {  // nothing else makes a set's partly written lines more
    const L2Tags::Partly partly = tags_.partly(tags_.set_of(slot));
    if (partly.count > partly_limit_) save(partly.oldest);
  }
  if (tags_.dirty_count(slice) > dirty_limit_) save(tags_.oldest_dirty(slice));
}

/// Writes a line's dirty sectors to DRAM; it stays, clean. Partly written sectors are read first, to
/// complete them: alone, without the rest of an access (measured on H100: 32 bytes each).
void L2Lines::save(std::uint32_t slot) {
  L2Tags::Line& line = tags_[slot];
  const DramPlace place = shared_.map.dram(shared_.map.place_of(tags_.set_of(slot), tags_.tag_of(slot)));
  const std::uint8_t partly = static_cast<std::uint8_t>(line.partly() & ~line.pending);
  if (partly) {
    shared_.counters.fill_sectors += sector_count(partly);
    dram_.read(place, sector_count(partly) * kSectorBytes, kNone);
    ports_.complete(tags_.set_of(slot) / shared_.map.sets(), sector_count(partly));
  }
  const std::uint32_t sectors = sector_count(line.dirty);
  if (tags_.tag_of(slot) < kLeftBehind) shared_.counters.dirty_sectors_left -= sectors;  // the launch's own
  dram_.write(place, sectors * kSectorBytes);
  line.valid = (line.valid | partly) & kWholeLine;
  line.dirty = 0;
  tags_.remove_dirty(slot);
}

void L2Lines::restart_cold() {
  tags_.invalidate_all();
  const double sets = static_cast<double>(shared_.spec.l2.slices) * shared_.map.sets();
  left_behind_ = static_cast<std::uint32_t>(std::lround(65536 * shared_.spec.l2.launch_dirty_lines / sets));
}

}  // namespace foretrace::memory
