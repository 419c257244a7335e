#include <iterator>

#include "model/spec/gpu_spec.h"

namespace foretrace::spec {
namespace {

constexpr const char* kPipeNames[] = {"alu",  "alulite", "fmaheavy", "fmalite", "fp16",
                                      "fp64", "xu",      "tensor",   "uniform", "cbu",
                                      "adu",  "lsu",     "tma",      "tex",     "none"};
static_assert(std::size(kPipeNames) == kPipes);

constexpr const char* kLatencyNames[] = {"fixed",          "xu",
                                         "fp64",           "tensor",
                                         "shuffle",        "special_register",
                                         "constant",       "uniform_load",
                                         "uniform_reduce", "match",
                                         "global",         "shared",
                                         "matrix_load",    "shared_atomic",
                                         "global_atomic"};
static_assert(std::size(kLatencyNames) == kLatencyClasses);

template <std::size_t N, class Enum>
bool find(const char* const (&names)[N], const std::string& name, Enum& value) {
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) {
      value = static_cast<Enum>(i);
      return true;
    }
  }
  return false;
}

}  // namespace

const char* name_of(Pipe pipe) { return kPipeNames[static_cast<std::size_t>(pipe)]; }
bool pipe_from_name(const std::string& name, Pipe& pipe) { return find(kPipeNames, name, pipe); }
const char* name_of(LatencyClass latency) { return kLatencyNames[static_cast<std::size_t>(latency)]; }
bool latency_from_name(const std::string& name, LatencyClass& latency) {
  return find(kLatencyNames, name, latency);
}

}  // namespace foretrace::spec
