// Copies and fills; those that name arrays one by one are in array_copy.cpp.
#include "sim/runtime/device/copy.h"
#include "sim/runtime/api/api.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

std::byte* bytes(void* pointer) { return static_cast<std::byte*>(pointer); }
const std::byte* bytes(const void* pointer) { return static_cast<const std::byte*>(pointer); }

cudaError_t copy(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](State& s) {
    return s.submit(stream, CopyCall{bytes(to), bytes(from), size, 1, 1, size, size, 0, 0, kind});
  });
}

cudaError_t copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                    size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](State& s) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return s.submit(stream,
                    CopyCall{bytes(to), bytes(from), width, height, 1, to_pitch, from_pitch, 0, 0, kind});
  });
}

cudaError_t copy_3d(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return call([&](State& s) {
    if (p == nullptr) return cudaErrorInvalidValue;
    CopyCall copy;
    const cudaError_t refused = copy_of(*p, copy);
    return refused == cudaSuccess ? s.submit(stream, copy) : refused;
  });
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  if (p == nullptr) return copy_3d(nullptr, stream);
  const cudaMemcpy3DParms same{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                               p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return copy_3d(&same, stream);
}

cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, size_t size,
                      cudaStream_t stream) {
  if (!is_device(to_device) || !is_device(from_device))
    return call([](State&) { return cudaErrorInvalidDevice; });
  return copy(to, from, size, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t fill(void* to, int value, size_t size, cudaStream_t stream) {
  return call([&](State& s) {
    return s.submit(stream, FillCall{bytes(to), static_cast<unsigned>(value) & 0xff, 1, size, 1, 1, size, 0});
  });
}

cudaError_t fill_2d(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return call([&](State& s) {
    return s.submit(stream,
                    FillCall{bytes(to), static_cast<unsigned>(value) & 0xff, 1, width, height, 1, pitch, 0});
  });
}

cudaError_t fill_3d(const cudaPitchedPtr& to, int value, const cudaExtent& extent, cudaStream_t stream) {
  return call([&](State& s) {
    return s.submit(stream, FillCall{bytes(to.ptr), static_cast<unsigned>(value) & 0xff, 1, extent.width,
                                     extent.height, extent.depth, to.pitch, to.pitch * to.ysize});
  });
}

/// Where a host's shadow of a variable, or a pointer to device memory, lies on the device; null: neither.
PlacedVariable variable_of(State& s, const void* symbol) {
  const auto found = s.variables.find(symbol);
  return found == s.variables.end() ? PlacedVariable{} : found->second.module->variable(found->second.name);
}

cudaError_t copy_symbol(const void* symbol, void* host_to, const void* host_from, size_t size, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](State& s) {
    const PlacedVariable placed = variable_of(s, symbol);
    if (placed.address == nullptr) return cudaErrorInvalidSymbol;
    if (offset > placed.size || size > placed.size - offset) return cudaErrorInvalidValue;
    std::byte* const there = bytes(placed.address) + offset;
    if (host_from != nullptr) {
      if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
      return s.submit(stream, CopyCall{there, bytes(host_from), size, 1, 1, size, size, 0, 0, kind});
    }
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
      return cudaErrorInvalidMemcpyDirection;
    return s.submit(stream, CopyCall{bytes(host_to), there, size, 1, 1, size, size, 0, 0, kind});
  });
}

/// The legacy default stream takes none.
bool takes_batches(cudaStream_t stream) { return stream != nullptr && stream != cudaStreamLegacy; }

bool is_order(cudaMemcpySrcAccessOrder order) {
  return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny;
}
bool have_orders(const cudaMemcpyAttributes* attributes, size_t kinds) {
  return attributes != nullptr &&
         std::all_of(attributes, attributes + kinds,
                     [](const cudaMemcpyAttributes& how) { return is_order(how.srcAccessOrder); });
}

/// One side of a copy of a batch, as cudaMemcpy3D names it. False: it makes no sense.
bool read_operand(const cudaMemcpy3DOperand& side, const cudaExtent& extent, cudaArray_t& array, cudaPos& at,
                  cudaPitchedPtr& pointer) {
  if (side.type == cudaMemcpyOperandTypeArray) {
    array = side.op.array.array;
    at = {side.op.array.offset.x, side.op.array.offset.y, side.op.array.offset.z};
    return array != nullptr;
  }
  if (side.type != cudaMemcpyOperandTypePointer || side.op.ptr.ptr == nullptr) return false;
  // 0: the rows, or the layers, lie side by side. An element is a byte where no array takes part.
  const size_t row = side.op.ptr.rowLength == 0 ? extent.width : side.op.ptr.rowLength;
  const size_t rows = side.op.ptr.layerHeight == 0 ? extent.height : side.op.ptr.layerHeight;
  pointer = {side.op.ptr.ptr, row, row, rows};
  return row >= extent.width && rows >= extent.height;
}

cudaError_t copy_operation(const cudaMemcpy3DBatchOp& operation, cudaStream_t stream) {
  cudaMemcpy3DParms p{};
  p.extent = operation.extent;
  p.kind = cudaMemcpyDefault;
  if (!is_order(operation.srcAccessOrder) || p.extent.width == 0 || p.extent.height == 0 ||
      p.extent.depth == 0 || !read_operand(operation.src, p.extent, p.srcArray, p.srcPos, p.srcPtr) ||
      !read_operand(operation.dst, p.extent, p.dstArray, p.dstPos, p.dstPtr))
    return call([](State&) { return cudaErrorInvalidValue; });
  cudaArray_t const array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  cudaChannelFormatDesc texel{};
  if (array != nullptr) {
    if (const cudaError_t refused = cudaGetChannelDesc(&texel, array); refused != cudaSuccess) return refused;
    const auto texel_bytes = static_cast<size_t>(texel.x + texel.y + texel.z + texel.w) / 8;
    p.srcPtr.pitch *= texel_bytes;
    p.dstPtr.pitch *= texel_bytes;
  }
  return copy_3d(&p, stream);
}

}  // namespace

FORETRACE_API cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return waited(copy(to, from, size, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  return copy(to, from, size, kind, stream);
}
FORETRACE_API cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                       size_t width, size_t height, cudaMemcpyKind kind) {
  return waited(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                            size_t width, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
FORETRACE_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return waited(copy_3d(parameters, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_3d(parameters, stream);
}
FORETRACE_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return waited(copy_3d_peer(parameters, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters,
                                                cudaStream_t stream) {
  return copy_3d_peer(parameters, stream);
}
FORETRACE_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                         size_t size) {
  return waited(copy_peer(to, to_device, from, from_device, size, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                              size_t size, cudaStream_t stream) {
  return copy_peer(to, to_device, from, from_device, size, stream);
}

FORETRACE_API cudaError_t cudaMemset(void* to, int value, size_t size) {
  return fill(to, value, size, nullptr);
}
FORETRACE_API cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
  return fill(to, value, size, stream);
}
FORETRACE_API cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_2d(to, pitch, value, width, height, nullptr);
}
FORETRACE_API cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                            cudaStream_t stream) {
  return fill_2d(to, pitch, value, width, height, stream);
}
FORETRACE_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_3d(to, value, extent, nullptr);
}
FORETRACE_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                            cudaStream_t stream) {
  return fill_3d(to, value, extent, stream);
}

FORETRACE_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset,
                                             cudaMemcpyKind kind) {
  return waited(copy_symbol(symbol, nullptr, from, size, offset, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size,
                                                  size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol(symbol, nullptr, from, size, offset, kind, stream);
}
FORETRACE_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset,
                                               cudaMemcpyKind kind) {
  return waited(copy_symbol(symbol, to, nullptr, size, offset, kind, nullptr));
}
FORETRACE_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol(symbol, to, nullptr, size, offset, kind, stream);
}

FORETRACE_API cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call([&](State& s) {
    const PlacedVariable placed = variable_of(s, symbol);
    if (address == nullptr) return cudaErrorInvalidValue;
    if (placed.address == nullptr) return cudaErrorInvalidSymbol;
    *address = placed.address;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return call([&](State& s) {
    const PlacedVariable placed = variable_of(s, symbol);
    if (size == nullptr) return cudaErrorInvalidValue;
    if (placed.address == nullptr) return cudaErrorInvalidSymbol;
    *size = placed.size;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes,
                                               size_t count, cudaMemcpyAttributes* attributes,
                                               size_t* indices, size_t kinds, cudaStream_t stream) {
  if (!takes_batches(stream) || to == nullptr || from == nullptr || sizes == nullptr ||
      !are_batch_kinds(indices, kinds, count) || !have_orders(attributes, kinds) ||
      std::count(sizes, sizes + count, 0) != 0)
    return call([](State&) { return cudaErrorInvalidValue; });
  for (size_t i = 0; i < count; ++i) {
    const cudaError_t result = copy(to[i], from[i], sizes[i], cudaMemcpyDefault, stream);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}
FORETRACE_API cudaError_t cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* operations,
                                                 unsigned long long flags, cudaStream_t stream) {
  if (!takes_batches(stream) || count == 0 || operations == nullptr || flags != 0)
    return call([](State&) { return cudaErrorInvalidValue; });
  for (size_t i = 0; i < count; ++i) {
    if (const cudaError_t refused = copy_operation(operations[i], stream); refused != cudaSuccess)
      return refused;
  }
  return cudaSuccess;
}
