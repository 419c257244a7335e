#include "sim/runtime/device/device_attributes.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <functional>

namespace foretrace::runtime {
namespace {

constexpr int kConstantBytes = 65536;
constexpr int kSharedPerBlock = 48 * 1024;  // without opting in
constexpr int kMostInt = 2147483647;

int to_int(std::uint64_t value) { return static_cast<int>(std::min<std::uint64_t>(value, kMostInt)); }

/// FP32 throughput in FP64's.
int precision_ratio(const spec::GpuSpec& spec) {
  const auto interval = [&](spec::Pipe pipe) {
    return double(spec.pipe[static_cast<std::size_t>(pipe)].interval);
  };
  const double heavy = interval(spec::Pipe::fmaheavy), lite = interval(spec::Pipe::fmalite);
  const double single = (heavy > 0 ? 1 / heavy : 0) + (lite > 0 ? 1 / lite : 0);
  return static_cast<int>(single * interval(spec::Pipe::fp64) + 0.5);
}

/// Both halves of a DRAM clock carry data.
int bus_bits(const spec::DramSpec& dram) {
  return to_int(std::uint64_t{dram.channels} * dram.channel_bytes * 8 / 2);
}

std::optional<int> texture_limit(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxTexture1DWidth:
    case cudaDevAttrMaxTexture2DWidth:
    case cudaDevAttrMaxTexture2DLinearWidth: return 131072;
    case cudaDevAttrMaxTexture2DHeight: return 65536;
    case cudaDevAttrMaxTexture2DLinearHeight: return 65000;
    case cudaDevAttrMaxTexture2DLinearPitch: return 2097120;
    case cudaDevAttrMaxTexture3DWidth:
    case cudaDevAttrMaxTexture3DHeight:
    case cudaDevAttrMaxTexture3DDepth: return 16384;
    case cudaDevAttrMaxTexture3DWidthAlt:
    case cudaDevAttrMaxTexture3DHeightAlt: return 8192;
    case cudaDevAttrMaxTexture3DDepthAlt: return 32768;
    case cudaDevAttrMaxTexture1DLinearWidth: return 268435456;
    case cudaDevAttrMaxTexture1DMipmappedWidth:
    case cudaDevAttrMaxTexture2DMipmappedWidth:
    case cudaDevAttrMaxTexture2DMipmappedHeight:
    case cudaDevAttrMaxTexture2DGatherWidth:
    case cudaDevAttrMaxTexture2DGatherHeight:
    case cudaDevAttrMaxTextureCubemapWidth:
    case cudaDevAttrMaxTextureCubemapLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredHeight:
    case cudaDevAttrMaxTexture1DLayeredWidth:
    case cudaDevAttrMaxSurface1DWidth:
    case cudaDevAttrMaxSurface1DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredHeight:
    case cudaDevAttrMaxSurfaceCubemapWidth:
    case cudaDevAttrMaxSurfaceCubemapLayeredWidth: return 32768;
    case cudaDevAttrMaxTexture2DLayeredLayers:
    case cudaDevAttrMaxTexture1DLayeredLayers:
    case cudaDevAttrMaxSurface1DLayeredLayers:
    case cudaDevAttrMaxSurface2DLayeredLayers: return 2048;
    case cudaDevAttrMaxTextureCubemapLayeredLayers:
    case cudaDevAttrMaxSurfaceCubemapLayeredLayers: return 2046;
    case cudaDevAttrMaxSurface2DWidth: return 131072;
    case cudaDevAttrMaxSurface2DHeight: return 65536;
    case cudaDevAttrMaxSurface3DWidth:
    case cudaDevAttrMaxSurface3DHeight:
    case cudaDevAttrMaxSurface3DDepth: return 16384;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment: return 512;
    case cudaDevAttrTexturePitchAlignment: return 32;
    default: return std::nullopt;
  }
}

/// Features: 1 for what this runtime provides.
std::optional<int> feature(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrHostNumaMemoryPoolsSupported:
    case cudaDevAttrHostMemoryPoolsSupported:
    case cudaDevAttrIpcEventSupport:
    case cudaDevAttrMemoryPoolSupportedHandleTypes: return 1;  // POSIX file descriptors
    case cudaDevAttrNumaId: return -1;
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrMultiGpuBoardGroupID:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrTimelineSemaphoreInteropSupported:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
    case cudaDevAttrGPUDirectRDMAWritesOrdering:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrNumaConfig:
    case cudaDevAttrMpsEnabled:
    case cudaDevAttrD3D12CigSupported:
    case cudaDevAttrVulkanCigSupported:
    case cudaDevAttrGpuPciDeviceId:
    case cudaDevAttrGpuPciSubsystemId:
    case cudaDevAttrHostNumaId:
    case cudaDevAttrHostNumaMultinodeIpcSupported:
    case cudaDevAttrOnlyPartialHostNativeAtomicSupported: return 0;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<int> device_attribute(const DeviceFacts& facts, cudaDeviceAttr attribute) {
  const spec::GpuSpec& spec = *facts.spec;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return to_int(spec.limits.threads_per_block);
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrMaxGridDimX: return kMostInt;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock: return kSharedPerBlock;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return to_int(spec.limits.shared_per_block);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return to_int(spec.l1.carveouts.back());
    case cudaDevAttrReservedSharedMemoryPerBlock: return to_int(spec.limits.shared_reserved);
    case cudaDevAttrTotalConstantMemory: return kConstantBytes;
    case cudaDevAttrWarpSize: return kWarpSize;
    case cudaDevAttrMaxPitch: return kMostInt;
    case cudaDevAttrMaxRegistersPerBlock: return to_int(spec.limits.registers_per_block);
    case cudaDevAttrMaxRegistersPerMultiprocessor: return to_int(spec.limits.registers);
    case cudaDevAttrClockRate: return to_int(spec.clock.sm / 1000);
    case cudaDevAttrMemoryClockRate: return to_int(spec.clock.dram / 1000);
    case cudaDevAttrGlobalMemoryBusWidth: return bus_bits(spec.dram);
    case cudaDevAttrL2CacheSize: return to_int(spec.l2.bytes);
    case cudaDevAttrMultiProcessorCount: return to_int(spec.sm.count);
    case cudaDevAttrMaxThreadsPerMultiProcessor: return to_int(spec.limits.warps * kWarpSize);
    case cudaDevAttrMaxBlocksPerMultiprocessor: return to_int(spec.limits.blocks);
    case cudaDevAttrComputeCapabilityMajor: return spec.sm_number / 10;
    case cudaDevAttrComputeCapabilityMinor: return spec.sm_number % 10;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return precision_ratio(spec);
    case cudaDevAttrPciBusId: return facts.device;
    case cudaDevAttrMaxPersistingL2CacheSize:
      return static_cast<int>(spec.cuda.persisting_share * static_cast<double>(spec.l2.bytes));
    case cudaDevAttrMaxAccessPolicyWindowSize: return to_int(spec.cuda.policy_window);
    case cudaDevAttrAsyncEngineCount: return to_int(spec.cuda.copy_engines);
    case cudaDevAttrMemSyncDomainCount: return to_int(spec.cuda.sync_domains);
    case cudaDevAttrClusterLaunch: return spec.cuda.largest_cluster != 0 ? 1 : 0;
    default: break;
  }
  if (const auto limit = texture_limit(attribute)) return limit;
  return feature(attribute);
}

std::string bus_id(int device) { return fmt::format("0000:{:02x}:00.0", device); }

namespace {

void set_largest_images(cudaDeviceProp& p, const DeviceFacts& facts) {
  const auto get = [&](cudaDeviceAttr attribute) { return device_attribute(facts, attribute).value_or(0); };
  p.maxTexture1D = get(cudaDevAttrMaxTexture1DWidth);
  p.maxTexture1DMipmap = get(cudaDevAttrMaxTexture1DMipmappedWidth);
  p.maxTexture2D[0] = get(cudaDevAttrMaxTexture2DWidth);
  p.maxTexture2D[1] = get(cudaDevAttrMaxTexture2DHeight);
  p.maxTexture2DMipmap[0] = get(cudaDevAttrMaxTexture2DMipmappedWidth);
  p.maxTexture2DMipmap[1] = get(cudaDevAttrMaxTexture2DMipmappedHeight);
  p.maxTexture2DLinear[0] = get(cudaDevAttrMaxTexture2DLinearWidth);
  p.maxTexture2DLinear[1] = get(cudaDevAttrMaxTexture2DLinearHeight);
  p.maxTexture2DLinear[2] = get(cudaDevAttrMaxTexture2DLinearPitch);
  p.maxTexture2DGather[0] = get(cudaDevAttrMaxTexture2DGatherWidth);
  p.maxTexture2DGather[1] = get(cudaDevAttrMaxTexture2DGatherHeight);
  p.maxTexture3D[0] = get(cudaDevAttrMaxTexture3DWidth);
  p.maxTexture3D[1] = get(cudaDevAttrMaxTexture3DHeight);
  p.maxTexture3D[2] = get(cudaDevAttrMaxTexture3DDepth);
  p.maxTexture3DAlt[0] = get(cudaDevAttrMaxTexture3DWidthAlt);
  p.maxTexture3DAlt[1] = get(cudaDevAttrMaxTexture3DHeightAlt);
  p.maxTexture3DAlt[2] = get(cudaDevAttrMaxTexture3DDepthAlt);
  p.maxTextureCubemap = get(cudaDevAttrMaxTextureCubemapWidth);
  p.maxTexture1DLayered[0] = get(cudaDevAttrMaxTexture1DLayeredWidth);
  p.maxTexture1DLayered[1] = get(cudaDevAttrMaxTexture1DLayeredLayers);
  p.maxTexture2DLayered[0] = get(cudaDevAttrMaxTexture2DLayeredWidth);
  p.maxTexture2DLayered[1] = get(cudaDevAttrMaxTexture2DLayeredHeight);
  p.maxTexture2DLayered[2] = get(cudaDevAttrMaxTexture2DLayeredLayers);
  p.maxTextureCubemapLayered[0] = get(cudaDevAttrMaxTextureCubemapLayeredWidth);
  p.maxTextureCubemapLayered[1] = get(cudaDevAttrMaxTextureCubemapLayeredLayers);
  p.maxSurface1D = get(cudaDevAttrMaxSurface1DWidth);
  p.maxSurface2D[0] = get(cudaDevAttrMaxSurface2DWidth);
  p.maxSurface2D[1] = get(cudaDevAttrMaxSurface2DHeight);
  p.maxSurface3D[0] = get(cudaDevAttrMaxSurface3DWidth);
  p.maxSurface3D[1] = get(cudaDevAttrMaxSurface3DHeight);
  p.maxSurface3D[2] = get(cudaDevAttrMaxSurface3DDepth);
  p.maxSurface1DLayered[0] = get(cudaDevAttrMaxSurface1DLayeredWidth);
  p.maxSurface1DLayered[1] = get(cudaDevAttrMaxSurface1DLayeredLayers);
  p.maxSurface2DLayered[0] = get(cudaDevAttrMaxSurface2DLayeredWidth);
  p.maxSurface2DLayered[1] = get(cudaDevAttrMaxSurface2DLayeredHeight);
  p.maxSurface2DLayered[2] = get(cudaDevAttrMaxSurface2DLayeredLayers);
  p.maxSurfaceCubemap = get(cudaDevAttrMaxSurfaceCubemapWidth);
  p.maxSurfaceCubemapLayered[0] = get(cudaDevAttrMaxSurfaceCubemapLayeredWidth);
  p.maxSurfaceCubemapLayered[1] = get(cudaDevAttrMaxSurfaceCubemapLayeredLayers);
}

}  // namespace

cudaDeviceProp device_properties(const DeviceFacts& facts) {
  cudaDeviceProp p;
  std::memset(&p, 0, sizeof p);
  const auto get = [&](cudaDeviceAttr attribute) { return device_attribute(facts, attribute).value_or(0); };
  const auto size = [&](cudaDeviceAttr attribute) { return static_cast<std::size_t>(get(attribute)); };
  facts.title.copy(p.name, sizeof p.name - 1);
  const std::size_t hash = std::hash<std::string>{}(facts.title);
  std::memcpy(p.uuid.bytes, &hash, sizeof hash);
  std::memcpy(p.uuid.bytes + sizeof hash, &facts.device, sizeof facts.device);
  p.pciBusID = facts.device;
  p.totalGlobalMem = facts.memory_bytes;
  p.sharedMemPerBlock = size(cudaDevAttrMaxSharedMemoryPerBlock);
  p.regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = get(cudaDevAttrWarpSize);
  p.memPitch = size(cudaDevAttrMaxPitch);
  p.maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = get(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = get(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = get(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = get(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = get(cudaDevAttrMaxGridDimZ);
  p.totalConstMem = size(cudaDevAttrTotalConstantMemory);
  p.major = get(cudaDevAttrComputeCapabilityMajor);
  p.minor = get(cudaDevAttrComputeCapabilityMinor);
  p.textureAlignment = size(cudaDevAttrTextureAlignment);
  p.texturePitchAlignment = size(cudaDevAttrTexturePitchAlignment);
  p.surfaceAlignment = size(cudaDevAttrSurfaceAlignment);
  p.multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
  p.canMapHostMemory = get(cudaDevAttrCanMapHostMemory);
  set_largest_images(p, facts);
  p.concurrentKernels = get(cudaDevAttrConcurrentKernels);
  p.asyncEngineCount = get(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = get(cudaDevAttrL2CacheSize);
  p.maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = get(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor = size(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p.regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = get(cudaDevAttrManagedMemory);
  p.concurrentManagedAccess = get(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = get(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem = get(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = get(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = size(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p.maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.reservedSharedMemPerBlock = size(cudaDevAttrReservedSharedMemoryPerBlock);
  p.hostRegisterReadOnlySupported = get(cudaDevAttrHostRegisterReadOnlySupported);
  p.hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
  p.memoryPoolsSupported = get(cudaDevAttrMemoryPoolsSupported);
  p.clusterLaunch = get(cudaDevAttrClusterLaunch);
  p.persistingL2CacheMaxSize = get(cudaDevAttrMaxPersistingL2CacheSize);
  p.accessPolicyMaxWindowSize = get(cudaDevAttrMaxAccessPolicyWindowSize);
  p.hostNumaId = get(cudaDevAttrHostNumaId);
  p.deviceNumaId = get(cudaDevAttrNumaId);
  return p;
}

}  // namespace foretrace::runtime
