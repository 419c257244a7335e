#include "sim/validate/launch_class.h"

#include <filesystem>

#include "model/config/sha256.h"

namespace foretrace::validate {
namespace {

/// validate/suite/CLASS/NAME.toml
bool is_of_suite(const std::filesystem::path& file) {
  return file.parent_path().parent_path().filename() == "suite";
}

}  // namespace

std::string class_of(const std::string& launch_file) {
  const std::filesystem::path file(launch_file);
  return is_of_suite(file) ? file.parent_path().filename().string() : file.stem().string();
}

bool is_held_out(const std::string& launch_file) {
  const std::filesystem::path file(launch_file);
  return is_of_suite(file) &&
         std::stoul(config::sha256(file.stem().string()).substr(0, 8), nullptr, 16) % 3 == 0;
}

}  // namespace foretrace::validate
