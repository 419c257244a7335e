// A hand-made prediction with small round numbers, so that a test can say by heart what each metric must be.
#pragma once

#include "sim/report/document.h"
#include "sim/report/prediction.h"

namespace foretrace::report::testing {

/// A chip of 10 SMs at 1 GHz (L2 at 0.5 GHz, DRAM at 2 GHz), a kernel of three instructions, 10,000 cycles.
/// Each SM is active for 8,000 cycles on average and 9,000 at most; 32,000 warp instructions issue.
Prediction sample_prediction();

/// A document of sample predictions, one per name in `archs`.
Document sample_document(const std::vector<std::string>& archs);

}  // namespace foretrace::report::testing
