// The functions that a CUDA driver puts beside a program's code: printf, malloc, free, a failed assert, a graph's condition,
// a grid's barrier.
//
// Models:  vprintf(format, arguments): conversions d i u o x X c s p f F e E g G a A with flags, width, precision and the sizes
//          h hh l ll j z t L; at most 32 arguments; the result is the number of arguments, -1 without a format. malloc and
//          free on DeviceHeap. __assertfail: one line per thread, then the fault `assertion`. cudaGraphSetConditional: the value is
//          stored where the handle points to (sim/runtime/device/conditional.h). cudaCG*, which are not nvcc's own way to a barrier of the
//          grid but numba's: the grid's handle is 1, ranks and sizes count threads, schedule/grid_barrier.h.
//          A call is CALL.ABS of an address that a relocation in constant bank 4 gives; arguments are in R4 on, pointers
//          in pairs that start evenly; the return address in R20:R21; the result in R4 (R4:R5). Source: our own cubins.
// Ignores: the buffer of printf (1 MiB, shown when the host synchronises): text is shown when the call is executed, warp by
//          warp in the order of execution, lanes in ascending order. The functions' own time and instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace foretrace::emulate {

/// Where device code's text goes.
using TextSink = std::function<void(std::string_view)>;
void to_standard_output(std::string_view text);
void to_standard_error(std::string_view text);

/// Code addresses from here on are the driver's; the program's own code starts at 0.
inline constexpr std::uint64_t kDriverCode = 0x6000'0000'0000;

/// What a pointer to the driver's function of that name has to be. A name that is not provided has an address, too: a call of it
/// is a fault that says so.
std::uint64_t driver_function_address(std::string_view name);
/// The function at an address of kDriverCode on: 'vprintf'; empty: none has it.
std::string_view driver_function_name(std::uint64_t address);

class Execution;
/// The lanes of `lanes` call the function at `address`. Those that have to call it again, because what they wait for has not come.
std::uint32_t call_driver(Execution& x, std::uint64_t address, std::uint32_t lanes);

/// Reads the memory that a pointer of device code points to, byte by byte.
using ByteReader = std::function<char(std::uint64_t address)>;

struct Formatted {
  std::string text;
  std::int32_t arguments = 0;  ///< how many were taken
};
/// What printf makes of a format and its packed arguments, each aligned to its size.
Formatted format_device_text(std::string_view format, std::uint64_t arguments, const ByteReader& read);

}  // namespace foretrace::emulate
