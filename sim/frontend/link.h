// Addresses into code: what a driver does with relocatable device code when it loads it.
//
// Models:  the relocations that nvlink leaves in an executable cubin (-rdc=true, -G): halves of an address in MOV and UMOV, targets of
//          CALL.ABS. Device functions stand behind the kernel in its code (CodePart).
// Source:  our own cubins for the types; the fields were read off nvdisasm 13.2, which prints what we put there (sm_80, sm_90,
//          sm_120).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/frontend/cubin.h"

namespace foretrace::frontend {

/// Fills in every address of the cubin's code as `address_of` says it. Returns the file with them in place and without its code's
/// relocations, as nvdisasm is to see it, and brings the kernels' `text` up to date. Throws InputError for another type.
std::vector<std::byte> link_code(std::span<const std::byte> file, Cubin& cubin,
                                 const std::function<std::uint64_t(const CodeRelocation&)>& address_of);

}  // namespace foretrace::frontend
