#include "sim/runtime/device/conditional.h"

#include <cstring>

#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

unsigned value_of(const ConditionalWork& work) {
  unsigned value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(work.handle), sizeof value);
  return value;
}

}  // namespace

cudaError_t make_condition(State& s, Graph& graph, unsigned initial, bool assign,
                           cudaGraphConditionalHandle& handle) {
  void* const address = s.memory.allocate(sizeof initial, MemoryKind::variable);
  if (address == nullptr) return cudaErrorMemoryAllocation;
  std::memcpy(address, &initial, sizeof initial);
  handle = reinterpret_cast<cudaGraphConditionalHandle>(address);
  graph.conditions.push_back({handle, initial, assign});
  return cudaSuccess;
}

cudaError_t work_of(const State& s, cudaConditionalNodeParams& p, Work& work) {
  const MemoryBlock* block = s.memory.find(reinterpret_cast<const void*>(p.handle));
  const bool right_size = p.type == cudaGraphCondTypeWhile ? p.size == 1
                          : p.type == cudaGraphCondTypeIf  ? p.size == 1 || p.size == 2
                                                           : p.type == cudaGraphCondTypeSwitch && p.size != 0;
  if (block == nullptr || block->kind != MemoryKind::variable || !right_size) return cudaErrorInvalidValue;
  ConditionalWork made;
  made.handle = p.handle;
  made.type = p.type;
  made.handles = std::make_shared<std::vector<cudaGraph_t>>();
  for (unsigned i = 0; i < p.size; ++i) {
    made.bodies.push_back(std::make_shared<Graph>());
    made.handles->push_back(handle_of<cudaGraph_t>(made.bodies.back().get()));
  }
  p.phGraph_out = made.handles->data();
  work = std::move(made);
  return cudaSuccess;
}

void assign_conditions(const Graph& graph) {
  for (const Condition& condition : graph.conditions) {
    if (condition.assign)
      std::memcpy(reinterpret_cast<void*>(condition.handle), &condition.initial, sizeof condition.initial);
  }
}

cudaError_t run_conditional(const State& s, const ConditionalWork& work,
                            const std::function<cudaError_t(const Graph&)>& run) {
  if (work.type == cudaGraphCondTypeWhile) {
    while (value_of(work) != 0) {
      if (const cudaError_t result = run(*work.bodies[0]); result != cudaSuccess) return result;
      if (s.pending != cudaSuccess) break;  // a kernel's fault ends the graph
    }
    return cudaSuccess;
  }
  const unsigned value = value_of(work);
  const std::size_t body = work.type == cudaGraphCondTypeSwitch ? value : value != 0 ? 0 : 1;
  return body < work.bodies.size() ? run(*work.bodies[body]) : cudaSuccess;
}

}  // namespace foretrace::runtime
