// Where the spaces of a thread's generic addresses lie. The emulator places them; the model tells them apart.
#pragma once

#include <cstdint>

namespace foretrace::work {

/// Windows of 2^32 bytes (constant bank 0 holds them: high word of a generic address names the window, the low bits are the offset).
inline constexpr std::uint64_t kSharedWindow = 0x7e00'0000'0000;  ///< generic address of shared offset 0
inline constexpr std::uint64_t kLocalWindow = 0x7e80'0000'0000;   ///< generic address of local offset 0
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;

/// The global address of a lane of an asynchronous copy that reads nothing and writes zeros.
inline constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

/// Where the model sees code, constants and local memory as lines of L2: apart from all that a program can allocate.
inline constexpr std::uint64_t kLocalBase = 0x1000'0000'0000;
inline constexpr std::uint64_t kLocalWarpBytes = std::uint64_t{1} << 26;  ///< of a warp that can be resident
inline constexpr std::uint64_t kLocalBytes = kLocalWarpBytes << 14;       ///< of all of a chip
inline constexpr std::uint64_t kCodeBase = 0x4000'0000'0000;
inline constexpr std::uint64_t kConstantBase = 0x5000'0000'0000;

constexpr bool is_shared_window(std::uint64_t address) { return address - kSharedWindow < kWindowBytes; }
constexpr bool is_local_window(std::uint64_t address) { return address - kLocalWindow < kWindowBytes; }
/// Of a line of the model's.
constexpr bool is_local(std::uint64_t address) { return address - kLocalBase < kLocalBytes; }
/// Offset in a thread's local memory of a local address, in window or plain form.
constexpr std::uint64_t local_offset(std::uint64_t address) {
  return is_local_window(address) ? address - kLocalWindow : address & (kWindowBytes - 1);
}

}  // namespace foretrace::work
