// The linker: several pieces of code become one cubin (sim/frontend/link_objects.h).
#include <map>

#include <fmt/format.h>

#include "sim/frontend/cubin.h"
#include "sim/frontend/fat_binary.h"
#include "sim/frontend/link_objects.h"
#include "sim/frontend/ptx.h"
#include "sim/runtime/driver/driver.h"
#include "sim/runtime/driver/jit.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

struct Piece {
  CUjitInputType type;
  std::vector<std::byte> bytes;
};

struct Link {
  JitOptions options{0, nullptr, nullptr};
  std::vector<Piece> pieces;
  std::vector<std::byte> cubin;
};

std::map<CUlinkState, std::unique_ptr<Link>>& links() {
  static auto* all = new std::map<CUlinkState, std::unique_ptr<Link>>;
  return *all;
}

template <class Body>
CUresult link_call(CUlinkState handle, Body&& body) {
  return with_state([&](State& s) -> CUresult {
    const auto found = links().find(handle);
    if (found == links().end()) return CUDA_ERROR_INVALID_HANDLE;
    try {
      return body(s, *found->second);
    } catch (const frontend::PtxVersionError& error) {
      found->second->options.write_errors(error.output());
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    } catch (const ToolError& error) {
      found->second->options.write_errors(error.output());
      return CUDA_ERROR_INVALID_PTX;
    }
  });
}

std::string text_of(const std::vector<std::byte>& bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

/// A piece as a cubin; `relocatable`: as an object for the linker.
std::vector<std::byte> machine_code(const State& s, const Link& link, const Piece& piece, bool relocatable) {
  if (piece.type == CU_JIT_INPUT_PTX) {
    return frontend::compile_ptx({text_of(piece.bytes), s.spec->sm_number, link.options.ptxas(), relocatable},
                                 s.toolchain);
  }
  if (piece.type != CU_JIT_INPUT_FATBINARY) return piece.bytes;
  const auto entries = frontend::read_fat_binary(piece.bytes, "linker input");
  const frontend::FatEntry* entry = frontend::best_entry(entries, s.spec->sm_number);
  if (entry == nullptr) throw InputError(frontend::missing_code_message(entries, s.spec->sm_number));
  return frontend::entry_contents(*entry, "linker input");
}

std::vector<std::byte> link_pieces(const State& s, const Link& link) {
  std::vector<frontend::LinkPiece> pieces;
  for (const Piece& piece : link.pieces) {
    const char* suffix = piece.type == CU_JIT_INPUT_LIBRARY  ? "a"
                         : piece.type == CU_JIT_INPUT_OBJECT ? "o"
                                                             : "cubin";
    pieces.push_back({machine_code(s, link, piece, true), suffix});
  }
  return frontend::link_objects(pieces, s.spec->sm_number, s.toolchain);
}

CUresult add(CUlinkState handle, CUjitInputType type, std::vector<std::byte> bytes) {
  return link_call(handle, [&](State&, Link& link) {
    if (bytes.empty()) return CUDA_ERROR_INVALID_VALUE;
    if (type < CU_JIT_INPUT_CUBIN || type > CU_JIT_INPUT_LIBRARY) return CUDA_ERROR_INVALID_VALUE;
    link.pieces.push_back({type, std::move(bytes)});
    return CUDA_SUCCESS;
  });
}

}  // namespace

FORETRACE_API CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values,
                                       CUlinkState* out) {
  return with_state([&](State&) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto link = std::make_unique<Link>();
    link->options = JitOptions(count, options, values);
    *out = reinterpret_cast<CUlinkState>(link.get());
    links()[*out] = std::move(link);
    return CUDA_SUCCESS;
  });
}
FORETRACE_SAME(cuLinkCreate, cuLinkCreate_v2);
FORETRACE_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size,
                                        const char*, unsigned, CUjit_option*, void**) {
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* first = static_cast<const std::byte*>(data);
  return add(state, type, {first, first + size});
}
FORETRACE_SAME(cuLinkAddData, cuLinkAddData_v2);
FORETRACE_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                                        CUjit_option*, void**) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<std::byte> bytes = file_bytes(path);
  if (bytes.empty()) return CUDA_ERROR_FILE_NOT_FOUND;
  bytes.pop_back();
  return add(state, type, std::move(bytes));
}
FORETRACE_SAME(cuLinkAddFile, cuLinkAddFile_v2);
FORETRACE_API CUresult cuLinkComplete(CUlinkState handle, void** cubin, size_t* size) {
  return link_call(handle, [&](State& s, Link& link) {
    if (cubin == nullptr || link.pieces.empty()) return CUDA_ERROR_INVALID_VALUE;
    const bool alone = link.pieces.size() == 1 && link.pieces.front().type <= CU_JIT_INPUT_FATBINARY;
    link.cubin = alone ? machine_code(s, link, link.pieces.front(), false) : link_pieces(s, link);
    *cubin = link.cubin.data();
    if (size != nullptr) *size = link.cubin.size();
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuLinkDestroy(CUlinkState state) {
  return link_call(state, [&](State&, Link&) {
    links().erase(state);
    return CUDA_SUCCESS;
  });
}
