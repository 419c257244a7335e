// An allocator for arrays that are looked up at random: on large pages of the host, where it has them.
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

namespace foretrace::memory {

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
    if (count * sizeof(T) >= kPage) madvise(data, count * sizeof(T), MADV_HUGEPAGE);  // advice: no matter if it is refused
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

}  // namespace foretrace::memory
