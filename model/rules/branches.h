// When a branch is counted, and when it is divergent.
//
// Models:  a branch is counted when its warp goes on after it; it is divergent where the warp goes on elsewhere than behind it and with
//          other lanes than came to it.
// Ignores: warps that end at a branch: nothing goes on.
// Source:  what an H100 counts of our kernels (docs/validation.md).
#pragma once

#include "model/work/warp_record.h"

namespace foretrace::rules {

/// How a warp went on after a branch.
struct Branch {
  bool jumps = false;        ///< elsewhere than to the next instruction
  bool other_lanes = false;  ///< with other active lanes
  bool divergent() const { return jumps && other_lanes; }
};

/// `next` is the step after `branch` of the same warp.
inline Branch branch_between(const work::Step& branch, const work::Step& next) {
  return {next.index != branch.index + 1, next.active != branch.active};
}

}  // namespace foretrace::rules
