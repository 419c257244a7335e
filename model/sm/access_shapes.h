// What a memory instruction asks for, found out once at its issue: lines and sectors, passes of the data stage, and the counts that are
// arithmetic.
//
// Models:  model/rules on the addresses of an access; the space of a generic one is that of its first address; local memory lies warp by
//          warp, word by word. What repeats the lanes' pattern of the instruction's last access is moved, not found again.
// Ignores: lanes of one warp that go to several spaces.
// Source:  NVIDIA's counters, see model/rules.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/sm/data_array.h"
#include "model/sm/memory_operation.h"
#include "model/sm/static_program.h"
#include "model/stats/launch_counters.h"

namespace foretrace::sm {

class AccessShapes {
 public:
  /// `array`: where in it shared memory lies.
  AccessShapes(const StaticProgram& program, const DataArray& array, stats::LaunchCounters& counters);

  /// Counts an executed instruction by kind, also one whose guard holds back every lane.
  void count_instruction(const isa::MemoryForm& form);
  /// Finds and counts what the lanes that execute it ask for; there must be one.
  void find(MemoryOperation& operation, const MemoryIssue& issue);
  /// Counts what an instruction asks for, which goes nowhere.
  void count(const MemoryIssue& issue);
  /// Sectors of the operation that were in L1.
  void count_hits(const MemoryOperation& operation, std::uint32_t sectors);

 private:
  /// The last result of the pure rules for one static instruction: most executions repeat the lane pattern.
  struct Memo {
    work::AddressPattern pattern;
    std::uint64_t local_base = 0;
    std::uint32_t executed = 0;
    bool valid = false;
    isa::Space space = isa::Space::global;  // that of a generic access may change
    std::uint32_t wavefronts = 0, ideal = 0;
    // Of a copy past L1, whose requests depend on where they go:
    work::AddressPattern destination;
    std::uint32_t places = 0;  // sectors as l1tex counts them
    bool goes_alike(const work::AddressPattern& to) const;
    bool repeats(const work::AddressPattern& p, std::uint32_t lanes) const;
    bool repeats_passes(const work::AddressPattern& p, std::uint32_t lanes) const;
  };
  struct MemoLines {
    rules::Coalesced lines;
    rules::WrittenBytes written;
  };
  void prepare_shared(MemoryOperation& operation, const MemoryIssue& issue);
  void prepare_lookup(MemoryOperation& operation, const MemoryIssue& issue);
  void prepare_global(MemoryOperation& operation, const MemoryIssue& issue);
  void count_shared(const MemoryOperation& operation, std::uint32_t ideal);
  void count_global(const MemoryOperation& operation, std::uint32_t sectors, std::uint32_t ideal_sectors);

  const StaticProgram& program_;
  const DataArray& array_;
  stats::LaunchCounters& counters_;
  std::vector<Memo> memo_;  // by address slot
  // Likewise; none before its first access to global or local memory.
  std::vector<std::unique_ptr<MemoLines>> memo_lines_;
  bool stores_here_ = false;  // the program stores to global memory
};

}  // namespace foretrace::sm
