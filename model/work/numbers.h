// Numbers in the byte streams of a record: LEB128, and signed ones folded into it.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::work {

inline std::uint64_t zigzag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
inline std::int64_t unzigzag(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}
inline void put(std::vector<std::uint8_t>& out, std::uint64_t v) {
  while (v >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(v | 0x80));
    v >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(v));
}

/// Takes numbers from the front of bytes; remembers when they did not suffice.
struct Numbers {
  const std::uint8_t *at, *end;
  bool good = true;

  std::uint64_t next() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64 && at != end; shift += 7) {
      const std::uint8_t byte = *at++;
      v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
    good = false;
    return 0;
  }
  std::int64_t next_signed() { return unzigzag(next()); }
};

}  // namespace foretrace::work
