// What the fuzz targets share: input bytes as text or as a file, and what a parser may do with them: take them, or refuse them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/units/error.h"

namespace foretrace::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

/// Input bytes as a file in memory, for readers that take a path.
class File {
 public:
  explicit File(std::string_view contents);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

/// A refusal is an InputError that says something; anything else ends the process.
void check_refusal(const InputError& error);

/// Calls parse() and accepts a refusal.
template <class Parse>
void accept_or_refuse(Parse&& parse) {
  try {
    parse();
  } catch (const InputError& error) { check_refusal(error); }
}

}  // namespace foretrace::fuzz
