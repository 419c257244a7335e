// Batches: copies, prefetches and discards of which one call asks for many.
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

// The runtime's structures have the driver's form.
static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == sizeof(cudaMemcpy3DBatchOp));
static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));

void** pointers(CUdeviceptr* addresses) { return reinterpret_cast<void**>(addresses); }
cudaMemLocation* locations(CUmemLocation* places) { return reinterpret_cast<cudaMemLocation*>(places); }

/// Which copy of a batch was refused is not told.
void none(size_t* failed) {
  if (failed != nullptr) *failed = SIZE_MAX;
}

}  // namespace

FORETRACE_API CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                                             CUmemcpyAttributes* attributes, size_t* indices, size_t kinds,
                                             CUstream stream) {
  return in_context([&] {
    return cudaMemcpyBatchAsync(pointers(to), const_cast<const void**>(pointers(from)), sizes, count,
                                reinterpret_cast<cudaMemcpyAttributes*>(attributes), indices, kinds, stream);
  });
}
FORETRACE_API CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                                          CUmemcpyAttributes* attributes, size_t* indices, size_t kinds,
                                          size_t* failed, CUstream stream) {
  none(failed);
  return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, kinds, stream);
}
FORETRACE_API CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                               unsigned long long flags, CUstream stream) {
  return in_context([&] {
    return cudaMemcpy3DBatchAsync(count, reinterpret_cast<cudaMemcpy3DBatchOp*>(operations), flags, stream);
  });
}
FORETRACE_API CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed,
                                            unsigned long long flags, CUstream stream) {
  none(failed);
  return cuMemcpy3DBatchAsync_v2(count, operations, flags, stream);
}
FORETRACE_API CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                               CUmemLocation* places, size_t* indices, size_t kinds,
                                               unsigned long long flags, CUstream stream) {
  return in_context([&] {
    return cudaMemPrefetchBatchAsync(pointers(addresses), sizes, count, locations(places), indices, kinds,
                                     flags, stream);
  });
}
FORETRACE_API CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                              unsigned long long flags, CUstream stream) {
  return in_context(
      [&] { return cudaMemDiscardBatchAsync(pointers(addresses), sizes, count, flags, stream); });
}
FORETRACE_API CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                                         CUmemLocation* places, size_t* indices, size_t kinds,
                                                         unsigned long long flags, CUstream stream) {
  return in_context([&] {
    return cudaMemDiscardAndPrefetchBatchAsync(pointers(addresses), sizes, count, locations(places), indices,
                                               kinds, flags, stream);
  });
}

// The per-thread default stream's variants.
FORETRACE_API CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes,
                                                  size_t count, CUmemcpyAttributes* attributes,
                                                  size_t* indices, size_t kinds, CUstream stream) {
  return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, kinds, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes,
                                               size_t count, CUmemcpyAttributes* attributes, size_t* indices,
                                               size_t kinds, size_t* failed, CUstream stream) {
  return cuMemcpyBatchAsync(to, from, sizes, count, attributes, indices, kinds, failed, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                                    unsigned long long flags, CUstream stream) {
  return cuMemcpy3DBatchAsync_v2(count, operations, flags, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                                 size_t* failed, unsigned long long flags, CUstream stream) {
  return cuMemcpy3DBatchAsync(count, operations, failed, flags, per_thread(stream));
}
FORETRACE_API CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                                    CUmemLocation* places, size_t* indices, size_t kinds,
                                                    unsigned long long flags, CUstream stream) {
  return cuMemPrefetchBatchAsync(addresses, sizes, count, places, indices, kinds, flags, per_thread(stream));
}
FORETRACE_API CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                                   unsigned long long flags, CUstream stream) {
  return cuMemDiscardBatchAsync(addresses, sizes, count, flags, per_thread(stream));
}
FORETRACE_API CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, size_t* sizes,
                                                              size_t count, CUmemLocation* places,
                                                              size_t* indices, size_t kinds,
                                                              unsigned long long flags, CUstream stream) {
  return cuMemDiscardAndPrefetchBatchAsync(addresses, sizes, count, places, indices, kinds, flags,
                                           per_thread(stream));
}
