#include "sim/runtime/device/copy.h"

#include <algorithm>
#include <cstring>

#include "sim/runtime/device/array.h"

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

/// One side of a copy that an array takes part in, piece by piece.
class Side {
 public:
  Side(std::byte* memory, std::size_t pitch, std::size_t slice, const Array* array,
       const CopyCall::Corner& at)
      : memory_(memory), pitch_(pitch), slice_(slice), array_(array), at_(at) {}

  bool holds(const CopyCall& copy) const {
    if (array_ == nullptr) return true;
    return at_.byte + copy.width <= array_->row_bytes() && at_.row + copy.height <= array_->rows() &&
           at_.slice + copy.depth <= array_->slices();
  }
  std::byte* at(std::size_t byte, std::size_t row, std::size_t slice) const {
    if (array_ == nullptr) return memory_ + slice * slice_ + row * pitch_ + byte;
    const emulate::Image& image = array_->image;
    return reinterpret_cast<std::byte*>(
        image.address_of(image.levels.front(), at_.byte + byte, at_.row + row, at_.slice + slice));
  }
  /// Bytes from there on that lie together.
  std::size_t together(std::size_t byte) const {
    constexpr std::size_t kRun = 16;  // bytes of a row of a GOB's sector
    return array_ == nullptr ? ~std::size_t{0} : kRun - (at_.byte + byte) % kRun;
  }

 private:
  std::byte* memory_;
  std::size_t pitch_, slice_;
  const Array* array_;
  CopyCall::Corner at_;
};

cudaError_t copy_arrays(DeviceMemory& memory, const CopyCall& copy) {
  const Side to(copy.to, copy.to_pitch, copy.to_slice, copy.to_array, copy.to_at);
  const Side from(const_cast<std::byte*>(copy.from), copy.from_pitch, copy.from_slice, copy.from_array,
                  copy.from_at);
  if (!to.holds(copy) || !from.holds(copy)) return cudaErrorInvalidValue;
  std::vector<std::byte> row(copy.width);
  for (std::size_t z = 0; z < copy.depth; ++z) {
    for (std::size_t y = 0; y < copy.height; ++y) {
      for (std::size_t i = 0; i < copy.width;) {
        const std::size_t n = std::min(copy.width - i, from.together(i));
        std::memcpy(row.data() + i, from.at(i, y, z), n);
        i += n;
      }
      for (std::size_t i = 0; i < copy.width;) {
        const std::size_t n = std::min(copy.width - i, to.together(i));
        std::memcpy(to.at(i, y, z), row.data() + i, n);
        memory.mark_written(to.at(i, y, z), n);
        i += n;
      }
    }
  }
  return cudaSuccess;
}

}  // namespace

namespace {

/// Whether the sides that are the device's lie in one allocation each.
bool reaches(const DeviceMemory& memory, const CopyCall& copy) {
  const bool to_device = copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
  const bool from_device = copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
  const std::size_t to_bytes = extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice);
  const std::size_t from_bytes =
      extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice);
  if (copy.to_array == nullptr && (to_device || memory.find(copy.to) != nullptr) &&
      !memory.holds(copy.to, to_bytes)) {
    return false;
  }
  return copy.from_array != nullptr || (!from_device && memory.find(copy.from) == nullptr) ||
         memory.holds(copy.from, from_bytes);
}

}  // namespace

cudaError_t copy_of(const cudaMemcpy3DParms& p, CopyCall& copy) {
  const auto* to = reinterpret_cast<const Array*>(p.dstArray);
  const auto* from = reinterpret_cast<const Array*>(p.srcArray);
  if ((to == nullptr) == (p.dstPtr.ptr == nullptr) || (from == nullptr) == (p.srcPtr.ptr == nullptr))
    return cudaErrorInvalidValue;
  if (to != nullptr && from != nullptr && to->image.texel_bytes() != from->image.texel_bytes())
    return cudaErrorInvalidValue;
  const Array* any = to != nullptr ? to : from;
  const std::size_t unit = any == nullptr ? 1 : any->image.texel_bytes();
  const auto corner = [](const cudaPitchedPtr& box, const cudaPos& at) {
    return static_cast<std::byte*>(box.ptr) + (at.z * box.ysize + at.y) * box.pitch + at.x;
  };
  copy = CopyCall{to != nullptr ? nullptr : corner(p.dstPtr, p.dstPos),
                  from != nullptr ? nullptr : corner(p.srcPtr, p.srcPos),
                  p.extent.width * unit,
                  p.extent.height,
                  p.extent.depth,
                  p.dstPtr.pitch,
                  p.srcPtr.pitch,
                  p.dstPtr.pitch * p.dstPtr.ysize,
                  p.srcPtr.pitch * p.srcPtr.ysize,
                  p.kind};
  copy.to_array = to;
  copy.from_array = from;
  if (to != nullptr) copy.to_at = {p.dstPos.x * unit, p.dstPos.y, p.dstPos.z};
  if (from != nullptr) copy.from_at = {p.srcPos.x * unit, p.srcPos.y, p.srcPos.z};
  return cudaSuccess;
}

cudaError_t copy_boxes(DeviceMemory& memory, const CopyCall& copy) {
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return cudaSuccess;
  if ((copy.to == nullptr && copy.to_array == nullptr) ||
      (copy.from == nullptr && copy.from_array == nullptr))
    return cudaErrorInvalidValue;
  if (copy.height > 1 && ((copy.to_array == nullptr && copy.width > copy.to_pitch) ||
                          (copy.from_array == nullptr && copy.width > copy.from_pitch))) {
    return cudaErrorInvalidPitchValue;
  }
  if (!reaches(memory, copy)) return cudaErrorInvalidValue;
  if (copy.to_array != nullptr || copy.from_array != nullptr) return copy_arrays(memory, copy);
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
