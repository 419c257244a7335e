// Attributes of launches, streams and kernel nodes: which there are, where each may be set, and what it may be.
//
// Models:  what a launch is because of them: cooperative, its clusters, its carve-out, whether it may begin before the kernel before it in its stream ends
//          (the gap between the two on the time line), and the events that it records.
// Ignores: the effects of priorities, access-policy windows, memory domains, scheduling preferences and preferred clusters: they are checked and
//          kept, to be asked for.
// Source:  cuda.h of CUDA 13.0, CUlaunchAttributeID and CUlaunchAttributeValue. Which error a value out of range gets is said there for few;
//          answers are an H100's (validate/measurements/driver_calls, section launch_attributes), also where the header says otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "model/spec/gpu_spec.h"
#include "sim/runtime/device/graph.h"
#include "sim/runtime/device/operation.h"

namespace foretrace::runtime {

class Kernel;

constexpr int kGreatestPriority = -5;  ///< the least is 0; what lies outside is moved to the nearer end

enum class AttributeOf : unsigned { launch = 1, stream = 2, node = 4 };

/// Whether there is an attribute of that number for those.
bool has_attribute(AttributeOf whose, cudaLaunchAttributeID id);
/// CUDA's answer to its being set, as far as that is known without a kernel and a stream.
cudaError_t check_attribute(const spec::GpuSpec& spec, AttributeOf whose, cudaLaunchAttributeID id,
                            const cudaLaunchAttributeValue& value);
/// What it is where nothing has set it.
cudaLaunchAttributeValue default_attribute(const spec::GpuSpec& spec, cudaLaunchAttributeID id);

/// Sets it in the list, in place of what was there.
void keep_attribute(std::vector<cudaLaunchAttribute>& kept, cudaLaunchAttributeID id,
                    const cudaLaunchAttributeValue& value);
/// Null: it is not there.
const cudaLaunchAttributeValue* kept_attribute(const std::vector<cudaLaunchAttribute>& kept,
                                               cudaLaunchAttributeID id);

/// The clusters that the kernel was compiled for, or was told to have; all 0: none.
Dim3 required_cluster(const Kernel& kernel);
/// Blocks that a cluster of the kernel may have at most, as far as the chip and the kernel are asked; 0: there are none.
std::uint32_t largest_cluster(const spec::GpuSpec& spec, const Kernel& kernel);
/// CUDA's answer to the call's clusters: those that it was given, or that its kernel was compiled for.
cudaError_t check_cluster(const spec::GpuSpec& spec, const KernelCall& call);

/// An event that a launch records.
struct LaunchEvent {
  Event* event = nullptr;
  cudaGraphEdgeData edge{};  ///< of what waits for it, in a graph
};
/// Gives the call its attributes. `captured`: its stream is.
cudaError_t apply_attributes(const spec::GpuSpec& spec, const cudaLaunchAttribute* attributes, unsigned count,
                             bool captured, KernelCall& call, std::vector<LaunchEvent>& events);

/// The handle of a node that kernels may change (cudaGraphKernelNodeSetParam and its like); null: they may not.
cudaGraphDeviceNode_t updatable_handle(const KernelCall& call);

/// A kernel node's attribute.
cudaError_t set_node_attribute(const spec::GpuSpec& spec, KernelCall& call, cudaLaunchAttributeID id,
                               const cudaLaunchAttributeValue& value);
cudaError_t get_node_attribute(const spec::GpuSpec& spec, const KernelCall& call, cudaLaunchAttributeID id,
                               cudaLaunchAttributeValue& value);
/// All of the node's attributes become the other's.
cudaError_t copy_node_attributes(KernelCall& to, const KernelCall& from);

}  // namespace foretrace::runtime
