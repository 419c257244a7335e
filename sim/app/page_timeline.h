// A few warps of a recorded launch cycle by cycle, for its page.
#pragma once

#include <memory>
#include <string>

#include "model/spec/gpu_spec.h"

namespace foretrace::app {

/// JSON text (docs/timeline.md): what the first two warps of the first block do, 200 instructions each, found by simulating the trace again on
/// the chip, with cold caches, for at most 100,000 cycles. Throws InputError where the trace cannot be read.
std::string page_timeline(const std::string& trace, const std::shared_ptr<const spec::GpuSpec>& spec,
                          int threads);

/// What foretrace timeline --json wrote to the file. Throws InputError: it is something else.
std::string read_timeline(const std::string& file);

}  // namespace foretrace::app
