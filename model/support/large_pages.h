// For arrays that are looked up at random: an allocator on large pages of the host, where it has them, and prefetching.
//
// Models:  nothing. A lookup in tens of megabytes of small pages costs the host more for finding the page than for the data.
// Ignores: hosts other than Linux, which get ordinary memory. Arrays of less than a large page are ordinary as well.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace foretrace::support {

/// Asks the host's caches for what will be looked at soon. Always inline, and so must callers be that do nothing else: GCC takes a
/// function that only prefetches for one without effect, and drops the calls.
[[gnu::always_inline]] inline void prefetch(const void* address) { __builtin_prefetch(address); }

template <typename T>
class LargePages {
 public:
  using value_type = T;
  LargePages() = default;
  template <typename U>
  explicit(false) LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t count) {
    void* const data = ::operator new(count * sizeof(T), alignment(count));
#ifdef __linux__
    if (count * sizeof(T) >= kPage)
      madvise(data, count * sizeof(T), MADV_HUGEPAGE);  // advice: no matter if it is refused
#endif
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) { ::operator delete(data, alignment(count)); }
  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::align_val_t alignment(std::size_t count) {
    return std::align_val_t{count * sizeof(T) >= kPage ? kPage : alignof(T) < 64 ? 64 : alignof(T)};
  }
};

template <typename T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace foretrace::support
