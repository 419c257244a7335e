// Tables of single instructions: the hottest, and those that access memory.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/report/table.h"
#include "sim/report/text_sections.h"

namespace foretrace::report {
namespace {

constexpr std::size_t kSassWidth = 44;

std::string location(const InstructionResult& row) {
  if (row.line == 0) return "";
  const auto slash = row.file.find_last_of('/');
  return fmt::format("{}:{}", slash == std::string::npos ? row.file : row.file.substr(slash + 1), row.line);
}

std::string offset_of(const InstructionResult& row) { return fmt::format("0x{:04x}", row.offset); }

std::string quotient(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? "n/a" : fmt::format("{:.2f}", static_cast<double>(a) / static_cast<double>(b));
}

const char* main_stall(const InstructionResult& row) {
  std::size_t worst = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < row.stalled.size(); ++i) {
    if (static_cast<stats::WarpState>(i) != stats::WarpState::selected && row.stalled[i] > most) {
      most = row.stalled[i];
      worst = i;
    }
  }
  return most == 0 ? "" : stats::name_of(static_cast<stats::WarpState>(worst));
}

std::vector<const InstructionResult*> largest(const LaunchResult& result, std::size_t count,
                                              std::uint64_t (*weight)(const InstructionResult&)) {
  std::vector<const InstructionResult*> rows;
  for (const auto& row : result.instructions) {
    if (weight(row) > 0) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto* a, const auto* b) { return weight(*a) > weight(*b); });
  if (rows.size() > count) rows.resize(count);
  return rows;
}

}  // namespace

std::string hottest_instructions(const LaunchResult& result, const std::string& title,
                                 const TextOptions& options) {
  std::uint64_t all = 0;
  for (const auto& row : result.instructions) {
    for (const std::uint64_t cycles : row.stalled) all += cycles;
  }
  Table table({"Source", "Offset", "SASS", "Main stall", "Warp-cycles", "Executed", "Lanes"}, 4);
  const auto weight = [](const InstructionResult& row) {
    return row.stall_cycles() + row.stalled[static_cast<std::size_t>(stats::WarpState::selected)];
  };
  for (const auto* row : largest(result, options.hottest, weight)) {
    table.add({location(*row), offset_of(*row), shortened(row->sass, kSassWidth), main_stall(*row),
               fmt::format("{:.1f}%", 100.0 * static_cast<double>(weight(*row)) / static_cast<double>(all)),
               grouped(row->executed), quotient(row->thread_executed, row->executed)});
  }
  if (table.empty()) return {};
  return fmt::format("  Section: Hottest Instructions: {}\n{}\n", title, table.text(4));
}

std::string memory_accesses(const LaunchResult& result, const std::string& title,
                            const TextOptions& options) {
  Table table(
      {"Source", "Offset", "SASS", "Requests", "Sectors/Req", "Ideal", "L1 Hit", "Wavefronts/Req", "Ideal"},
      3);
  // What wastes most first: sectors that nobody asked for and bank conflicts, then what costs most.
  const auto weight = [](const InstructionResult& row) -> std::uint64_t {
    if (row.requests == 0) return 0;
    const std::uint64_t cost = std::max({row.sectors, row.wavefronts, row.requests});
    const std::uint64_t sectors = row.sectors - std::min(row.sectors, row.ideal_sectors);
    const std::uint64_t conflicts =
        row.is_shared() ? row.wavefronts - std::min(row.wavefronts, row.ideal_wavefronts) : 0;
    return cost + 16 * (sectors + conflicts);
  };
  for (const auto* row : largest(result, options.accesses, weight)) {
    const bool global = row->sectors > 0;
    table.add({location(*row), offset_of(*row), shortened(row->sass, kSassWidth), grouped(row->requests),
               global ? quotient(row->sectors, row->requests) : "",
               global ? quotient(row->ideal_sectors, row->requests) : "",
               global ? fmt::format("{:.1f}%", 100.0 * static_cast<double>(row->l1_hit_sectors) /
                                                   static_cast<double>(row->sectors))
                      : "",
               quotient(row->wavefronts, row->requests), quotient(row->ideal_wavefronts, row->requests)});
  }
  if (table.empty()) return {};
  return fmt::format("  Section: Memory Accesses (coalescing and bank conflicts): {}\n{}\n", title,
                     table.text(4));
}

}  // namespace foretrace::report
