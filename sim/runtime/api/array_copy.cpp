// Copies that name arrays: cudaMemcpy2DToArray and its kin. Widths and first columns are in bytes.
#include <algorithm>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

/// Memory (`pitch` bytes from row to row) or an array from a corner on.
struct Side {
  const void* memory = nullptr;
  size_t pitch = 0;
  cudaArray_const_t array = nullptr;
  CopyCall::Corner at{};
};

Side side(cudaArray_const_t array, size_t x, size_t y) { return {nullptr, 0, array, {x, y, 0}}; }

cudaError_t copy(const Side& to, const Side& from, size_t width, size_t height, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  return call([&](State& s) {
    CopyCall copy;
    copy.width = width, copy.height = height, copy.kind = kind;
    copy.to = static_cast<std::byte*>(const_cast<void*>(to.memory)), copy.to_pitch = to.pitch;
    copy.from = static_cast<const std::byte*>(from.memory), copy.from_pitch = from.pitch;
    copy.to_array = s.arrays.find(to.array), copy.to_at = to.at;
    copy.from_array = s.arrays.find(from.array), copy.from_at = from.at;
    if ((to.array != nullptr && copy.to_array == nullptr) ||
        (from.array != nullptr && copy.from_array == nullptr))
      return cudaErrorInvalidResourceHandle;
    return s.submit(stream, copy);
  });
}

/// `count` bytes from a corner of an array on, row after row: `use`(bytes before, column, row, bytes) for every piece of a row.
template <class Use>
cudaError_t by_rows(cudaArray_const_t array, size_t x, size_t y, size_t count, Use&& use) {
  size_t row_bytes = 0;
  const cudaError_t refused = call([&](State& s) {
    const Array* found = s.arrays.find(array);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    row_bytes = found->row_bytes();
    return x < row_bytes ? cudaSuccess : cudaErrorInvalidValue;
  });
  if (refused != cudaSuccess) return refused;
  for (size_t done = 0; done < count; x = 0, ++y) {
    const size_t piece = std::min(count - done, row_bytes - x);
    const cudaError_t result = use(done, x, y, piece);
    if (result != cudaSuccess) return result;
    done += piece;
  }
  return cudaSuccess;
}

cudaError_t to_array(cudaArray_t to, size_t x, size_t y, const void* from, size_t count, cudaMemcpyKind kind,
                     cudaStream_t stream) {
  return by_rows(to, x, y, count, [&](size_t done, size_t column, size_t row, size_t bytes) {
    return copy(side(to, column, row), {static_cast<const std::byte*>(from) + done, bytes}, bytes, 1, kind,
                stream);
  });
}

cudaError_t from_array(void* to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                       cudaMemcpyKind kind, cudaStream_t stream) {
  return by_rows(from, x, y, count, [&](size_t done, size_t column, size_t row, size_t bytes) {
    return copy({static_cast<std::byte*>(to) + done, bytes}, side(from, column, row), bytes, 1, kind, stream);
  });
}

cudaError_t between(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                    size_t from_y, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return by_rows(from, from_x, from_y, count, [&](size_t done, size_t column, size_t row, size_t bytes) {
    return by_rows(to, to_x, to_y + done / std::max<size_t>(bytes, 1), bytes,
                   [&](size_t before, size_t to_column, size_t to_row, size_t piece) {
                     return copy(side(to, to_column, to_row), side(from, column + before, row), piece, 1,
                                 kind, stream);
                   });
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                                   size_t pitch, size_t width, size_t height,
                                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(side(to, x, y), {from, pitch}, width, height, kind, stream);
}
FORETRACE_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                              size_t pitch, size_t width, size_t height,
                                              cudaMemcpyKind kind) {
  return waited(copy(side(to, x, y), {from, pitch}, width, height, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                                     size_t y, size_t width, size_t height,
                                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return copy({to, pitch}, side(from, x, y), width, height, kind, stream);
}
FORETRACE_API cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                                size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return waited(copy({to, pitch}, side(from, x, y), width, height, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                                   cudaArray_const_t from, size_t from_x, size_t from_y,
                                                   size_t width, size_t height, cudaMemcpyKind kind) {
  return waited(copy(side(to, to_x, to_y), side(from, from_x, from_y), width, height, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                            size_t count, cudaMemcpyKind kind) {
  return waited(to_array(to, x, y, from, count, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                                 size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return to_array(to, x, y, from, count, kind, stream);
}
FORETRACE_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                              size_t count, cudaMemcpyKind kind) {
  return waited(from_array(to, from, x, y, count, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                                   size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return from_array(to, from, x, y, count, kind, stream);
}
FORETRACE_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                                 cudaArray_const_t from, size_t from_x, size_t from_y,
                                                 size_t count, cudaMemcpyKind kind) {
  return waited(between(to, to_x, to_y, from, from_x, from_y, count, kind, nullptr));
}

// The per-thread default stream's.
FORETRACE_API cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void* from,
                                                        size_t pitch, size_t width, size_t height,
                                                        cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(side(to, x, y), {from, pitch}, width, height, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t to, size_t x, size_t y, const void* from,
                                                   size_t pitch, size_t width, size_t height,
                                                   cudaMemcpyKind kind) {
  return copy(side(to, x, y), {from, pitch}, width, height, kind, cudaStreamPerThread);
}
FORETRACE_API cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* to, size_t pitch, cudaArray_const_t from,
                                                          size_t x, size_t y, size_t width, size_t height,
                                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return copy({to, pitch}, side(from, x, y), width, height, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpy2DFromArray_ptds(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                                     size_t y, size_t width, size_t height,
                                                     cudaMemcpyKind kind) {
  return copy({to, pitch}, side(from, x, y), width, height, kind, cudaStreamPerThread);
}
FORETRACE_API cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y,
                                                        cudaArray_const_t from, size_t from_x, size_t from_y,
                                                        size_t width, size_t height, cudaMemcpyKind kind) {
  return copy(side(to, to_x, to_y), side(from, from_x, from_y), width, height, kind, cudaStreamPerThread);
}
FORETRACE_API cudaError_t cudaMemcpyToArray_ptds(cudaArray_t to, size_t x, size_t y, const void* from,
                                                 size_t count, cudaMemcpyKind kind) {
  return to_array(to, x, y, from, count, kind, cudaStreamPerThread);
}
FORETRACE_API cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void* from,
                                                      size_t count, cudaMemcpyKind kind,
                                                      cudaStream_t stream) {
  return to_array(to, x, y, from, count, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpyFromArray_ptds(void* to, cudaArray_const_t from, size_t x, size_t y,
                                                   size_t count, cudaMemcpyKind kind) {
  return from_array(to, from, x, y, count, kind, cudaStreamPerThread);
}
FORETRACE_API cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* to, cudaArray_const_t from, size_t x, size_t y,
                                                        size_t count, cudaMemcpyKind kind,
                                                        cudaStream_t stream) {
  return from_array(to, from, x, y, count, kind, per_thread(stream));
}
FORETRACE_API cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y,
                                                      cudaArray_const_t from, size_t from_x, size_t from_y,
                                                      size_t count, cudaMemcpyKind kind) {
  return between(to, to_x, to_y, from, from_x, from_y, count, kind, cudaStreamPerThread);
}
