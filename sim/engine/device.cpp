#include "sim/engine/device.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/emulate/tensor/tensor_map.h"
#include "sim/engine/module_images.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/launch/buffer_values.h"
#include "sim/frontend/launch/parameters.h"

namespace foretrace::engine {

namespace {

using frontend::Argument;
using frontend::ArgumentKind;

/// A buffer's file, read when the buffer is placed; its size must be the buffer's.
std::shared_ptr<const std::vector<std::byte>> read_contents(const Argument& argument) {
  std::ifstream file(argument.file, std::ios::binary | std::ios::ate);
  if (!file)
    throw InputError(fmt::format("argument {}: cannot read {}", argument.text, argument.file.string()));
  const auto size = static_cast<std::uint64_t>(file.tellg());
  if (size != argument.buffer_bytes()) {
    throw InputError(fmt::format("argument {}: {} has {} bytes; expected {}", argument.text,
                                 argument.file.string(), size, argument.buffer_bytes()));
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(size);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes->data()), static_cast<std::streamsize>(size));
  if (!file)
    throw InputError(fmt::format("argument {}: cannot read {}", argument.text, argument.file.string()));
  return bytes;
}

emulate::GlobalMemory::Fill fill_of(const Argument& argument) {
  const frontend::Generator generator = argument.generator;
  if (generator.kind == frontend::GeneratorKind::zero) return {};
  if (generator.kind == frontend::GeneratorKind::file) {
    auto bytes = read_contents(argument);
    return [bytes](std::uint64_t offset, std::span<std::byte> out) {
      std::memcpy(out.data(), bytes->data() + offset, out.size());
    };
  }
  const frontend::ElementType type = argument.type;
  const std::uint64_t count = argument.count;
  return [generator, type, count](std::uint64_t offset, std::span<std::byte> out) {
    const std::uint64_t size = frontend::element_bytes(type);
    frontend::fill_elements(out.data(), type, generator, offset / size, out.size() / size, count);
  };
}

}  // namespace

std::vector<std::byte> initial_contents(const Argument& argument) {
  std::vector<std::byte> bytes;
  if (argument.kind == ArgumentKind::buffer) {
    bytes.resize(argument.buffer_bytes());
    if (const auto fill = fill_of(argument)) fill(0, bytes);
  } else {
    bytes.resize(argument.bytes.size());
    std::memcpy(bytes.data(), argument.bytes.data(), bytes.size());
  }
  return bytes;
}

namespace {

constexpr emulate::TensorSwizzle swizzle_of(int bytes) {
  return bytes == 128  ? emulate::TensorSwizzle::bytes_128
         : bytes == 64 ? emulate::TensorSwizzle::bytes_64
         : bytes == 32 ? emulate::TensorSwizzle::bytes_32
                       : emulate::TensorSwizzle::none;
}

/// The map over the tensor at `address`; what the driver would refuse is an error.
std::vector<std::byte> tensor_map_bytes(const Argument& argument, std::uint64_t address,
                                        const std::string& kernel) {
  const frontend::TensorArgument& t = argument.tensor;
  emulate::TensorMap map;
  for (int type = 0; type < emulate::kByteTensorTypes; ++type) {
    if (t.type == emulate::name_of(static_cast<emulate::TensorType>(type)))
      map.type = static_cast<emulate::TensorType>(type);
  }
  map.address = address;
  map.rank = static_cast<int>(t.dims.size());
  std::uint64_t stride = emulate::element_bytes(map.type);
  for (std::size_t d = 0; d < t.dims.size(); ++d) {
    map.dims[d] = static_cast<std::uint64_t>(t.dims[d]);
    map.strides[d] = d > 0 && !t.strides.empty() ? static_cast<std::uint64_t>(t.strides[d - 1]) : stride;
    stride = map.strides[d] * map.dims[d];
    if (!t.im2col()) map.box[d] = static_cast<std::uint32_t>(t.box[d]);
    if (!t.element_strides.empty()) map.element_strides[d] = static_cast<std::uint32_t>(t.element_strides[d]);
  }
  map.walk = t.im2col() ? emulate::BoxWalk::im2col : emulate::BoxWalk::tiled;
  for (std::size_t i = 0; i < t.lower.size(); ++i) {
    map.lower[i] = static_cast<std::int32_t>(t.lower[i]);
    map.upper[i] = static_cast<std::int32_t>(t.upper[i]);
  }
  map.channels = static_cast<std::uint32_t>(t.channels);
  map.pixels = static_cast<std::uint32_t>(t.pixels);
  map.swizzle = swizzle_of(t.swizzle_bytes);
  map.interleave = static_cast<std::uint8_t>(t.interleave_bytes / 16);
  map.l2_promotion = static_cast<std::uint8_t>(t.promotion_bytes == 256 ? 3 : t.promotion_bytes / 64);
  map.nan_fill = t.nan_fill;
  if (const std::string problem = emulate::problem_of(map); !problem.empty()) {
    throw InputError(fmt::format("kernel {}: argument {}: the driver would not make this tensor map: {}",
                                 kernel, argument.text, problem));
  }
  const emulate::TensorMapBytes bytes = emulate::encode(map);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::uint64_t Device::place(const Argument& argument, const std::string& kernel) {
  if (argument.kind == ArgumentKind::null) return 0;
  if (argument.kind == ArgumentKind::reference || argument.kind == ArgumentKind::tensor_map) {
    const auto found = named_.find(argument.name);
    if (found == named_.end()) {
      throw InputError(
          fmt::format("kernel {}: argument {}: there is no buffer {}; expected the name of one before it",
                      kernel, argument.text, argument.name));
    }
    if (argument.offset > found->second.size) {
      throw InputError(fmt::format("kernel {}: argument {}: offset {} lies outside the {} bytes of {}",
                                   kernel, argument.text, argument.offset, found->second.size,
                                   argument.name));
    }
    return found->second.address + argument.offset;
  }
  const std::uint64_t address = memory_->allocate(
      argument.buffer_bytes(), argument.name.empty() ? argument.text : argument.name, fill_of(argument));
  if (!argument.name.empty()) named_[argument.name] = {address, argument.buffer_bytes()};
  return address;
}

std::vector<std::byte> Device::argument_bytes(const Argument& argument, const std::string& kernel) {
  if (argument.kind == ArgumentKind::value || argument.kind == ArgumentKind::bytes)
    return initial_contents(argument);
  const std::uint64_t address = place(argument, kernel);
  if (argument.kind == ArgumentKind::tensor_map) return tensor_map_bytes(argument, address, kernel);
  std::vector<std::byte> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

void Device::set_symbols(const frontend::LaunchDescription& launch, const frontend::LoadedKernel& kernel,
                         std::uint64_t globals, std::vector<std::byte>& constant3) {
  for (const frontend::Symbol& symbol : launch.symbols) {
    const auto& variables = kernel.module->variables;
    const auto found =
        std::find_if(variables.begin(), variables.end(), [&](const frontend::Variable& variable) {
          return variable.name == symbol.name || variable.mangled == symbol.name;
        });
    if (found == variables.end()) {
      std::string known;
      for (const auto& variable : variables) known += (known.empty() ? "" : ", ") + variable.name;
      throw InputError(fmt::format("kernel {}: symbol {}: the module has no such variable; it has: {}",
                                   kernel.program.kernel, symbol.name, known.empty() ? "none" : known));
    }
    std::vector<std::byte> bytes;
    if (symbol.contents.kind == ArgumentKind::reference || symbol.contents.kind == ArgumentKind::null ||
        symbol.contents.kind == ArgumentKind::tensor_map) {
      bytes = argument_bytes(symbol.contents, kernel.program.kernel);
    } else {
      bytes = initial_contents(symbol.contents);
    }
    if (bytes.size() > found->size) {
      throw InputError(fmt::format("kernel {}: symbol {}: {} bytes given; the variable has {}",
                                   kernel.program.kernel, symbol.name, bytes.size(), found->size));
    }
    if (found->space == frontend::VariableSpace::constant3) {
      std::memcpy(constant3.data() + found->offset, bytes.data(), bytes.size());
    } else {
      memory_->write(globals + found->offset, bytes);
    }
  }
}

emulate::LaunchContext Device::bind(const frontend::LaunchDescription& launch,
                                    const frontend::LoadedKernel& kernel) {
  const isa::Program& program = kernel.program;
  frontend::check_parameters(launch, program);
  emulate::LaunchContext context;
  context.program = &program;
  context.memory = memory_.get();
  context.shape() = launch;
  context.parameters.resize(program.parameter_bytes);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const isa::Parameter& parameter = program.parameters[i];
    const std::vector<std::byte> bytes = argument_bytes(argument, program.kernel);
    FORETRACE_ASSERT(bytes.size() == parameter.size, "check_parameters has compared the sizes");
    FORETRACE_ASSERT(parameter.offset + bytes.size() <= context.parameters.size(),
                     "a parameter lies in the parameter area");
    std::memcpy(context.parameters.data() + parameter.offset, bytes.data(), bytes.size());
  }

  const frontend::Module& module = *kernel.module;
  const auto room = [&](std::size_t size, const char* what) {
    return size == 0 ? std::uint64_t{0} : memory_->allocate(size, what);
  };
  const std::uint64_t globals = room(module.globals.size(), "device variables");
  // Code that takes a constant's address reads it as global memory.
  const std::uint64_t constant3 = room(module.constant3.size(), "constant variables");
  const ModulePlace place{[globals](std::uint64_t offset) { return globals + offset; }, constant3};
  ModuleImages images = module_images(module, place, module.path);
  if (globals != 0) memory_->write(globals, images.globals);
  context.banks[2] = kernel.constant2;
  context.banks[3] = std::move(images.constant3);
  context.banks[4] = std::move(images.constant4);
  context.constants = constant3;
  set_symbols(launch, kernel, globals, context.banks[3]);
  if (constant3 != 0) memory_->write(constant3, context.banks[3]);
  return context;
}

const Device::Buffer& Device::named(const std::string& buffer) const {
  const auto found = named_.find(buffer);
  if (found == named_.end())
    throw InputError(
        fmt::format("dump {}: there is no buffer of that name; expected name={} on one", buffer, buffer));
  return found->second;
}

std::vector<std::byte> Device::read(const std::string& buffer) {
  const Buffer& found = named(buffer);
  std::vector<std::byte> bytes(found.size);
  memory_->read(found.address, bytes);
  return bytes;
}

void Device::write(const std::string& buffer, std::span<const std::byte> bytes) {
  const Buffer& found = named(buffer);
  FORETRACE_ASSERT(bytes.size() == found.size, "contents are as large as their buffer");
  memory_->write(found.address, bytes);
}

frontend::LoadRequest load_request(const frontend::LaunchDescription& launch, int sm) {
  frontend::LoadRequest request;
  request.file = launch.source.string();
  request.sm = sm;
  request.kernel = launch.kernel;
  request.defines = launch.defines;
  request.options = frontend::split_options(launch.nvcc);
  return request;
}

}  // namespace foretrace::engine
