#include "sim/runtime/device/copy.h"

#include <algorithm>
#include <cstring>

namespace foretrace::runtime {

namespace {

/// Bytes from the first byte of the first row to the last of the last.
std::size_t extent(std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch,
                   std::size_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

template <class Element>
void fill_row(std::byte* row, unsigned value, std::size_t count) {
  auto* first = reinterpret_cast<Element*>(row);
  std::fill(first, first + count, static_cast<Element>(value));
}

}  // namespace

cudaError_t copy_boxes(DeviceMemory& memory, const CopyCall& copy) {
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return cudaSuccess;
  if (copy.to == nullptr || copy.from == nullptr) return cudaErrorInvalidValue;
  if (copy.height > 1 && (copy.width > copy.to_pitch || copy.width > copy.from_pitch))
    return cudaErrorInvalidPitchValue;
  const bool to_device = copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
  const bool from_device = copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
  const std::size_t to_bytes = extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice);
  const std::size_t from_bytes =
      extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice);
  if ((to_device || memory.find(copy.to) != nullptr) && !memory.holds(copy.to, to_bytes))
    return cudaErrorInvalidValue;
  if ((from_device || memory.find(copy.from) != nullptr) && !memory.holds(copy.from, from_bytes))
    return cudaErrorInvalidValue;
  const bool whole_rows = copy.width == copy.to_pitch && copy.width == copy.from_pitch;
  for (std::size_t z = 0; z < copy.depth; ++z) {
    std::byte* to = copy.to + z * copy.to_slice;
    const std::byte* from = copy.from + z * copy.from_slice;
    if (whole_rows || copy.height == 1) {
      std::memmove(to, from, copy.width * copy.height);
      memory.mark_written(to, copy.width * copy.height);
      continue;
    }
    for (std::size_t y = 0; y < copy.height; ++y) {
      std::memmove(to + y * copy.to_pitch, from + y * copy.from_pitch, copy.width);
      memory.mark_written(to + y * copy.to_pitch, copy.width);
    }
  }
  return cudaSuccess;
}

cudaError_t fill_boxes(DeviceMemory& memory, const FillCall& fill) {
  if (fill.width == 0 || fill.height == 0 || fill.depth == 0) return cudaSuccess;
  const std::size_t row = fill.width * fill.element;
  if (fill.height > 1 && row > fill.pitch) return cudaErrorInvalidValue;
  if (!memory.holds(fill.to, extent(row, fill.height, fill.depth, fill.pitch, fill.slice)))
    return cudaErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(fill.to) % fill.element != 0 || fill.pitch % fill.element != 0)
    return cudaErrorInvalidValue;
  for (std::size_t z = 0; z < fill.depth; ++z) {
    for (std::size_t y = 0; y < fill.height; ++y) {
      std::byte* to = fill.to + z * fill.slice + y * fill.pitch;
      memory.mark_written(to, row);
      switch (fill.element) {
        case 1: std::memset(to, static_cast<int>(fill.value & 0xff), row); break;
        case 2: fill_row<std::uint16_t>(to, fill.value, fill.width); break;
        default: fill_row<std::uint32_t>(to, fill.value, fill.width); break;
      }
    }
  }
  return cudaSuccess;
}

}  // namespace foretrace::runtime
