#include "sim/app/kernel_options.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/names.h"

namespace foretrace::app {

void KernelOptions::add_names_to(options::options_description& description) {
  description.add_options()("kernel", options::value(&name)->value_name("NAME"),
                            "the kernel: its name as in the source, template arguments included, or mangled")(
      "kernel-regex", options::value(&regex)->value_name("PATTERN"),
      "all kernels whose name matches this pattern");
}

void KernelOptions::add_to(options::options_description& description) {
  add_names_to(description);
  description.add_options()("define", options::value(&define)->value_name("NAME[=VALUE]")->composing(),
                            "for the compiler: NAME or NAME=VALUE")(
      "nvcc", options::value(&nvcc)->value_name("OPTIONS"), "further options for nvcc, in one word");
}

frontend::LoadRequest KernelOptions::request(const std::string& file, int sm) const {
  if (!name.empty() && !regex.empty())
    throw InputError("both --kernel and --kernel-regex given; expected one of them");
  for (const std::string& each : define) {
    try {
      frontend::check_define(each);
    } catch (const InputError& error) { throw InputError(fmt::format("--define {}", error.what())); }
  }
  frontend::LoadRequest request;
  request.file = file;
  request.sm = sm;
  request.kernel = regex.empty() ? name : regex;
  request.regex = !regex.empty();
  request.defines = define;
  request.options = frontend::split_options(nvcc);
  return request;
}

bool KernelOptions::matches(const std::string& kernel) const {
  if (!name.empty() && !regex.empty())
    throw InputError("both --kernel and --kernel-regex given; expected one of them");
  if (!regex.empty()) {
    try {
      return std::regex_search(kernel, std::regex(regex));
    } catch (const std::regex_error& error) {
      throw InputError(
          fmt::format("--kernel-regex {}: {}; expected a regular expression", regex, error.what()));
    }
  }
  return name.empty() || frontend::normalised_name(kernel) == frontend::normalised_name(name);
}

std::vector<std::size_t> KernelOptions::among(const std::vector<frontend::LaunchDescription>& launches,
                                              const std::string& file) const {
  std::vector<std::size_t> meant;
  std::vector<std::string> kernels;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::string& kernel = launches[i].kernel;
    if (matches(kernel)) meant.push_back(i);
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(kernel);
  }
  if (meant.empty()) {
    throw InputError(fmt::format("{}: no launch of a kernel '{}'; it has launches of {}", file,
                                 regex.empty() ? name : regex, listed(kernels)));
  }
  return meant;
}

std::string one_file(const options::variables_map& values, const std::string& expected) {
  if (!values.count("file")) throw InputError("no file given; expected " + expected);
  const auto& files = values["file"].as<std::vector<std::string>>();
  if (files.size() != 1)
    throw InputError(
        fmt::format("{} files given ({} ...); expected one: {}", files.size(), files[1], expected));
  return files[0];
}

}  // namespace foretrace::app
