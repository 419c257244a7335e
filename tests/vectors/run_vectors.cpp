#include "tests/vectors/run_vectors.h"

#include <cstring>
#include <span>

#include "sim/emulate/emulator.h"

namespace foretrace::vectors {
namespace {

/// Module variables placed in memory, and pointers to them filled in.
void place(emulate::LaunchContext& context, const frontend::LoadedKernel& kernel) {
  const frontend::Module& module = *kernel.module;
  context.program = &kernel.program;
  context.banks[2] = kernel.constant2;
  context.banks[3] = module.constant3;
  context.banks[4] = module.constant4;
  if (module.globals.empty()) return;
  const std::uint64_t globals = context.memory->allocate(module.globals.size(), "globals");
  context.memory->write(globals, module.globals);
  for (const frontend::Pointer& pointer : module.pointers) {
    if (pointer.image != frontend::Image::constant4 || pointer.target != frontend::TargetKind::global) {
      continue;
    }
    const std::uint64_t address = globals + pointer.value;
    std::memcpy(context.banks[4].data() + pointer.offset, &address, sizeof address);
  }
}

template <class T>
void put(std::vector<std::byte>& parameters, std::size_t at, const T& value) {
  std::memcpy(parameters.data() + at, &value, sizeof value);
}

std::vector<std::uint32_t> run(const emulate::LaunchContext& context, std::uint64_t out, std::size_t words) {
  const emulate::Emulator emulator(context);
  for (std::uint64_t block = 0; block < emulator.blocks(); ++block) emulator.run_block(block, nullptr);
  std::vector<std::uint32_t> answers(words);
  context.memory->read(out, std::as_writable_bytes(std::span(answers)));
  return answers;
}

}  // namespace

std::map<std::string, frontend::LoadedKernel> load_cubin(const std::string& path) {
  frontend::LoadRequest request;
  request.file = path;
  request.kernel = ".*";
  request.regex = true;
  std::map<std::string, frontend::LoadedKernel> kernels;
  for (frontend::LoadedKernel& kernel : frontend::load_kernels(request, frontend::Toolchain{})) {
    kernels.emplace(kernel.program.kernel, kernel);
  }
  return kernels;
}

std::vector<std::uint32_t> run_kernel(const frontend::LoadedKernel& loaded, const VectorKernel& kernel) {
  emulate::GlobalMemory memory;
  emulate::LaunchContext context;
  context.memory = &memory;
  place(context, loaded);
  context.block = {128, 1, 1};
  context.grid = {kernel.tuples / 128, 1, 1};
  const std::vector<std::uint32_t> in = operand_words(kernel);
  const std::size_t words = std::size_t{kernel.words} * kernel.tuples;
  const std::uint64_t at_in = memory.allocate(in.size() * 4, "in");
  const std::uint64_t at_out = memory.allocate(words * 4, "out");
  memory.write(at_in, std::as_bytes(std::span(in)));
  context.parameters.resize(loaded.program.parameter_bytes);
  put(context.parameters, 0, at_in);
  put(context.parameters, 8, at_out);
  put(context.parameters, 16, kernel.tuples);
  std::memcpy(context.parameters.data() + 24, kConstants, sizeof kConstants);
  return run(context, at_out, words);
}

std::vector<std::uint32_t> run_sweep(const frontend::LoadedKernel& loaded, const Sweep& sweep) {
  emulate::GlobalMemory memory;
  emulate::LaunchContext context;
  context.memory = &memory;
  place(context, loaded);
  context.block = {256, 1, 1};
  context.grid = {sweep.count / 256, 1, 1};
  const std::uint64_t at_out = memory.allocate(std::uint64_t{sweep.count} * 4, "out");
  context.parameters.resize(loaded.program.parameter_bytes);
  put(context.parameters, 0, at_out);
  put(context.parameters, 8, sweep.first);
  put(context.parameters, 12, sweep.step);
  return run(context, at_out, sweep.count);
}

std::uint64_t hash_of(const std::vector<std::uint32_t>& answers) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint32_t answer : answers) {
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (answer >> (8 * byte) & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace foretrace::vectors
