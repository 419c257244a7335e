// Constants of an SM: operands through the sub-cores' caches, and LDC, which the ADU takes word by word.
//
// Models:  a constant operand, or what a uniform load reads at its register's address, holds its warp until its line is in the sub-core's
//          cache; what misses there is asked of the GPC's. An LDC goes through the ADU once for each
//          different address of its lanes, some cycles after each other; passes of several LDCs lie between each other. A pass whose line
//          is missing waits for it and goes again. Lines come one after the other; those of LDCs whose lanes differ are asked of the
//          GPC's cache, which all its SMs share.
// Ignores: in which order lanes are taken; the wait at the GPC's cache of LDCs whose lanes agree.
// Source:  our constants, indexed_constants and constant_sharing on H100, first_constants and constant_crowds on H200.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/warp_table.h"

namespace foretrace::sm {

class ConstantPath {
 public:
  /// Its requests go to `outbox`, the GPC's cache.
  ConstantPath(const SmContext& context, WarpTable& table, Adu& adu, std::vector<memory::CodeRequest>& outbox)
      : context_(context), table_(table), adu_(adu), outbox_(outbox),
        cache_(context.spec.constant.l1_bytes, context.spec.constant.line_bytes) {}

  /// Whether the constant operand of the warp's instruction is there; if not, the warp waits for it (imc_miss).
  bool operand_ready(Warp& warp, std::uint16_t id, Cycle now);
  /// An LDC that is issued at `now` and that the ADU takes first at `served`.
  void load(Warp& warp, std::uint16_t id, std::uint32_t executed, Cycle served, Cycle now);
  /// Event::Kind::constant_pass: the next words of LDC number `index`.
  void advance(std::uint32_t index, Cycle now);
  /// The reply to a request with this id, marks included.
  void arrived(std::uint32_t id, Cycle now);

 private:
  /// A line of the GPC's cache that was asked for.
  struct NearBlock {
    std::uint32_t block;
    bool here;
  };
  /// An LDC whose block is on its way.
  struct Waiting {
    std::uint32_t address;
    Event release;
  };
  /// An LDC whose lanes differ, from its first missing line on.
  struct Lookup {
    std::vector<std::uint32_t> words;
    std::size_t at = 0;  // the word that goes next
    Cycle pass = 0;      // when it goes
    Cycle ready = 0;     // of the words before it
    Cycle latency = 0, interval = 0;
    Cycle in_adu = 0;  // when its last first pass leaves the ADU
    bool waits = false;
    Event release;
  };
  struct Line {
    std::uint32_t line;
    std::vector<std::uint32_t> lookups;  // that wait for it
  };

  std::uint32_t line_bytes() const { return context_.spec.constant.line_bytes; }
  /// Bank 0 of a kernel holds its launch's parameters.
  static bool is_parameter(std::uint32_t address) { return address % kConstantsApart >> 16 == 0; }
  std::uint32_t operand_address(const Warp& warp) const;
  std::uint32_t operand_number(std::uint16_t id, std::uint32_t address) const;
  void operand_arrived(std::uint32_t number, Cycle now);
  bool is_near(std::uint32_t address, Cycle now);
  void block_arrived(std::uint32_t block, Cycle now);
  void line_arrived(std::uint32_t line, Cycle now);
  void find_words(const Warp& warp, std::uint32_t executed);
  void load_words(std::uint16_t id, const StaticInstruction& instruction, Cycle served, Cycle now);
  void hold_adu_place(std::uint16_t id, Cycle until);
  void ask_for(std::uint32_t address, std::uint32_t lookup, Cycle now);

  const SmContext& context_;
  WarpTable& table_;
  Adu& adu_;
  std::vector<memory::CodeRequest>& outbox_;
  ConstantCache cache_;                  // of the SM, for LDC
  std::vector<NearBlock> blocks_;        // that were asked of the GPC's cache
  std::vector<std::uint32_t> operands_;  // lines on their way to sub-cores
  std::vector<Waiting> waiting_;
  std::vector<Lookup> lookups_;
  std::vector<std::uint32_t> free_lookups_;
  std::vector<Line> lines_;           // on their way to the SM's cache
  std::vector<std::uint32_t> words_;  // of the LDC at hand
  Cycle port_free_ = 0;               // the way of LDC's lines from the GPC's cache
};

}  // namespace foretrace::sm
