#include "check.h"

static unsigned char from[4096], to[4096];

static long sum(void) {
  long total = 0;
  for (size_t i = 0; i < sizeof to; ++i) total += to[i];
  return total;
}
#define READ() \
  (memset(to, 0, sizeof to), T(cuCtxSynchronize()), T(cuMemcpyDtoH_v2(to, p, 4096)), NUMBER(sum()))

static void check_boxes(CUdeviceptr p, CUdeviceptr q) {
  CUDA_MEMCPY2D flat;
  CUDA_MEMCPY3D deep;
  CUDA_MEMCPY3D_PEER peer;
  memset(&flat, 0, sizeof flat);
  flat.srcMemoryType = CU_MEMORYTYPE_HOST;
  flat.srcHost = from;
  flat.srcPitch = 64;
  flat.srcXInBytes = 8;
  flat.srcY = 1;
  flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.dstDevice = p;
  flat.dstPitch = 128;
  flat.dstXInBytes = 4;
  flat.WidthInBytes = 32;
  flat.Height = 10;
  T(cuMemsetD8_v2(p, 0, 4096));
  PTDS(cuMemcpy2D_v2, &flat);
  READ();
  PTDS(cuMemcpy2DUnaligned_v2, &flat);
  PTSZ(cuMemcpy2DAsync_v2, &flat, CU_STREAM_PER_THREAD);
  READ();
  flat.WidthInBytes = 200;
  T(cuMemcpy2D_v2(&flat));
  memset(&deep, 0, sizeof deep);
  deep.srcMemoryType = CU_MEMORYTYPE_HOST;
  deep.srcHost = from;
  deep.srcPitch = 32;
  deep.srcHeight = 8;
  deep.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  deep.dstDevice = p;
  deep.dstPitch = 64;
  deep.dstHeight = 4;
  deep.dstZ = 1;
  deep.WidthInBytes = 16;
  deep.Height = 3;
  deep.Depth = 4;
  T(cuMemsetD8_v2(p, 0, 4096));
  PTDS(cuMemcpy3D_v2, &deep);
  PTSZ(cuMemcpy3DAsync_v2, &deep, CU_STREAM_PER_THREAD);
  READ();
  memset(&peer, 0, sizeof peer);
  T(cuCtxGetCurrent(&peer.srcContext));
  peer.dstContext = peer.srcContext;
  peer.srcMemoryType = peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  peer.srcDevice = q;
  peer.dstDevice = p;
  peer.srcPitch = peer.dstPitch = 64;
  peer.srcHeight = peer.dstHeight = 4;
  peer.WidthInBytes = 64;
  peer.Height = 4;
  peer.Depth = 2;
  PTDS(cuMemcpy3DPeer, &peer);
  PTSZ(cuMemcpy3DPeerAsync, &peer, CU_STREAM_PER_THREAD);
  READ();
}

static void check_fills(CUdeviceptr p) {
  PTDS(cuMemsetD8_v2, p, 3, 4096);
  READ();
  PTDS(cuMemsetD16_v2, p, 0x0102, 1000);
  READ();
  PTDS(cuMemsetD32_v2, p, 0x01020304, 500);
  READ();
  PTDS(cuMemsetD2D8_v2, p, 64, 9, 10, 20);
  READ();
  PTDS(cuMemsetD2D16_v2, p, 64, 0x0201, 5, 20);
  READ();
  PTDS(cuMemsetD2D32_v2, p, 64, 0x04030201, 5, 20);
  READ();
  PTSZ(cuMemsetD8Async, p, 1, 4096, CU_STREAM_PER_THREAD);
  PTSZ(cuMemsetD16Async, p, 2, 100, CU_STREAM_PER_THREAD);
  PTSZ(cuMemsetD32Async, p, 3, 20, CU_STREAM_PER_THREAD);
  READ();
  PTSZ(cuMemsetD2D8Async, p, 64, 4, 10, 20, CU_STREAM_PER_THREAD);
  PTSZ(cuMemsetD2D16Async, p, 64, 5, 10, 20, CU_STREAM_PER_THREAD);
  PTSZ(cuMemsetD2D32Async, p, 64, 6, 2, 20, CU_STREAM_PER_THREAD);
  READ();
  T(cuMemsetD16_v2(p + 1, 1, 4));
  T(cuMemsetD32_v2(p + 2, 1, 4));
  T(cuMemsetD8_v2(16, 1, 4));
}

void check_copies(void) {
  CUdeviceptr p = 0, q = 0;
  CUcontext context = NULL;
  size_t sizes[2] = {100, 200}, index = 0;
  CUdeviceptr targets[2], sources[2];
  CUmemcpyAttributes how;
  for (size_t i = 0; i < sizeof from; ++i) from[i] = (unsigned char)(i * 7 + 1);
  T(cuCtxGetCurrent(&context));
  T(cuMemAlloc_v2(&p, 4096));
  T(cuMemAlloc_v2(&q, 4096));
  PTDS(cuMemcpyHtoD_v2, p, from, 4096);
  READ();
  PTDS(cuMemcpyDtoD_v2, q, p, 4096);
  T(cuMemsetD8_v2(p, 0, 4096));
  PTDS(cuMemcpyDtoH_v2, to, q, 4096);
  NUMBER(sum());
  PTDS(cuMemcpy, p, q, 2048);
  READ();
  PTSZ(cuMemcpyAsync, p, q, 4096, CU_STREAM_PER_THREAD);
  PTSZ(cuMemcpyHtoDAsync_v2, p, from + 1, 2048, CU_STREAM_PER_THREAD);
  READ();
  PTSZ(cuMemcpyDtoDAsync_v2, p, q, 1024, CU_STREAM_PER_THREAD);
  PTSZ(cuMemcpyDtoHAsync_v2, to, p, 1024, CU_STREAM_PER_THREAD);
  READ();
  PTDS(cuMemcpyPeer, p, context, q, context, 4096);
  PTSZ(cuMemcpyPeerAsync, p, context, q, context, 4096, CU_STREAM_PER_THREAD);
  READ();
  T(cuMemcpyHtoD_v2(0, from, 16));
  T(cuMemcpyHtoD_v2(p, NULL, 16));
  T(cuMemcpyHtoD_v2(p, from, 0));
  T(cuMemcpyDtoH_v2(to, 16, 16));
  T(cuMemcpyHtoD_v2((CUdeviceptr)(size_t)to, from, 16));
  memset(&how, 0, sizeof how);
  how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  targets[0] = p;
  targets[1] = p + 1000;
  sources[0] = q + 5;
  sources[1] = q + 6;
  PTSZ(cuMemcpyBatchAsync_v2, targets, sources, sizes, 2, &how, &index, 1, CU_STREAM_PER_THREAD);
  READ();
  check_boxes(p, q);
  check_fills(p);
  T(cuMemFree_v2(p));
  T(cuMemFree_v2(q));
}
