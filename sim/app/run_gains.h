// foretrace run --gains: what lifting each limit would bring to the kernels that take the most of a program's time.
#pragma once

#include <memory>
#include <string>

#include "model/spec/gpu_spec.h"
#include "sim/report/document.h"

namespace foretrace::app {

/// Simulates again, without each limit, the longest recorded launch of each of the three hottest kernels in the result document `json`,
/// whose traces `foretrace run --trace` put into `traces`; adds the gains to the document and says the largest on standard error. Throws
/// InputError where the document or a trace cannot be read.
void add_gains(const std::string& json, const std::string& traces,
               const std::shared_ptr<const spec::GpuSpec>& spec, int threads);

/// Of what runtime::Settings::timelines names, that of the hottest kernel; empty: there is none.
std::string hottest_timeline(const report::Document& document, const std::string& directory);

}  // namespace foretrace::app
