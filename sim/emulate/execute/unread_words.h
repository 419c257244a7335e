// Words of a wide load that the program has no use for: compilers load four words where three are asked for.
//
// Models:  a word is of no use if every way on from the load writes its register before it reads it, or ends the thread; and of no
//          use to a lane that takes such a way, whatever others do.
// Ignores: calls, returns, branches through registers, and a register that only some lanes write: behind them all may be read.
//          A value that is copied counts as read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/isa/program.h"
#include "sim/emulate/fault.h"

namespace foretrace::emulate {

/// Whether word `word` of what the load at `at` brings may be read.
bool may_read_word(const isa::Program& program, std::size_t at, std::uint32_t word);

/// Words that nobody wrote or that lie beyond the block's shared memory, in the registers that wide loads put them in, until they are read or written over.
class UnreadWords {
 public:
  struct Word {
    std::uint32_t warp = 0;
    std::uint32_t load = 0;  ///< the load's instruction
    int place = 0;           ///< the register
    std::uint32_t lanes = 0;
    FaultKind kind = FaultKind::uninitialized_read;
    std::string what;  ///< of the first of them that came
  };

  bool empty() const { return words_.empty(); }
  /// Word `word` of the load at `load` is one of a lane. False: it is put where it cannot be followed.
  bool hold(const isa::Program& program, std::uint32_t load, std::uint32_t word, std::uint32_t warp, int lane,
            FaultKind kind, const std::string& what);
  /// Lanes are about to execute an instruction: the first such word that they read (its `lanes` are those, and it is held for them no
  /// longer), or null.
  const Word* read_by(const isa::Program& program, std::uint32_t at, std::uint32_t warp, std::uint32_t lanes);

 private:
  std::vector<Word> words_;
  Word found_;
};

}  // namespace foretrace::emulate
