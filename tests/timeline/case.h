// A timeline case: a few instructions, why their timing is what it is, and the timeline that the model gives them.
//
// A file is: lines with `#`, why; directives; instructions; `---`; the timeline. Directives:
//   set KEY=VALUE        a value of the H100 is another one (fetch, launch and code are out of the way already)
//   warps N              warps of the block (1)
//   path W: I I@MASK ..  what warp W executes: numbers of instructions from 0, with the lanes that are active; else all in order
//   show W W ..          the warps that are shown; else all
//   blocks N             of the launch, all alike, two to an SM at most (1)
//   show_blocks B B ..   the blocks that are shown; else all
//   warm BASE LINES      so many lines from that byte address are in L2
//   l1 BYTES             so many of L1 are left beside shared memory
// An instruction is its text as nvdisasm prints it, and after `|` what else is known of it, separated by commas:
//   stall N, yield, write N, read N, wait N (may be repeated): the control bits
//   lanes MASK           lanes whose guard is true
//   base B, stride S, step T   addresses: B + lane * S + warp * T
//   operand N            second address set of all lanes (SYNCS);   value N   the record's value (NANOSLEEP: nanoseconds)
//   load RxB, store RxB  a box of R rows of B bytes for the copy engine
// An EXIT follows the last instruction.
#pragma once

#include <string>

namespace foretrace::timeline_tests {

struct Case {
  std::string head;      ///< up to and with `---`
  std::string expected;  ///< behind it
};

/// Throws InputError with file and line.
Case read_case(const std::string& file);
/// The timeline of the case as the model has it now. Throws InputError with file and line.
std::string timeline_of(const std::string& file, const Case& from);

}  // namespace foretrace::timeline_tests
