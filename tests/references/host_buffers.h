// The buffers of a chain of launches in host memory, and the references run over them: what a launch should leave.
//
// Models:  fresh buffers from their generators; `after` chains on the same memory; references into buffers.
// Ignores: symbols (no reference reads one).
// Source:  docs/launch_files.md.
#pragma once

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/frontend/launch/launch.h"
#include "validate/kernels/references.h"

namespace foretrace::frontend {

class HostBuffers {
 public:
  /// Runs the references of everything before launches[index], then makes that launch's own buffers.
  HostBuffers(const std::vector<LaunchDescription>& launches, std::size_t index) {
    for (const LaunchDescription* before : launches_before(launches, index)) {
      bind(*before);
      run_reference(*before);
    }
    bind(launches[index]);
  }

  /// Applies the launch's reference to the buffers. The launch must be the one that they were made for.
  void run_reference(const LaunchDescription& launch) const {
    const auto reference = references::find_reference(launch.reference);
    if (reference == nullptr) throw std::invalid_argument("no reference is named '" + launch.reference + "'");
    reference(views_, {launch.grid.x, launch.grid.y, launch.grid.z},
              {launch.block.x, launch.block.y, launch.block.z});
  }

  /// The launch's arguments, in parameter order.
  const std::vector<references::ArgumentView>& views() const { return views_; }

  /// A named buffer of the chain.
  std::vector<std::uint8_t>& named(const std::string& name) { return *named_.at(name); }
  ElementType type_of(const std::string& name) const { return types_.at(name); }

 private:
  void bind(const LaunchDescription& launch) {
    views_.assign(launch.arguments.size(), {});
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      if (argument.kind == ArgumentKind::null || argument.kind == ArgumentKind::reference) continue;
      auto& contents = storage_.emplace_back(std::make_unique<std::vector<std::uint8_t>>(argument.bytes));
      if (argument.kind == ArgumentKind::buffer) {
        fill(argument, *contents);
        if (!argument.name.empty()) {
          named_[argument.name] = contents.get();
          types_[argument.name] = argument.type;
        }
      }
      views_[i] = {contents->data(), contents->size()};
    }
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      if (argument.kind != ArgumentKind::reference) continue;
      std::vector<std::uint8_t>& target = *named_.at(argument.name);
      views_[i] = {target.data() + argument.offset, target.size() - argument.offset};
    }
  }

  static void fill(const Argument& argument, std::vector<std::uint8_t>& contents) {
    contents.resize(argument.buffer_bytes());
    if (argument.generator.kind == GeneratorKind::file) {
      std::ifstream(argument.file, std::ios::binary)
          .read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(contents.size()));
      return;
    }
    fill_elements(contents.data(), argument.type, argument.generator, 0, argument.count, argument.count);
  }

  std::vector<std::unique_ptr<std::vector<std::uint8_t>>> storage_;
  std::map<std::string, std::vector<std::uint8_t>*> named_;
  std::map<std::string, ElementType> types_;
  std::vector<references::ArgumentView> views_;
};

/// The number that an element of a buffer stands for; beyond 2^53 an integer is rounded.
inline double number_of(ElementType type, const std::uint8_t* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, element_bytes(type));
  if (type_info(type).is_float) return float_value(type, bits);
  const std::uint64_t wide = values::extend(type, bits);
  return type_info(type).is_signed ? static_cast<double>(static_cast<std::int64_t>(wide))
                                   : static_cast<double>(wide);
}

/// The first element of a checked buffer that is not what it should be, in words; "" if there is none. Bits where both
/// tolerances are 0.
inline std::string first_difference(const Check& check, ElementType type, const std::uint8_t* got,
                                    const std::vector<std::uint8_t>& wanted) {
  const unsigned bytes = element_bytes(type);
  for (std::size_t at = 0; at < wanted.size(); at += bytes) {
    if (std::memcmp(got + at, &wanted[at], bytes) == 0) continue;
    const double is = number_of(type, got + at);
    const double should = number_of(type, &wanted[at]);
    const bool exact = check.relative == 0 && check.absolute == 0;
    if (!exact && std::fabs(is - should) <= check.absolute + check.relative * std::fabs(should)) continue;
    return check.buffer + "[" + std::to_string(at / bytes) + "] is " + std::to_string(is) + ", expected " +
           std::to_string(should);
  }
  return "";
}

}  // namespace foretrace::frontend
