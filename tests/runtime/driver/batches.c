#include "check.h"

enum { kBytes = 4096 };

static CUstream stream;
static CUdeviceptr p, q;
static unsigned char host[kBytes];

static int sum_of(CUdeviceptr from) {
  int sum = 0;
  memset(host, 0, sizeof host);
  cuStreamSynchronize(stream);
  cuMemcpyDtoH_v2(host, from, kBytes);
  for (int i = 0; i < kBytes; ++i) sum += host[i];
  return sum;
}

static void check_rows(void) {
  CUdeviceptr to[3] = {p, p + 100, p + 200}, from[3] = {q, q + 1, q + 2};
  size_t sizes[3] = {10, 20, 30}, indices[2] = {0, 2}, wrong[2] = {1, 2}, failed = 77;
  CUmemcpyAttributes how[2];
  memset(how, 0, sizeof how);
  how[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  how[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  cuMemsetD8_v2(p, 0, kBytes);
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 2, stream));
  NUMBER(sum_of(p));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 1, stream));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, wrong, 2, stream));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 0, stream));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, NULL, NULL, 0, stream));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, NULL, 1, stream));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 1, how, indices, 2, stream));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 0, how, indices, 1, stream));
  T(cuMemcpyBatchAsync_v2(NULL, from, sizes, 3, how, indices, 2, stream));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 2, NULL));
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 2, CU_STREAM_PER_THREAD));
  T(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  how[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 2, stream));
  T(cuMemcpyBatchAsync(to, from, sizes, 3, how, indices, 2, &failed, stream));
  NUMBER(failed == 77);
  how[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  sizes[1] = 0;
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 2, stream));
  sizes[1] = 20;
  to[1] = 0;
  T(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, indices, 2, stream));
  failed = 77;
  T(cuMemcpyBatchAsync(to, from, sizes, 3, how, indices, 2, &failed, stream));
  NUMBER(failed == 77);
}

static CUDA_MEMCPY3D_BATCH_OP box(CUdeviceptr to, CUdeviceptr from, size_t width, size_t height) {
  CUDA_MEMCPY3D_BATCH_OP op;
  memset(&op, 0, sizeof op);
  op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  op.src.op.ptr.ptr = from;
  op.dst.op.ptr.ptr = to;
  op.extent.width = width;
  op.extent.height = height;
  op.extent.depth = 1;
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  return op;
}

static void check_boxes_of_batches(void) {
  CUDA_ARRAY_DESCRIPTOR flat;
  CUarray array = NULL;
  CUDA_MEMCPY3D_BATCH_OP ops[2];
  size_t failed = 77;
  cuMemsetD8_v2(p, 0, kBytes);
  ops[0] = box(p, q, 16, 4);
  ops[1] = box(p + 1024, q, 8, 8);
  ops[1].src.op.ptr.rowLength = 32;
  ops[1].dst.op.ptr.rowLength = 64;
  PTSZ(cuMemcpy3DBatchAsync_v2, 2, ops, 0, stream);
  NUMBER(sum_of(p));
  NUMBER(host[1024 + 64]);
  T(cuMemcpy3DBatchAsync(2, ops, &failed, 0, stream));
  T(cuMemcpy3DBatchAsync_ptsz(2, ops, &failed, 0, stream));
  T(cuMemcpy3DBatchAsync_v2(0, ops, 0, stream));
  T(cuMemcpy3DBatchAsync_v2(2, NULL, 0, stream));
  T(cuMemcpy3DBatchAsync_v2(2, ops, 1, stream));
  T(cuMemcpy3DBatchAsync_v2(2, ops, 0, NULL));
  ops[1].src.op.ptr.rowLength = 4;
  T(cuMemcpy3DBatchAsync_v2(2, ops, 0, stream));
  failed = 77;
  T(cuMemcpy3DBatchAsync(2, ops, &failed, 0, stream));
  NUMBER(failed == 77);
  ops[1] = box(p, q, 0, 1);
  T(cuMemcpy3DBatchAsync_v2(2, ops, 0, stream));
  ops[1] = box(p, q, 8, 1);
  ops[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  T(cuMemcpy3DBatchAsync_v2(2, ops, 0, stream));
  memset(&flat, 0, sizeof flat);
  flat.Width = 16, flat.Height = 4, flat.Format = CU_AD_FORMAT_UNSIGNED_INT32, flat.NumChannels = 1;
  T(cuArrayCreate_v2(&array, &flat));
  ops[0] = box(0, q, 16, 4);
  ops[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  ops[0].dst.op.array.array = array;
  ops[1] = box(p, 0, 8, 2);
  ops[1].src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  memset(&ops[1].src.op, 0, sizeof ops[1].src.op);
  ops[1].src.op.array.array = array;
  ops[1].src.op.array.offset.x = 4;
  ops[1].src.op.array.offset.y = 1;
  cuMemsetD8_v2(p, 0, kBytes);
  T(cuMemcpy3DBatchAsync_v2(2, ops, 0, stream));
  NUMBER(sum_of(p));
  T(cuArrayDestroy(array));
}

static void check_managed(void) {
  CUdeviceptr m[2] = {0, 0}, plain[2] = {p, q};
  size_t sizes[2] = {kBytes, 8192}, index[2] = {0, 1}, wrong = 1;
  CUmemLocation to[2] = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, {CU_MEM_LOCATION_TYPE_HOST, 0}};
  CUmemLocation nowhere = {CU_MEM_LOCATION_TYPE_DEVICE, 99};
  T(cuMemAllocManaged(&m[0], kBytes, CU_MEM_ATTACH_GLOBAL));
  T(cuMemAllocManaged(&m[1], 8192, CU_MEM_ATTACH_GLOBAL));
  memset((void*)m[0], 3, kBytes);
  PTSZ(cuMemPrefetchBatchAsync, m, sizes, 2, to, index, 2, 0, stream);
  T(cuStreamSynchronize(stream));
  NUMBER(((unsigned char*)m[0])[9]);
  T(cuMemPrefetchBatchAsync(m, sizes, 2, to, index, 1, 0, stream));
  T(cuMemPrefetchBatchAsync(m, sizes, 2, to, index, 0, 0, stream));
  T(cuMemPrefetchBatchAsync(m, sizes, 2, NULL, NULL, 0, 0, stream));
  T(cuMemPrefetchBatchAsync(m, sizes, 2, to, &wrong, 1, 0, stream));
  T(cuMemPrefetchBatchAsync(m, sizes, 2, &nowhere, index, 1, 0, stream));
  T(cuMemPrefetchBatchAsync(m, sizes, 2, to, index, 2, 1, stream));
  T(cuMemPrefetchBatchAsync(m, sizes, 0, to, index, 1, 0, stream));
  T(cuMemPrefetchBatchAsync(plain, sizes, 1, to, index, 1, 0, stream));
  PTSZ(cuMemDiscardAndPrefetchBatchAsync, m, sizes, 2, to, index, 2, 0, stream);
  T(cuMemDiscardAndPrefetchBatchAsync(m, sizes, 2, to, index, 2, 1, stream));
  T(cuMemDiscardAndPrefetchBatchAsync(plain, sizes, 1, to, index, 1, 0, stream));
  PTSZ(cuMemDiscardBatchAsync, m, sizes, 2, 0, stream);
  T(cuMemDiscardBatchAsync(m, sizes, 0, 0, stream));
  T(cuMemDiscardBatchAsync(m, NULL, 2, 0, stream));
  T(cuMemDiscardBatchAsync(m, sizes, 2, 1, stream));
  T(cuMemDiscardBatchAsync(plain, sizes, 1, 0, stream));
  T(cuStreamSynchronize(stream));
  T(cuMemFree_v2(m[0]));
  T(cuMemFree_v2(m[1]));
}

void check_batches(void) {
  for (int i = 0; i < kBytes; ++i) host[i] = (unsigned char)(i % 100);
  T(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  T(cuMemAlloc_v2(&p, kBytes));
  T(cuMemAlloc_v2(&q, 2 * kBytes));
  T(cuMemcpyHtoD_v2(q, host, kBytes));
  check_rows();
  check_boxes_of_batches();
  check_managed();
  T(cuMemFree_v2(p));
  T(cuMemFree_v2(q));
  T(cuStreamDestroy_v2(stream));
}
