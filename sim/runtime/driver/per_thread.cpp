// The per-thread default stream's variants: stream 0 means CU_STREAM_PER_THREAD.
#include "sim/runtime/driver/driver.h"

using namespace foretrace::runtime;

FORETRACE_API CUresult cuEventRecord_ptsz(CUevent event, CUstream stream) {
  return cuEventRecord(event, per_thread(stream));
}
FORETRACE_API CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags) {
  return cuEventRecordWithFlags(event, per_thread(stream), flags);
}
FORETRACE_API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* ph_graph_exec, CUgraph graph,
                                                         CUDA_GRAPH_INSTANTIATE_PARAMS* instantiate_params) {
  return cuGraphInstantiateWithParams(ph_graph_exec, graph, instantiate_params);
}
FORETRACE_API CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphLaunch(exec, per_thread(stream));
}
FORETRACE_API CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphUpload(exec, per_thread(stream));
}
FORETRACE_API CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int grid_dim_x,
                                                      unsigned int grid_dim_y, unsigned int grid_dim_z,
                                                      unsigned int block_dim_x, unsigned int block_dim_y,
                                                      unsigned int block_dim_z, unsigned int shared_mem_bytes,
                                                      CUstream stream, void** kernel_params) {
  return cuLaunchCooperativeKernel(function, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y,
                                   block_dim_z, shared_mem_bytes, per_thread(stream), kernel_params);
}
FORETRACE_API CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void* data) {
  return cuLaunchHostFunc(per_thread(stream), function, data);
}
FORETRACE_API CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_dim_x,
                                           unsigned int grid_dim_y, unsigned int grid_dim_z,
                                           unsigned int block_dim_x, unsigned int block_dim_y,
                                           unsigned int block_dim_z, unsigned int shared_mem_bytes,
                                           CUstream stream, void** kernel_params, void** extra) {
  return cuLaunchKernel(function, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z,
                        shared_mem_bytes, per_thread(stream), kernel_params, extra);
}
FORETRACE_API CUresult cuMemAllocAsync_ptsz(CUdeviceptr* where, size_t bytesize, CUstream stream) {
  return cuMemAllocAsync(where, bytesize, per_thread(stream));
}
FORETRACE_API CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* where, size_t bytesize, CUmemoryPool pool,
                                                    CUstream stream) {
  return cuMemAllocFromPoolAsync(where, bytesize, pool, per_thread(stream));
}
FORETRACE_API CUresult cuMemFreeAsync_ptsz(CUdeviceptr where, CUstream stream) {
  return cuMemFreeAsync(where, per_thread(stream));
}
FORETRACE_API CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr where, size_t count, CUmemLocation_v1 location,
                                                  unsigned int flags, CUstream stream) {
  return cuMemPrefetchAsync_v2(where, count, location, flags, per_thread(stream));
}
FORETRACE_API CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr where, size_t count, CUdevice to,
                                               CUstream stream) {
  return cuMemPrefetchAsync(where, count, to, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D_v2* box, CUstream stream) {
  return cuMemcpy2DAsync_v2(box, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D_v2* box, CUstream stream) {
  return cuMemcpy3DAsync_v2(box, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER_v1* box, CUstream stream) {
  return cuMemcpy3DPeerAsync(box, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream) {
  return cuMemcpyAsync(dst, src, size, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size,
                                                 CUstream stream) {
  return cuMemcpyDtoDAsync_v2(to, from, size, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyDtoHAsync_v2_ptsz(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return cuMemcpyDtoHAsync_v2(to, from, size, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void* from, size_t size,
                                                 CUstream stream) {
  return cuMemcpyHtoDAsync_v2(to, from, size, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext dst_context, CUdeviceptr from,
                                              CUcontext src_context, size_t size, CUstream stream) {
  return cuMemcpyPeerAsync(to, dst_context, from, src_context, size, per_thread(stream));
}
FORETRACE_API CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, size_t count,
                                             CUstream stream) {
  return cuMemsetD16Async(to, value, count, per_thread(stream));
}
FORETRACE_API CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch, unsigned short value,
                                               size_t width, size_t height, CUstream stream) {
  return cuMemsetD2D16Async(to, pitch, value, width, height, per_thread(stream));
}
FORETRACE_API CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                                               size_t height, CUstream stream) {
  return cuMemsetD2D32Async(to, pitch, value, width, height, per_thread(stream));
}
FORETRACE_API CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                              size_t height, CUstream stream) {
  return cuMemsetD2D8Async(to, pitch, value, width, height, per_thread(stream));
}
FORETRACE_API CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned int value, size_t count,
                                             CUstream stream) {
  return cuMemsetD32Async(to, value, count, per_thread(stream));
}
FORETRACE_API CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count,
                                            CUstream stream) {
  return cuMemsetD8Async(to, value, count, per_thread(stream));
}
FORETRACE_API CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void* data,
                                                unsigned int flags) {
  return cuStreamAddCallback(per_thread(stream), callback, data, flags);
}
FORETRACE_API CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr where, size_t length,
                                                   unsigned int flags) {
  return cuStreamAttachMemAsync(per_thread(stream), where, length, flags);
}
FORETRACE_API CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count,
                                                  CUstreamBatchMemOpParams* param_array, unsigned int flags) {
  return cuStreamBatchMemOp_v2(per_thread(stream), count, param_array, flags);
}
FORETRACE_API CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count,
                                               CUstreamBatchMemOpParams_v1* param_array, unsigned int flags) {
  return cuStreamBatchMemOp(per_thread(stream), count, param_array, flags);
}
FORETRACE_API CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  return cuStreamBeginCapture_v2(per_thread(stream), mode);
}
FORETRACE_API CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                                        const CUgraphNode* dependencies,
                                                        const CUgraphEdgeData* dependency_data,
                                                        size_t num_dependencies, CUstreamCaptureMode mode) {
  return cuStreamBeginCaptureToGraph(per_thread(stream), graph, dependencies, dependency_data,
                                     num_dependencies, mode);
}
FORETRACE_API CUresult cuStreamCopyAttributes_ptsz(CUstream dst, CUstream src) {
  return cuStreamCopyAttributes(dst, src);
}
FORETRACE_API CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* ph_graph) {
  return cuStreamEndCapture(per_thread(stream), ph_graph);
}
FORETRACE_API CUresult cuStreamGetAttribute_ptsz(CUstream stream, CUstreamAttrID attr,
                                                 CUstreamAttrValue_v1* value_out) {
  return cuStreamGetAttribute(per_thread(stream), attr, value_out);
}
FORETRACE_API CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream,
                                                      CUstreamCaptureStatus* capture_status_out,
                                                      cuuint64_t* id_out, CUgraph* graph_out,
                                                      const CUgraphNode** dependencies_out,
                                                      size_t* num_dependencies_out) {
  return cuStreamGetCaptureInfo_v2(per_thread(stream), capture_status_out, id_out, graph_out,
                                   dependencies_out, num_dependencies_out);
}
FORETRACE_API CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream,
                                                      CUstreamCaptureStatus* capture_status_out,
                                                      cuuint64_t* id_out, CUgraph* graph_out,
                                                      const CUgraphNode** dependencies_out,
                                                      const CUgraphEdgeData** edge_data_out,
                                                      size_t* num_dependencies_out) {
  return cuStreamGetCaptureInfo_v3(per_thread(stream), capture_status_out, id_out, graph_out,
                                   dependencies_out, edge_data_out, num_dependencies_out);
}
FORETRACE_API CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext* pctx, CUgreenCtx* p_green_ctx) {
  return cuStreamGetCtx_v2(per_thread(stream), pctx, p_green_ctx);
}
FORETRACE_API CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext* pctx) {
  return cuStreamGetCtx(per_thread(stream), pctx);
}
FORETRACE_API CUresult cuStreamGetDevice_ptsz(CUstream stream, CUdevice* device) {
  return cuStreamGetDevice(per_thread(stream), device);
}
FORETRACE_API CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int* flags) {
  return cuStreamGetFlags(per_thread(stream), flags);
}
FORETRACE_API CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long* stream_id) {
  return cuStreamGetId(per_thread(stream), stream_id);
}
FORETRACE_API CUresult cuStreamGetPriority_ptsz(CUstream stream, int* priority) {
  return cuStreamGetPriority(per_thread(stream), priority);
}
FORETRACE_API CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus* capture_status) {
  return cuStreamIsCapturing(per_thread(stream), capture_status);
}
FORETRACE_API CUresult cuStreamQuery_ptsz(CUstream stream) { return cuStreamQuery(per_thread(stream)); }
FORETRACE_API CUresult cuStreamSetAttribute_ptsz(CUstream stream, CUstreamAttrID attr,
                                                 const CUstreamAttrValue_v1* value) {
  return cuStreamSetAttribute(per_thread(stream), attr, value);
}
FORETRACE_API CUresult cuStreamSynchronize_ptsz(CUstream stream) {
  return cuStreamSynchronize(per_thread(stream));
}
FORETRACE_API CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode* dependencies,
                                                                 const CUgraphEdgeData* dependency_data,
                                                                 size_t num_dependencies,
                                                                 unsigned int flags) {
  return cuStreamUpdateCaptureDependencies_v2(per_thread(stream), dependencies, dependency_data,
                                              num_dependencies, flags);
}
FORETRACE_API CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags) {
  return cuStreamWaitEvent(per_thread(stream), event, flags);
}
FORETRACE_API CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr where, cuuint32_t value,
                                                   unsigned int flags) {
  return cuStreamWaitValue32_v2(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr where, cuuint32_t value,
                                                unsigned int flags) {
  return cuStreamWaitValue32(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr where, cuuint64_t value,
                                                   unsigned int flags) {
  return cuStreamWaitValue64_v2(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr where, cuuint64_t value,
                                                unsigned int flags) {
  return cuStreamWaitValue64(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr where, cuuint32_t value,
                                                    unsigned int flags) {
  return cuStreamWriteValue32_v2(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr where, cuuint32_t value,
                                                 unsigned int flags) {
  return cuStreamWriteValue32(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr where, cuuint64_t value,
                                                    unsigned int flags) {
  return cuStreamWriteValue64_v2(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr where, cuuint64_t value,
                                                 unsigned int flags) {
  return cuStreamWriteValue64(per_thread(stream), where, value, flags);
}
FORETRACE_API CUresult cuStreamBeginCapture_ptsz(CUstream stream) {
  return cuStreamBeginCapture(per_thread(stream));
}
FORETRACE_API CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus* status,
                                                   cuuint64_t* id) {
  return cuStreamGetCaptureInfo(per_thread(stream), status, id);
}
FORETRACE_API CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode* dependencies,
                                                              size_t count, unsigned int flags) {
  return cuStreamUpdateCaptureDependencies(per_thread(stream), dependencies, count, flags);
}
FORETRACE_API CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray array, size_t offset, const void* src, size_t size,
                                                 CUstream stream) {
  return cuMemcpyHtoAAsync_v2(array, offset, src, size, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyAtoHAsync_v2_ptsz(void* dst, CUarray array, size_t offset, size_t size,
                                                 CUstream stream) {
  return cuMemcpyAtoHAsync_v2(dst, array, offset, size, per_thread(stream));
}
FORETRACE_API CUresult cuMemcpyHtoA_v2_ptds(CUarray array, size_t offset, const void* src, size_t size) {
  return cuMemcpyHtoA_v2(array, offset, src, size);
}
FORETRACE_API CUresult cuMemcpyAtoH_v2_ptds(void* dst, CUarray array, size_t offset, size_t size) {
  return cuMemcpyAtoH_v2(dst, array, offset, size);
}
FORETRACE_API CUresult cuMemcpyDtoA_v2_ptds(CUarray array, size_t offset, CUdeviceptr src, size_t size) {
  return cuMemcpyDtoA_v2(array, offset, src, size);
}
FORETRACE_API CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dst, CUarray array, size_t offset, size_t size) {
  return cuMemcpyAtoD_v2(dst, array, offset, size);
}
FORETRACE_API CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                                            size_t size) {
  return cuMemcpyAtoA_v2(dst, dst_offset, src, src_offset, size);
}
