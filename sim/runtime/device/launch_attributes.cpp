#include "sim/runtime/device/launch_attributes.h"

#include <algorithm>
#include <cstring>

#include "sim/runtime/device/device_attributes.h"
#include "sim/runtime/device/module.h"

namespace foretrace::runtime {

namespace {

constexpr std::uint32_t kPortableCluster =
    8;  // blocks: cuda.h, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED

/// Where each attribute may be set.
unsigned places_of(cudaLaunchAttributeID id) {
  constexpr auto kLaunch = static_cast<unsigned>(AttributeOf::launch);
  constexpr auto kStream = static_cast<unsigned>(AttributeOf::stream);
  constexpr auto kNode = static_cast<unsigned>(AttributeOf::node);
  switch (id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent: return kLaunch;
    case cudaLaunchAttributeSynchronizationPolicy: return kStream;
    case cudaLaunchAttributeCooperative:
    case cudaLaunchAttributeClusterDimension:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling:
    case cudaLaunchAttributePreferredSharedMemoryCarveout: return kLaunch | kNode;
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain: return kLaunch | kStream | kNode;
    default: return 0;
  }
}

int number(const spec::GpuSpec& spec, cudaDeviceAttr attribute) {
  DeviceFacts facts;
  facts.spec = &spec;
  return device_attribute(facts, attribute).value_or(0);
}

/// An H100's driver takes any hitProp.
bool is_window(const spec::GpuSpec& spec, const cudaAccessPolicyWindow& window) {
  const auto most = static_cast<std::size_t>(number(spec, cudaDevAttrMaxAccessPolicyWindowSize));
  return (most == 0 || window.num_bytes <= most) && window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.missProp >= cudaAccessPropertyNormal && window.missProp <= cudaAccessPropertyStreaming;
}

bool in_range(const spec::GpuSpec& spec, AttributeOf whose, cudaLaunchAttributeID id,
              const cudaLaunchAttributeValue& value) {
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: return is_window(spec, value.accessPolicyWindow);
    case cudaLaunchAttributeSynchronizationPolicy:
      return value.syncPolicy >= cudaSyncPolicyAuto && value.syncPolicy <= cudaSyncPolicyBlockingSync;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      return whose == AttributeOf::node ||  // takes any
             (value.clusterSchedulingPolicyPreference >= cudaClusterSchedulingPolicyDefault &&
              value.clusterSchedulingPolicyPreference <= cudaClusterSchedulingPolicyLoadBalancing);
    case cudaLaunchAttributeMemSyncDomainMap:
      return std::max(value.memSyncDomainMap.default_, value.memSyncDomainMap.remote) <
             number(spec, cudaDevAttrMemSyncDomainCount);
    case cudaLaunchAttributeMemSyncDomain:
      return value.memSyncDomain == cudaLaunchMemSyncDomainDefault ||
             value.memSyncDomain == cudaLaunchMemSyncDomainRemote;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      return value.deviceUpdatableKernelNode.deviceUpdatable == 0 ||
             value.deviceUpdatableKernelNode.deviceUpdatable == 1;
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return value.sharedMemCarveout <= 100;  // -1, the default, is for functions only
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: return value.nvlinkUtilCentricScheduling <= 1;
    default: return true;
  }
}

template <class Dim>
Dim3 dim_of(const Dim& dim) {
  return {dim.x, dim.y, dim.z};
}
bool divides(const Dim3& part, const Dim3& whole) {
  return part.count() != 0 && whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

/// The event that an attribute names: no interprocess event, and without a time.
template <class Named>
cudaError_t find_event(const Named& named, Event*& event) {
  event = event_of(named.event);
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  const bool fits =
      (event->flags & cudaEventDisableTiming) != 0 && (event->flags & cudaEventInterprocess) == 0;
  if (!fits) return cudaErrorNotSupported;
  return named.flags == cudaEventRecordDefault ? cudaSuccess : cudaErrorIllegalState;
}

cudaError_t apply(const spec::GpuSpec& spec, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value,
                  KernelCall& call) {
  if (id == cudaLaunchAttributeCooperative) call.cooperative = value.cooperative != 0;
  if (id == cudaLaunchAttributeProgrammaticStreamSerialization)
    call.dependent = value.programmaticStreamSerializationAllowed != 0;
  if (id == cudaLaunchAttributePreferredSharedMemoryCarveout)
    call.carveout = static_cast<int>(value.sharedMemCarveout);
  if (id == cudaLaunchAttributeClusterDimension) {
    const Dim3 required = required_cluster(*call.kernel);
    call.cluster = dim_of(value.clusterDim);
    if (required.count() != 0 && required != call.cluster) return cudaErrorInvalidClusterSize;
    if (const cudaError_t bad = check_cluster(spec, call); bad != cudaSuccess) return bad;
  }
  cudaLaunchAttributeValue kept = value;
  if (id == cudaLaunchAttributePriority) kept.priority = std::clamp(value.priority, kGreatestPriority, 0);
  keep_attribute(call.attributes, id, kept);
  return cudaSuccess;
}

/// What a preferred cluster may be, beside the clusters that stand in for it.
bool fits_as_preferred(const KernelCall& call) {
  const cudaLaunchAttributeValue* preferred =
      kept_attribute(call.attributes, cudaLaunchAttributePreferredClusterDimension);
  const bool regular = kept_attribute(call.attributes, cudaLaunchAttributeClusterDimension) != nullptr ||
                       required_cluster(*call.kernel).count() != 0;
  if (preferred == nullptr) return true;
  if (!regular) return false;
  const Dim3 cluster = dim_of(preferred->preferredClusterDim);
  return divides(cluster, call.grid) && divides(call.cluster, cluster) && cluster.z == call.cluster.z;
}

}  // namespace

bool has_attribute(AttributeOf whose, cudaLaunchAttributeID id) {
  return (places_of(id) & static_cast<unsigned>(whose)) != 0;
}

cudaError_t check_attribute(const spec::GpuSpec& spec, AttributeOf whose, cudaLaunchAttributeID id,
                            const cudaLaunchAttributeValue& value) {
  return has_attribute(whose, id) && in_range(spec, whose, id, value) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaLaunchAttributeValue default_attribute(const spec::GpuSpec& spec, cudaLaunchAttributeID id) {
  cudaLaunchAttributeValue value{};
  if (id == cudaLaunchAttributeSynchronizationPolicy)  // an H100's driver says -1, which is none of them
    std::memset(&value.syncPolicy, 0xff, sizeof value.syncPolicy);
  if (id == cudaLaunchAttributeMemSyncDomainMap)
    value.memSyncDomainMap.remote = number(spec, cudaDevAttrMemSyncDomainCount) > 1 ? 1 : 0;
  return value;
}

void keep_attribute(std::vector<cudaLaunchAttribute>& kept, cudaLaunchAttributeID id,
                    const cudaLaunchAttributeValue& value) {
  std::erase_if(kept, [&](const cudaLaunchAttribute& known) { return known.id == id; });
  cudaLaunchAttribute attribute{};
  attribute.id = id;
  attribute.val = value;
  kept.push_back(attribute);
}

const cudaLaunchAttributeValue* kept_attribute(const std::vector<cudaLaunchAttribute>& kept,
                                               cudaLaunchAttributeID id) {
  const auto found = std::find_if(kept.begin(), kept.end(),
                                  [&](const cudaLaunchAttribute& known) { return known.id == id; });
  return found == kept.end() ? nullptr : &found->val;
}

Dim3 required_cluster(const Kernel& kernel) {
  const auto& compiled = kernel.image().program.cluster;
  return compiled[0] != 0 ? Dim3{compiled[0], compiled[1], compiled[2]} : kernel.settings.required_cluster;
}

std::uint32_t largest_cluster(const spec::GpuSpec& spec, const Kernel& kernel) {
  const std::uint32_t largest = spec.cuda.largest_cluster;
  return kernel.settings.non_portable_cluster ? largest : std::min(largest, kPortableCluster);
}

cudaError_t check_cluster(const spec::GpuSpec& spec, const KernelCall& call) {
  const Dim3& cluster = call.cluster;  // some of the three 0: never whole
  if (cluster == Dim3{1, 1, 1}) return cudaSuccess;
  const bool fits = divides(cluster, call.grid) && cluster.count() <= largest_cluster(spec, *call.kernel);
  return fits ? cudaSuccess : cudaErrorInvalidClusterSize;
}

cudaGraphDeviceNode_t updatable_handle(const KernelCall& call) {
  const cudaLaunchAttributeValue* kept =
      kept_attribute(call.attributes, cudaLaunchAttributeDeviceUpdatableKernelNode);
  return kept == nullptr ? nullptr : kept->deviceUpdatableKernelNode.devNode;
}

namespace {

/// The call's node may be changed by kernels from now on, for ever; the value gets the handle.
cudaError_t make_updatable(KernelCall& call, const cudaLaunchAttributeValue& value) {
  static std::uint64_t handles = 0x6200'0000'0000;  // no address
  const bool asked = value.deviceUpdatableKernelNode.deviceUpdatable != 0;
  cudaGraphDeviceNode_t handle = updatable_handle(call);
  if (!asked) return handle == nullptr ? cudaSuccess : cudaErrorInvalidValue;
  if (handle == nullptr) handle = reinterpret_cast<cudaGraphDeviceNode_t>(handles += 16);
  // It comes back in what the program has given, though that is const to cudaGraphKernelNodeSetAttribute.
  const_cast<cudaLaunchAttributeValue&>(value).deviceUpdatableKernelNode.devNode = handle;
  keep_attribute(call.attributes, cudaLaunchAttributeDeviceUpdatableKernelNode, value);
  return cudaSuccess;
}

}  // namespace

cudaError_t apply_attributes(const spec::GpuSpec& spec, const cudaLaunchAttribute* attributes, unsigned count,
                             bool captured, KernelCall& call, std::vector<LaunchEvent>& events) {
  if (count != 0 && attributes == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    const auto& [id, padding, value] = attributes[i];
    cudaError_t bad = check_attribute(spec, AttributeOf::launch, id, value);
    LaunchEvent recorded;
    switch (id) {
      case cudaLaunchAttributeIgnore: continue;
      case cudaLaunchAttributeProgrammaticEvent:
        if (spec.sm_number < 90) return cudaErrorNotSupported;
        bad = find_event(value.programmaticEvent, recorded.event);
        recorded.edge.from_port = value.programmaticEvent.triggerAtBlockStart != 0
                                      ? cudaGraphKernelNodePortLaunchCompletion
                                      : cudaGraphKernelNodePortProgrammatic;
        recorded.edge.type = cudaGraphDependencyTypeProgrammatic;
        break;
      case cudaLaunchAttributeLaunchCompletionEvent:
        bad = find_event(value.launchCompletionEvent, recorded.event);
        recorded.edge.from_port = cudaGraphKernelNodePortLaunchCompletion;
        break;
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
        if (!captured) return cudaErrorNotSupported;
        if (bad == cudaSuccess) bad = make_updatable(call, value);
        break;
      default:
        if (bad == cudaSuccess) bad = apply(spec, id, value, call);
        break;
    }
    if (bad != cudaSuccess) return bad;
    if (recorded.event != nullptr) events.push_back(recorded);
  }
  return fits_as_preferred(call) ? cudaSuccess : cudaErrorInvalidClusterSize;
}

cudaError_t set_node_attribute(const spec::GpuSpec& spec, KernelCall& call, cudaLaunchAttributeID id,
                               const cudaLaunchAttributeValue& value) {
  const cudaError_t bad = check_attribute(spec, AttributeOf::node, id, value);
  if (bad != cudaSuccess) return bad;
  if (id == cudaLaunchAttributeDeviceUpdatableKernelNode) return make_updatable(call, value);
  return apply(spec, id, value, call);
}

cudaError_t get_node_attribute(const spec::GpuSpec& spec, const KernelCall& call, cudaLaunchAttributeID id,
                               cudaLaunchAttributeValue& value) {
  if (!has_attribute(AttributeOf::node, id) || id == cudaLaunchAttributeNvlinkUtilCentricScheduling)
    return cudaErrorInvalidValue;  // the latter may be set, and not be asked for
  const cudaLaunchAttributeValue* kept = kept_attribute(call.attributes, id);
  value = kept != nullptr ? *kept : default_attribute(spec, id);
  if (id == cudaLaunchAttributeCooperative) value.cooperative = call.cooperative ? 1 : 0;
  if (id == cudaLaunchAttributeClusterDimension) {
    value.clusterDim.x = call.cluster.x;
    value.clusterDim.y = call.cluster.y;
    value.clusterDim.z = call.cluster.z;
  }
  if (id == cudaLaunchAttributePreferredSharedMemoryCarveout)
    value.sharedMemCarveout = static_cast<unsigned>(call.carveout.value_or(call.kernel->settings.carveout));
  return cudaSuccess;
}

cudaError_t copy_node_attributes(KernelCall& to, const KernelCall& from) {
  if (updatable_handle(to) != nullptr || updatable_handle(from) != nullptr) return cudaErrorNotSupported;
  to.cooperative = from.cooperative;
  to.cluster = from.cluster;
  to.carveout = from.carveout;
  to.attributes = from.attributes;
  return cudaSuccess;
}

}  // namespace foretrace::runtime
