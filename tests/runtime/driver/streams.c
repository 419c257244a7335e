#include "check.h"

static int called;
static void CUDA_CB count_call(void* data) { called += *(int*)data; }
static void CUDA_CB count_callback(CUstream stream, CUresult result, void* data) {
  called += *(int*)data + (int)result + (stream == NULL);
}

static void check_events(CUstream stream) {
  CUevent first = NULL, last = NULL, untimed = NULL;
  float time = -1;
  T(cuEventCreate(&first, CU_EVENT_DEFAULT));
  T(cuEventCreate(&last, CU_EVENT_BLOCKING_SYNC));
  T(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  T(cuEventCreate(&first, 0x80));
  T(cuEventElapsedTime(&time, first, last));
  PTSZ(cuEventRecord, first, stream);
  PTSZ(cuEventRecordWithFlags, last, stream, CU_EVENT_RECORD_DEFAULT);
  T(cuEventSynchronize(last));
  T(cuEventQuery(last));
  T(cuEventElapsedTime(&time, first, last));
  NUMBER(time >= 0);
  T(cuEventElapsedTime_v2(&time, first, last));
  T(cuEventRecord(untimed, stream));
  T(cuEventSynchronize(untimed));
  T(cuEventElapsedTime(&time, first, untimed));
  PTSZ(cuStreamWaitEvent, stream, last, 0);
  T(cuEventDestroy_v2(first));
  T(cuEventDestroy_v2(last));
  T(cuEventDestroy(untimed));
}

static void check_memory_operations(CUstream stream) {
  CUdeviceptr p = 0;
  unsigned word = 0;
  unsigned long long wide = 0;
  CUstreamBatchMemOpParams list[2];
  T(cuMemAlloc_v2(&p, 64));
  T(cuMemsetD8_v2(p, 0, 64));
  PTSZ(cuStreamWriteValue32, stream, p, 5, 0);
  PTSZ(cuStreamWriteValue32_v2, stream, p, 6, 0);
  PTSZ(cuStreamWriteValue64, stream, p + 8, 7, 0);
  PTSZ(cuStreamWriteValue64_v2, stream, p + 8, 8, 0);
  PTSZ(cuStreamWaitValue32, stream, p, 6, CU_STREAM_WAIT_VALUE_EQ);
  PTSZ(cuStreamWaitValue32_v2, stream, p, 5, CU_STREAM_WAIT_VALUE_GEQ);
  PTSZ(cuStreamWaitValue64, stream, p + 8, 8, CU_STREAM_WAIT_VALUE_AND);
  PTSZ(cuStreamWaitValue64_v2, stream, p + 8, 1, CU_STREAM_WAIT_VALUE_NOR);
  memset(list, 0, sizeof list);
  list[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  list[0].writeValue.address = p + 16;
  list[0].writeValue.value = 9;
  list[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  list[1].waitValue.address = p + 16;
  list[1].waitValue.value = 9;
  list[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  PTSZ(cuStreamBatchMemOp, stream, 2, list, 0);
  PTSZ(cuStreamBatchMemOp_v2, stream, 2, list, 0);
  T(cuStreamWriteValue32_v2(stream, p + 1, 5, 0));
  T(cuStreamSynchronize(stream));
  T(cuMemcpyDtoH_v2(&word, p, 4));
  T(cuMemcpyDtoH_v2(&wide, p + 8, 8));
  NUMBER(word);
  NUMBER(wide);
  T(cuMemFree_v2(p));
}

void check_streams(void) {
  CUstream stream = NULL, other = NULL;
  CUcontext context = NULL, current = NULL;
  CUgreenCtx green = NULL;
  CUdevice device = 9;
  unsigned flags = 9;
  int priority = 9, add = 3;
  unsigned long long id = 0;
  CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUstreamAttrValue value;
  T(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  T(cuStreamCreate(&stream, 77));
  T(cuStreamCreateWithPriority(&other, CU_STREAM_DEFAULT, -2));
  PTSZ(cuStreamGetFlags, stream, &flags);
  NUMBER(flags);
  PTSZ(cuStreamGetPriority, other, &priority);
  NUMBER(priority);
  PTSZ(cuStreamGetId, stream, &id);
  PTSZ(cuStreamGetDevice, stream, &device);
  NUMBER(device);
  T(cuCtxGetCurrent(&current));
  PTSZ(cuStreamGetCtx, stream, &context);
  NUMBER(context == current);
  PTSZ(cuStreamGetCtx_v2, stream, &context, &green);
  NUMBER(green == NULL);
  PTSZ(cuStreamQuery, stream);
  PTSZ(cuStreamSynchronize, stream);
  PTSZ(cuStreamSynchronize, NULL);
  PTSZ(cuStreamIsCapturing, stream, &status);
  NUMBER(status);
  T(cuThreadExchangeStreamCaptureMode(&mode));
  NUMBER(mode);
  T(cuThreadExchangeStreamCaptureMode(&mode));
  NUMBER(mode);
  memset(&value, 0, sizeof value);
  value.priority = -1;
  PTSZ(cuStreamSetAttribute, stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value);
  value.priority = 9;
  PTSZ(cuStreamGetAttribute, stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value);
  NUMBER(value.priority);
  PTSZ(cuStreamCopyAttributes, other, stream);
  PTSZ(cuLaunchHostFunc, stream, count_call, &add);
  PTSZ(cuStreamAddCallback, stream, count_callback, &add, 0);
  T(cuStreamSynchronize(stream));
  NUMBER(called);
  check_events(stream);
  check_memory_operations(stream);
  T(cuStreamDestroy_v2(stream));
  T(cuStreamDestroy(other));
  T(cuStreamDestroy_v2(NULL));
}
