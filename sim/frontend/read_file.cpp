#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/frontend/cubin.h"

namespace foretrace::frontend {

std::vector<std::byte> read_file(const std::string& path) {
  std::error_code error;  // a folder opens, and has no size
  (void)std::filesystem::file_size(path, error);
  // The size of what is open counts: another process may put another file in its place meanwhile.
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!error && !in) error = {errno, std::generic_category()};
  if (error) throw InputError(fmt::format("{}: cannot be read: {}", path, error.message()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::streamoff{in.tellg()}));
  if (!in.seekg(0) ||
      !in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    throw InputError(path + ": cannot be read to its end");
  return bytes;
}

}  // namespace foretrace::frontend
