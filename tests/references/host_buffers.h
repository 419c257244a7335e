// The buffers of a chain of launches in host memory, and the references run over them: what a launch should leave.
//
// Models:  fresh buffers from their generators; `after` chains on the same memory; references into buffers.
// Ignores: symbols (no reference reads one).
// Source:  docs/launch_files.md.
#pragma once

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

 private:
  void bind(const LaunchDescription& launch) {
    views_.assign(launch.arguments.size(), {});
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      if (argument.kind == ArgumentKind::null || argument.kind == ArgumentKind::reference) continue;
      auto& contents = storage_.emplace_back(std::make_unique<std::vector<std::uint8_t>>(argument.bytes));
      if (argument.kind == ArgumentKind::buffer) {
        fill(argument, *contents);
        if (!argument.name.empty()) named_[argument.name] = contents.get();
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
  std::vector<references::ArgumentView> views_;
};

}  // namespace foretrace::frontend
