// Green contexts: contexts with a part of a device's SMs.
//
// Models:  the rules of cuda.h ("Green Contexts"): parts are made of whole units of SMs, as many as were asked for and fit. Codes, and what a
//          description takes, are an H200's. Kernels in a green context's streams run as on a chip of its SMs (sm_part.h).
// Ignores: which SMs they are: that two contexts have different ones only shows in what they are told. A wait of a context holds for the
//          streams that it has.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/runtime/device/sm_part.h"
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

/// What stands in the part of a CUdevResource that is not the program's.
struct Origin {
  SmPart part;              ///< the SMs
  std::uint64_t split = 0;  ///< the call of cuDevSmResourceSplitByCount that it comes from; 0: none
  unsigned index = 0;       ///< in its results
  int device = 0;
};
static_assert(sizeof(Origin) <= sizeof(CUdevResource::_internal_padding));

Origin origin_of(const CUdevResource& resource) {
  Origin origin;
  std::memcpy(&origin, resource._internal_padding, sizeof origin);
  return origin;
}

CUdevResource resource_of(const Origin& origin, std::uint32_t sms, SmUnits units) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm = {sms, units.least, units.together};
  std::memcpy(resource._internal_padding, &origin, sizeof origin);
  return resource;
}

/// All SMs of a context or, where the part is whole, of the device.
CUresult give(CUdevResource* resource, CUdevResourceType type, const SmPart& part, int device) {
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  const spec::GpuSpec& chip = *state().spec;
  *resource = resource_of({part, 0, 0, device}, part.of(chip), part.units(chip));
  return CUDA_SUCCESS;
}

CUresult give(CUdevResource* resource, CUdevResourceType type, const Context* context) {
  return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT
                            : give(resource, type, context->part, context->device);
}

constexpr unsigned kSingle = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING,
                   kLargeClusters = CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
constexpr std::uint32_t kLargeTogether = 16;  // SMs of one GPC where large clusters are asked for

/// The parts of one split, and what is left of `all` SMs. Results say no units, as an H200's do.
struct Split {
  std::uint32_t all, size, together, possible;

  Split(const CUdevResource& input, unsigned flags, unsigned least) : all(input.sm.smCount) {
    const spec::GpuSpec& chip = *state().spec;
    const SmUnits units = sm_units(chip, (flags & kSingle) != 0);
    size =
        std::min((std::max(least, units.least) + units.together - 1) / units.together * units.together, all);
    together = (flags & kLargeClusters) != 0 && size >= kLargeTogether ? kLargeTogether : units.together;
    possible = parts_of(chip, all, size, units);
  }
  CUdevResource part(Origin origin, unsigned index) const {
    origin.part = {size, together, 0};
    origin.index = index;
    return resource_of(origin, size, {0, 0});
  }
  CUdevResource rest(Origin origin, unsigned parts) const {
    const std::uint32_t left = all - parts * size;
    if (left == 0) return {};
    origin.part = {left, 0, all - left};
    origin.index = parts;
    return resource_of(origin, left, {0, 0});
  }
};

}  // namespace

FORETRACE_API CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource,
                                              CUdevResourceType type) {
  return started(
      [&] { return is_device(device) ? give(resource, type, {}, device) : CUDA_ERROR_INVALID_DEVICE; });
}
FORETRACE_API CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource* resource,
                                           CUdevResourceType type) {
  return started([&] { return give(resource, type, context_of(handle)); });
}
FORETRACE_API CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource,
                                                CUdevResourceType type) {
  return started([&] { return give(resource, type, green_context_of(handle)); });
}

FORETRACE_API CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* groups,
                                                   const CUdevResource* input, CUdevResource* remaining,
                                                   unsigned flags, unsigned least) {
  return started([&] {
    if (groups == nullptr || input == nullptr || (result != nullptr && *groups == 0) ||
        ((flags & kSingle) != 0 && (flags & kLargeClusters) != 0))
      return CUDA_ERROR_INVALID_VALUE;
    if (input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    Origin origin = origin_of(*input);
    if (origin.split != 0 || least > input->sm.smCount) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const Split split(*input, flags, least);
    *groups = result == nullptr ? split.possible : std::min(*groups, split.possible);
    origin.split = ++contexts().splits;
    for (unsigned i = 0; result != nullptr && i < *groups; ++i) result[i] = split.part(origin, i);
    if (remaining != nullptr) *remaining = split.rest(origin, *groups);
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources,
                                                 unsigned count) {
  return started([&] {
    if (description == nullptr || resources == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    SmDescription made{origin_of(resources[0]).device, {}};
    std::set<std::pair<std::uint64_t, unsigned>> known;  // an H200 takes one twice, and of several splits
    for (unsigned i = 0; i < count; ++i) {
      if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
      const Origin origin = origin_of(resources[i]);
      if (origin.device != made.device) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
      if (!known.insert({origin.split, origin.index}).second) continue;
      const std::uint32_t sms = made.part.sms + resources[i].sm.smCount;
      if (made.part.whole() || origin.part.together == 0) made.part = origin.part;
      made.part.sms = sms;
    }
    contexts().descriptions.push_back(std::make_unique<SmDescription>(made));
    *description = reinterpret_cast<CUdevResourceDesc>(contexts().descriptions.back().get());
    return CUDA_SUCCESS;
  });
}

namespace {

/// The SMs of a description: without one, as an H200 does, those of the whole device. Empty: it is none.
std::optional<SmPart> described(CUdevResourceDesc handle, int device) {
  const spec::GpuSpec& chip = *state().spec;
  if (handle == nullptr) return SmPart{chip.sm.count, 0, 0};
  for (const auto& known : contexts().descriptions) {
    if (known.get() == reinterpret_cast<SmDescription*>(handle) && known->device == device)
      return known->part.whole() ? SmPart{chip.sm.count, 0, 0} : known->part;
  }
  return std::nullopt;
}

}  // namespace

FORETRACE_API CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc description, CUdevice device,
                                        unsigned flags) {
  return started([&] {
    if (handle == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    const std::optional<SmPart> part = described(description, device);
    if (!part) return CUDA_ERROR_INVALID_VALUE;
    Contexts& all = contexts();
    PrimaryContext& primary = all.primary[static_cast<std::size_t>(device)];
    ++primary.greens;
    all.made.push_back(
        std::make_unique<Context>(Context{++all.last_id, primary.context.flags, device, 1, *part}));
    *handle = reinterpret_cast<CUgreenCtx>(all.made.back().get());
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  return started([&] {
    Context* context = green_context_of(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    --contexts().primary[static_cast<std::size_t>(context->device)].greens;
    drop_context(context);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  return started([&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (green_context_of(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *context = reinterpret_cast<CUcontext>(handle);  // one context by two names
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* id) {
  return started([&] {
    const Context* context = handle == nullptr ? current_context() : green_context_of(handle);
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (context == nullptr || !context->green()) return CUDA_ERROR_INVALID_CONTEXT;
    *id = context->id;
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned flags,
                                              int priority) {
  return started([&] {
    Context* context = green_context_of(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    context_stack().push_back(context);
    const CUresult result = cuStreamCreateWithPriority(stream, flags, priority);
    context_stack().pop_back();
    return result;
  });
}
FORETRACE_API CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
  return with_state([&](State& s) {
    if (green == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Stream* stream = s.streams.find(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const Context* found = s.streams.is_default(*stream) ? current_context() : stream->green;
    *green = reinterpret_cast<CUgreenCtx>(green_context_of(found));
    return CUDA_SUCCESS;
  });
}

namespace {

/// The streams that were made in a green context; all of its device for another one.
cudaError_t streams_of(const Context& context, std::vector<cudaStream_t>& handles) {
  return call([&](State& s) {
    for (Stream* stream : s.streams.all()) {
      if (stream->device != context.device || (context.green() && stream->green != &context)) continue;
      if (stream->capture != nullptr) return cudaErrorStreamCaptureUnsupported;
      if (!s.streams.is_default(*stream)) handles.push_back(reinterpret_cast<cudaStream_t>(stream));
    }
    if (!context.green()) handles.insert(handles.end(), {cudaStreamLegacy, cudaStreamPerThread});
    return cudaSuccess;
  });
}

/// The event is recorded behind all that these streams were given: in one that waits for them.
cudaError_t record_behind(const std::vector<cudaStream_t>& streams, cudaEvent_t event) {
  cudaStream_t behind = nullptr;
  cudaError_t result = cudaStreamCreateWithFlags(&behind, cudaStreamNonBlocking);
  for (cudaStream_t stream : streams) {
    cudaEvent_t one = nullptr;
    if (result == cudaSuccess) result = cudaEventCreateWithFlags(&one, cudaEventDisableTiming);
    if (result == cudaSuccess) result = cudaEventRecord(one, stream);
    if (result == cudaSuccess) result = cudaStreamWaitEvent(behind, one, 0);
    if (one != nullptr) cudaEventDestroy(one);
  }
  if (result == cudaSuccess) result = cudaEventRecord(event, behind);
  if (behind != nullptr) cudaStreamDestroy(behind);
  return result;
}

CUresult with_streams(const Context* context, CUevent event, bool record) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return initialised([&] {
    std::vector<cudaStream_t> streams;
    cudaError_t result = streams_of(*context, streams);
    if (result == cudaSuccess && record) return record_behind(streams, event);
    for (cudaStream_t stream : streams) {
      if (result == cudaSuccess) result = cudaStreamWaitEvent(stream, event, 0);
    }
    return result;
  });
}

}  // namespace

FORETRACE_API CUresult cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event) {
  return started([&] { return with_streams(green_context_of(handle), event, true); });
}
FORETRACE_API CUresult cuGreenCtxWaitEvent(CUgreenCtx handle, CUevent event) {
  return started([&] { return with_streams(green_context_of(handle), event, false); });
}
FORETRACE_API CUresult cuCtxRecordEvent(CUcontext handle, CUevent event) {
  return started([&] { return with_streams(context_of(handle), event, true); });
}
FORETRACE_API CUresult cuCtxWaitEvent(CUcontext handle, CUevent event) {
  return started([&] { return with_streams(context_of(handle), event, false); });
}
