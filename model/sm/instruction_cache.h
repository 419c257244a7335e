// Where an SM's instructions come from: its own cache, which runs ahead of its warps, and the GPC's behind it.
//
// Models:  128-byte lines (eight instructions) in sets, least recently used; a warp that enters a line asks for it and the next
//          fetch.prefetch_lines lines, whichever of them are neither here nor on their way; a hit costs nothing. A warp keeps the line that it entered until it enters another.
// Ignores: the sub-cores' own small caches (code that the SM's cache holds runs at full rate on all four sub-cores), wrong-path fetches.
// Source:  our code_sharing and instruction_cache on H100: knees at 32 and 128 KiB; HUE (docs/sources.md): a stream buffer of 8 lines.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::sm {

class InstructionCache {
 public:
  InstructionCache(const spec::FetchSpec& spec, std::size_t code_bytes);

  /// What a warp has in its instruction buffer, and the line that it wanted last.
  struct Buffer {
    std::uint32_t held = ~0u, wanted = ~0u;
  };
  /// Whether a warp can issue instruction `index` from now on; if not, ask again after fill(). `requests` receives the lines to ask the
  /// GPC's cache for.
  bool ready(std::uint32_t index, Buffer& buffer, std::vector<std::uint32_t>& requests) {
    return holds(buffer, index) || enter(index, buffer, requests);
  }
  static bool holds(const Buffer& buffer, std::uint32_t index) {
    return index / kInstructionsPerLine == buffer.held;
  }

  /// Line `line` arrived.
  void fill(std::uint32_t line);

  std::uint64_t misses = 0;  ///< lines asked for

 private:
  static constexpr std::uint32_t kInstructionsPerLine = kLineBytes / kInstructionBytes;
  bool enter(std::uint32_t index, Buffer& buffer, std::vector<std::uint32_t>& requests);
  enum class State : std::uint8_t { absent, asked, here };
  struct Way {
    std::uint32_t line = 0;
    std::uint64_t used = 0;  // 0: empty
  };
  void want(std::uint32_t line, std::vector<std::uint32_t>& requests);
  Way* set_of(std::uint32_t line) { return ways_.data() + std::size_t{line % sets_} * associativity_; }

  std::uint32_t prefetch_, lines_, associativity_, sets_;
  std::vector<State> state_;  // by line
  std::vector<Way> ways_;     // by set
  std::uint64_t clock_ = 0;
};

}  // namespace foretrace::sm
