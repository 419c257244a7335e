// Conditional nodes of graphs: bodies that run if, or while, a value is not zero that kernels set, or the one of that number.
//
// Models:  handles, their default at each launch, IF (with ELSE), WHILE and SWITCH, nested.
// Choice:  a handle is the address of its value in device memory; cudaGraphSetConditional of device code stores there
//          (sim/emulate/execute/driver_functions.h).
#pragma once

#include <functional>

#include "sim/runtime/device/graph.h"

namespace foretrace::runtime {

/// A handle for conditional nodes of the graph. cudaErrorMemoryAllocation: no room for its value.
cudaError_t make_condition(State& s, Graph& graph, unsigned initial, bool assign,
                           cudaGraphConditionalHandle& handle);
/// A conditional node with empty bodies, which `p` names then. cudaErrorInvalidValue where the parameters make no sense.
cudaError_t work_of(const State& s, cudaConditionalNodeParams& p, Work& work);
/// What a launch of the graph begins with.
void assign_conditions(const Graph& graph);
/// Runs the bodies, each by `run`, as the value is when each begins.
cudaError_t run_conditional(const State& s, const ConditionalWork& work,
                            const std::function<cudaError_t(const Graph&)>& run);

}  // namespace foretrace::runtime
