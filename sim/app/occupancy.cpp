// foretrace occupancy: how many blocks an SM holds, and what would change it.

#include <iostream>

#include <fmt/format.h>

#include "model/rules/clusters.h"
#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/frontend/launch/launch.h"
#include "sim/report/chip_json.h"
#include "sim/report/json.h"

namespace foretrace::app {

int occupancy(const Words& words) {
  ChipOptions chosen;
  OutputOptions output;
  std::string block;
  std::uint32_t registers = 0, barriers = 1, cluster = 1;
  std::uint64_t shared = 0;
  options::options_description known("options");
  chosen.add_variants_to(known);
  known.add_options()("block", options::value(&block)->value_name("X[,Y[,Z]]")->required(),
                      "threads per block")("registers", count(&registers)->required(),
                                           "registers per thread")(
      "shared", options::value(&shared)->value_name("BYTES"),
      "shared memory, static and dynamic, bytes per block")(
      "barriers", options::value(&barriers)->value_name("N")->default_value(barriers),
      "named barriers that a block uses")(
      "cluster", options::value(&cluster)->value_name("N")->default_value(cluster),
      "blocks per cluster (sm_90 and later): also says how many clusters the chip runs at a time");
  output.add_to(known);
  options::variables_map values;
  if (!parse(words, "occupancy --arch CHIP --block N --registers N [--shared BYTES] [--cluster N]", known, "",
             values))
    return 0;
  rules::KernelResources kernel;
  kernel.threads = static_cast<std::uint32_t>(frontend::parse_extent(block, "--block").count());
  kernel.registers = registers;
  kernel.dynamic_shared = shared;
  kernel.barriers = barriers;
  std::vector<report::OccupancyResult> results;
  std::string text;
  for (const Variant& variant : variants(chosen)) {
    const spec::GpuSpec& spec = variant.chip.spec;
    results.push_back(report::occupancy_of(spec, kernel));
    const rules::Occupancy& found = results.back().found;
    const std::string& next = results.back().next_step;
    text +=
        fmt::format("{}: {} blocks per SM, {} of {} warps, {:.4g}%, limited by {}\n", spec.name, found.blocks,
                    found.warps, spec.limits.warps, found.percent, rules::name_of(found.limiter));
    text += fmt::format(
        "  blocks by each limit: registers {}, shared memory {}, warps {}, blocks {}, barriers {}\n",
        found.limit_registers, found.limit_shared, found.limit_warps, found.limit_blocks,
        found.limit_barriers);
    text += fmt::format(
        "  allocated per block: {} registers, {} bytes of shared memory; the SM is set to {} bytes of it\n",
        found.registers_per_block, found.shared_per_block, found.shared_config);
    if (cluster != 1) {
      if (cluster == 0 || spec.sm_number < 90)
        throw InputError(
            fmt::format("--cluster {}: {}", cluster,
                        cluster == 0 ? "expected at least one block"
                                     : spec.name + " has no clusters; expected a chip of sm_90 or later"));
      const std::uint64_t clusters = rules::max_active_clusters(spec, found.blocks, cluster);
      text += fmt::format(
          "  clusters of {} blocks: {} at a time on the chip, {} blocks of the {} that run singly\n", cluster,
          clusters, clusters * cluster, std::uint64_t{found.blocks} * spec.sm.count);
      results.back().clusters = clusters;
    }
    if (!next.empty()) text += "  next step: " + next + "\n";
  }
  const std::string json = report::occupancy_json(results);
  if (output.json == "-") {
    std::cout << json;
    return 0;
  }
  if (!output.json.empty()) report::write_file(output.json, json);
  std::cout << text;
  return 0;
}

}  // namespace foretrace::app
