// What CUPTI's activity records say of work on the GPU; nothing without -DCUPTI. Of table.cu.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#ifdef CUPTI
#include <cupti.h>
#endif

namespace activity {

struct Work {
  double begin, end;  // us
};

#ifdef CUPTI
inline std::vector<Work> all;
#define CUPTI_OK(x)                                                                                 \
  do {                                                                                              \
    const CUptiResult code_ = (x);                                                                  \
    if (code_ != CUPTI_SUCCESS) fprintf(stderr, "%s: CUPTI's error %d\n", #x, int(code_)), exit(1); \
  } while (0)

inline void CUPTIAPI give(uint8_t** buffer, size_t* size, size_t* records) {
  *size = 4 << 20, *records = 0;
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *size));
}
template <typename Record>
void add(const CUpti_Activity* record) {
  const auto* of = reinterpret_cast<const Record*>(record);
  all.push_back({of->start * 1e-3, of->end * 1e-3});
}
inline void CUPTIAPI done(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    // The fields up to `end`, and the name, have kept their places since the records of these versions.
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const char* name = reinterpret_cast<const CUpti_ActivityKernel9*>(record)->name;
      if (name == nullptr || strstr(name, "5block") == nullptr) add<CUpti_ActivityKernel9>(record);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      add<CUpti_ActivityMemcpy5>(record);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      add<CUpti_ActivityMemset4>(record);
    }
  }
  free(buffer);
}
inline bool on() { return true; }
inline void start() {
  CUPTI_OK(cuptiActivityRegisterCallbacks(give, done));
  for (const auto kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    CUPTI_OK(cuptiActivityEnable(kind));
  }
}
/// What was recorded since the last time, in order.
inline std::vector<Work> take() {
  CUPTI_OK(cuptiActivityFlushAll(1));
  std::vector<Work> work;
  work.swap(all);
  std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) { return a.begin < b.begin; });
  return work;
}
#else
inline bool on() { return false; }
inline void start() {}
inline std::vector<Work> take() { return {}; }
#endif

}  // namespace activity
