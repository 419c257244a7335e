#include "sim/runtime/device/sm_part.h"

#include <algorithm>

#include "model/rules/clusters.h"

namespace foretrace::runtime {

namespace {

constexpr std::uint32_t kPair = 2;  // SMs of a TPC

}  // namespace

SmUnits sm_units(const spec::GpuSpec& chip, bool single) {
  if (single) return {kPair, kPair};
  if (chip.sm_number >= 90) return {8, 8};
  return chip.sm_number >= 80 ? SmUnits{4, kPair} : SmUnits{kPair, kPair};
}

SmUnits SmPart::units(const spec::GpuSpec& chip) const {
  if (whole()) return sm_units(chip, false);
  const SmUnits all = sm_units(chip, together < sm_units(chip, false).together);
  return {std::min(all.least, sms), std::min(all.together, sms)};
}

spec::GpuSpec chip_of(const spec::GpuSpec& whole, const SmPart& part) {
  spec::GpuSpec chip = whole;
  if (part.whole()) return chip;
  chip.sm.count = part.sms;
  auto& groups = chip.cluster.groups;
  if (groups.empty()) return chip;
  if (part.together == 0) {
    std::uint32_t taken = part.others;
    for (auto& group : groups) {
      const std::uint32_t here = std::min<std::uint32_t>(group, taken);
      group -= here;
      taken -= here;
    }
    std::erase(groups, 0u);
    return chip;
  }
  groups.clear();
  for (std::uint32_t left = part.sms; left > 0;) {
    const std::uint32_t group = std::min(left, left >= part.together ? part.together : kPair);
    groups.push_back(group);
    left -= group;
  }
  return chip;
}

std::uint32_t parts_of(const spec::GpuSpec& chip, std::uint32_t sms, std::uint32_t size, SmUnits units) {
  std::uint32_t parts = sms / size;
  if (units.together == kPair || size != units.together || chip.cluster.groups.empty()) return parts;
  // One unit each: as many as whole ones lie in GPCs.
  std::uint32_t whole = 0;
  for (const std::uint32_t group : chip.cluster.groups) whole += group / size;
  return std::min(parts, whole);
}

std::uint64_t clusters_in(const spec::GpuSpec& whole, const SmPart& part, std::uint32_t blocks,
                          std::uint32_t size) {
  if (part.whole()) return rules::max_active_clusters(whole, blocks, size);
  if (part.together != 0 && size > part.together) return 0;
  return rules::max_active_clusters(chip_of(whole, part), blocks, size);
}

}  // namespace foretrace::runtime
