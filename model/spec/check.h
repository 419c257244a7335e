// What must hold between the numbers of a chip: each part of a GpuSpec checks itself here.
//
// Models:  sizes that must divide, lists that must ascend, counts that must fit into each other.
// Ignores: the range of a single number (model/config/keys.cpp has it beside the key).
// Source:  the model's own preconditions; each sentence says what a mechanism needs.
#pragma once

#include <optional>
#include <string>

#include "model/spec/gpu_spec.h"

namespace foretrace::spec {

/// A broken rule: the key to look at, and one sentence on what was expected of it.
struct Problem {
  std::string key;
  std::string sentence;
};

std::optional<Problem> check(const ClockSet& clock);
std::optional<Problem> check(const SmSpec& sm);
std::optional<Problem> check(const LimitsSpec& limits);
std::optional<Problem> check(const FetchSpec& fetch);
std::optional<Problem> check(const ConstantSpec& constant);
std::optional<Problem> check(const GpcCacheSpec& cache);
std::optional<Problem> check(const LsuSpec& lsu);
std::optional<Problem> check(const L1Spec& l1);
std::optional<Problem> check(const NetworkSpec& network);
std::optional<Problem> check(const L2Spec& l2);
std::optional<Problem> check(const DramSpec& dram);

/// Every part, then what holds between parts. Nothing: the chip can be built.
std::optional<Problem> check(const GpuSpec& gpu);

}  // namespace foretrace::spec
