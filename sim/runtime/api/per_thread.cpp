// The per-thread default stream's variants: what nvcc --default-stream per-thread calls.
//
// Models:  stream 0 means cudaStreamPerThread. A synchronous copy or fill is one of that stream and waited for, which its executing at
//          once makes the same as that of the legacy stream.
#include <cuda_runtime_api.h>

#include "sim/runtime/api/api.h"

using namespace foretrace::runtime;

FORETRACE_API cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

FORETRACE_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                  void** arguments, size_t shared, cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared, per_thread(stream));
}
FORETRACE_API cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream,
                                                        unsigned flags) {
  return cudaEventRecordWithFlags(event, per_thread(stream), flags);
}
FORETRACE_API cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, per_thread(stream));
}
FORETRACE_API cudaError_t cudaFreeAsync_ptsz(void* devPtr, cudaStream_t hStream) {
  return cudaFreeAsync(devPtr, per_thread(hStream));
}
FORETRACE_API cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                              cudaGraphInstantiateParams* instantiateParams) {
  return cudaGraphInstantiateWithParams(pGraphExec, graph, instantiateParams);
}
FORETRACE_API cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return cudaGraphLaunch(graphExec, per_thread(stream));
}
FORETRACE_API cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return cudaGraphUpload(graphExec, per_thread(stream));
}
FORETRACE_API cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim,
                                                           void** args, size_t sharedMem,
                                                           cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem, per_thread(stream));
}
FORETRACE_API cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
  return cudaLaunchHostFunc(per_thread(stream), fn, userData);
}
FORETRACE_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* func,
                                                   void** args) {
  return cudaLaunchKernelExC(config, func, args);
}
FORETRACE_API cudaError_t cudaLaunchKernel_ptsz(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                                size_t sharedMem, cudaStream_t stream) {
  return cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMallocAsync_ptsz(void** devPtr, size_t size, cudaStream_t hStream) {
  return cudaMallocAsync(devPtr, size, per_thread(hStream));
}
FORETRACE_API cudaError_t cudaMallocFromPoolAsync_ptsz(void** ptr, size_t size, cudaMemPool_t memPool,
                                                       cudaStream_t stream) {
  return cudaMallocFromPoolAsync(ptr, size, memPool, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(
    void** dptrs, size_t* sizes, size_t count, cudaMemLocation* prefetchLocs, size_t* prefetchLocIdxs,
    size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream) {
  return cudaMemDiscardAndPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
                                             numPrefetchLocs, flags, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemDiscardBatchAsync_ptsz(void** dptrs, size_t* sizes, size_t count,
                                                        unsigned long long flags, cudaStream_t stream) {
  return cudaMemDiscardBatchAsync(dptrs, sizes, count, flags, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemPrefetchAsync_ptsz(const void* devPtr, size_t count,
                                                    cudaMemLocation location, unsigned flags,
                                                    cudaStream_t stream) {
  return cudaMemPrefetchAsync(devPtr, count, location, flags, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** dptrs, size_t* sizes, size_t count,
                                                         cudaMemLocation* prefetchLocs,
                                                         size_t* prefetchLocIdxs, size_t numPrefetchLocs,
                                                         unsigned long long flags, cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags,
                                   per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t numOps, cudaMemcpy3DBatchOp* opList,
                                                      unsigned long long flags, cudaStream_t stream) {
  return cudaMemcpy3DBatchAsync(numOps, opList, flags, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpy2DAsync_ptsz(void* dst, size_t dpitch, const void* src, size_t spitch,
                                                 size_t width, size_t height, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
  return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpy2D_ptds(void* dst, size_t dpitch, const void* src, size_t spitch,
                                            size_t width, size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(dst, dpitch, src, spitch, width, height, kind);
}
FORETRACE_API cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return cudaMemcpy3DAsync(p, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return cudaMemcpy3DPeerAsync(p, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* p) {
  return cudaMemcpy3DPeer(p);
}
FORETRACE_API cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* p) { return cudaMemcpy3D(p); }
FORETRACE_API cudaError_t cudaMemcpyAsync_ptsz(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                                               cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, count, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* dst, const void* symbol, size_t count,
                                                         size_t offset, cudaMemcpyKind kind,
                                                         cudaStream_t stream) {
  return cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpyFromSymbol_ptds(void* dst, const void* symbol, size_t count,
                                                    size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbol(dst, symbol, count, offset, kind);
}
FORETRACE_API cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* src, size_t count,
                                                       size_t offset, cudaMemcpyKind kind,
                                                       cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* src, size_t count,
                                                  size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyToSymbol(symbol, src, count, offset, kind);
}
FORETRACE_API cudaError_t cudaMemcpy_ptds(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return cudaMemcpy(dst, src, count, kind);
}
FORETRACE_API cudaError_t cudaMemset2DAsync_ptsz(void* devPtr, size_t pitch, int value, size_t width,
                                                 size_t height, cudaStream_t stream) {
  return cudaMemset2DAsync(devPtr, pitch, value, width, height, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemset2D_ptds(void* devPtr, size_t pitch, int value, size_t width,
                                            size_t height) {
  return cudaMemset2D(devPtr, pitch, value, width, height);
}
FORETRACE_API cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent,
                                                 cudaStream_t stream) {
  return cudaMemset3DAsync(pitchedDevPtr, value, extent, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemset3D_ptds(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent) {
  return cudaMemset3D(pitchedDevPtr, value, extent);
}
FORETRACE_API cudaError_t cudaMemsetAsync_ptsz(void* devPtr, int value, size_t count, cudaStream_t stream) {
  return cudaMemsetAsync(devPtr, value, count, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemset_ptds(void* devPtr, int value, size_t count) {
  return cudaMemset(devPtr, value, count);
}
FORETRACE_API cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                                     void* userData, unsigned flags) {
  return cudaStreamAddCallback(per_thread(stream), callback, userData, flags);
}
FORETRACE_API cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* devPtr, size_t length,
                                                        unsigned flags) {
  return cudaStreamAttachMemAsync(per_thread(stream), devPtr, length, flags);
}
FORETRACE_API cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                                             const cudaGraphNode_t* dependencies,
                                                             const cudaGraphEdgeData* dependencyData,
                                                             size_t numDependencies,
                                                             cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(per_thread(stream), graph, dependencies, dependencyData,
                                       numDependencies, mode);
}
FORETRACE_API cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(per_thread(stream), mode);
}
FORETRACE_API cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t dst, cudaStream_t src) {
  return cudaStreamCopyAttributes(per_thread(dst), per_thread(src));
}
FORETRACE_API cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* pGraph) {
  return cudaStreamEndCapture(per_thread(stream), pGraph);
}
FORETRACE_API cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t hStream, cudaStreamAttrID attr,
                                                      cudaStreamAttrValue* value_out) {
  return cudaStreamGetAttribute(per_thread(hStream), attr, value_out);
}
FORETRACE_API cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
                                                        cudaStreamCaptureStatus* captureStatus_out,
                                                        unsigned long long* id_out, cudaGraph_t* graph_out,
                                                        const cudaGraphNode_t** dependencies_out,
                                                        const cudaGraphEdgeData** edgeData_out,
                                                        size_t* numDependencies_out) {
  return cudaStreamGetCaptureInfo(per_thread(stream), captureStatus_out, id_out, graph_out, dependencies_out,
                                  edgeData_out, numDependencies_out);
}
FORETRACE_API cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t hStream, int* device) {
  return cudaStreamGetDevice(per_thread(hStream), device);
}
FORETRACE_API cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t hStream, unsigned* flags) {
  return cudaStreamGetFlags(per_thread(hStream), flags);
}
FORETRACE_API cudaError_t cudaStreamGetId_ptsz(cudaStream_t hStream, unsigned long long* streamId) {
  return cudaStreamGetId(per_thread(hStream), streamId);
}
FORETRACE_API cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t hStream, int* priority) {
  return cudaStreamGetPriority(per_thread(hStream), priority);
}
FORETRACE_API cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream,
                                                     cudaStreamCaptureStatus* pCaptureStatus) {
  return cudaStreamIsCapturing(per_thread(stream), pCaptureStatus);
}
FORETRACE_API cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) {
  return cudaStreamQuery(per_thread(stream));
}
FORETRACE_API cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t hStream, cudaStreamAttrID attr,
                                                      const cudaStreamAttrValue* value) {
  return cudaStreamSetAttribute(per_thread(hStream), attr, value);
}
FORETRACE_API cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(per_thread(stream));
}
FORETRACE_API cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                                   cudaGraphNode_t* dependencies,
                                                                   const cudaGraphEdgeData* dependencyData,
                                                                   size_t numDependencies, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), dependencies, dependencyData,
                                             numDependencies, flags);
}
FORETRACE_API cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return cudaStreamWaitEvent(per_thread(stream), event, flags);
}
FORETRACE_API cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* dsts, const void* const* srcs,
                                                    const size_t* sizes, size_t count,
                                                    cudaMemcpyAttributes* attrs, size_t* attrsIdxs,
                                                    size_t numAttrs, cudaStream_t stream) {
  return cudaMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, per_thread(stream));
}
