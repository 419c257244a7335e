#include "sim/frontend/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

[[noreturn]] void fail(std::string_view where, std::string_view message) {
  throw InputError(fmt::format("{}: {}", where, message));
}

std::string text_of(Dim3 extent) { return fmt::format("{},{},{}", extent.x, extent.y, extent.z); }

bool within(Dim3 extent, Dim3 limit) {
  return extent.x >= 1 && extent.y >= 1 && extent.z >= 1 && extent.x <= limit.x && extent.y <= limit.y &&
         extent.z <= limit.z;
}

void check_shape(const LaunchDescription& launch, std::string_view where) {
  constexpr Dim3 kLargestGrid{2147483647, 65535, 65535};
  constexpr Dim3 kLargestBlock{1024, 1024, 64};
  constexpr std::uint64_t kThreadsPerBlock = 1024;
  constexpr std::uint64_t kBlocksPerCluster = 16;  // over 8 the kernel has to ask for it
  if (!within(launch.grid, kLargestGrid)) {
    fail(where, fmt::format("a grid of {} blocks, expected 1,1,1 to {}", text_of(launch.grid),
                            text_of(kLargestGrid)));
  }
  if (!within(launch.block, kLargestBlock)) {
    fail(where, fmt::format("a block of {} threads, expected 1,1,1 to {}", text_of(launch.block),
                            text_of(kLargestBlock)));
  }
  if (launch.block.count() > kThreadsPerBlock) {
    fail(where, fmt::format("a block of {} is {} threads, expected at most {}", text_of(launch.block),
                            launch.block.count(), kThreadsPerBlock));
  }
  if (!within(launch.cluster, Dim3{16, 16, 16}) || launch.cluster.count() > kBlocksPerCluster) {
    fail(where,
         fmt::format("a cluster of {} blocks, expected 1 to {}", text_of(launch.cluster), kBlocksPerCluster));
  }
  if (launch.grid.x % launch.cluster.x != 0 || launch.grid.y % launch.cluster.y != 0 ||
      launch.grid.z % launch.cluster.z != 0) {
    fail(where, fmt::format("a grid of {} is no multiple of the cluster {}", text_of(launch.grid),
                            text_of(launch.cluster)));
  }
}

struct NamedBuffer {
  std::string name;
  std::uint64_t bytes;
};

void add_buffer(const Argument& argument, std::string_view where, std::vector<NamedBuffer>& buffers) {
  if (argument.kind != ArgumentKind::buffer || argument.name.empty()) return;
  for (const NamedBuffer& other : buffers) {
    if (other.name == argument.name) fail(where, fmt::format("two buffers are named '{}'", other.name));
  }
  buffers.push_back({argument.name, argument.buffer_bytes()});
}

const NamedBuffer& find_buffer(const std::vector<NamedBuffer>& buffers, const std::string& name,
                               std::string_view where, std::string_view user) {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const NamedBuffer& b) { return b.name == name; });
  if (found == buffers.end()) {
    std::string known;
    for (const NamedBuffer& buffer : buffers) known += (known.empty() ? "" : ", ") + buffer.name;
    fail(where, fmt::format("{} names the buffer '{}', which is not there; named buffers: {}", user, name,
                            known.empty() ? "none" : known));
  }
  return *found;
}

void check_reference(const Argument& argument, const std::vector<NamedBuffer>& buffers,
                     std::string_view where) {
  if (argument.kind != ArgumentKind::reference && argument.kind != ArgumentKind::tensor_map) return;
  const NamedBuffer& buffer = find_buffer(buffers, argument.name, where, fmt::format("'{}'", argument.text));
  if (argument.offset >= buffer.bytes) {
    fail(where, fmt::format("'{}' is {} bytes into a buffer of {} bytes", argument.text, argument.offset,
                            buffer.bytes));
  }
}

}  // namespace

std::vector<std::filesystem::path> launch_files(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return {path};
  if (!std::filesystem::is_directory(path, error)) {
    throw InputError(
        fmt::format("{}: there is no such file or folder, expected launch files", path.string()));
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  if (files.empty()) throw InputError(fmt::format("{}: there is no .toml in it or below it", path.string()));
  std::sort(files.begin(), files.end());
  return files;
}

void check_launch(const LaunchDescription& launch, const std::vector<const LaunchDescription*>& before,
                  std::string_view where) {
  check_shape(launch, where);
  std::vector<NamedBuffer> buffers;
  for (const LaunchDescription* earlier : before) {
    for (const Argument& argument : earlier->arguments) add_buffer(argument, where, buffers);
  }
  for (const Argument& argument : launch.arguments) {  // a reference finds what stands before it
    check_reference(argument, buffers, where);
    add_buffer(argument, where, buffers);
  }
  std::set<std::string> symbols;
  for (const Symbol& symbol : launch.symbols) {
    check_reference(symbol.contents, buffers, where);
    if (!symbols.insert(symbol.name).second) {
      fail(where, fmt::format("the symbol '{}' is given twice", symbol.name));
    }
  }
  for (const Dump& dump : launch.dumps) find_buffer(buffers, dump.buffer, where, "dump");
  for (const Check& check : launch.checks) find_buffer(buffers, check.buffer, where, "check");
  if (!launch.checks.empty() && launch.reference.empty()) {
    fail(where, "check needs a reference to compare with");
  }
  if (launch.fault != ExpectedFault::none && !launch.reference.empty()) {
    fail(where, "a launch that is expected to fault has no reference");
  }
}

std::vector<const LaunchDescription*> launches_before(const std::vector<LaunchDescription>& launches,
                                                      std::size_t index) {
  std::vector<const LaunchDescription*> chain;
  std::string wanted = launches[index].after;
  // `after` names an earlier launch, so one walk towards the beginning finds the whole chain.
  for (std::size_t i = index; !wanted.empty() && i-- > 0;) {
    if (launches[i].name != wanted) continue;
    chain.push_back(&launches[i]);
    wanted = launches[i].after;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::uint64_t LaunchDescription::buffer_bytes() const {
  std::uint64_t sum = 0;
  for (const Argument& argument : arguments) {
    if (argument.kind == ArgumentKind::buffer) sum += argument.buffer_bytes();
  }
  return sum;
}

Dim3 parse_extent(std::string_view text, std::string_view what) {
  std::uint32_t numbers[3] = {1, 1, 1};
  std::string_view rest = text;
  for (std::uint32_t& number : numbers) {
    const std::size_t comma = rest.find(',');
    const std::string_view field = rest.substr(0, comma);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc() || end != field.data() + field.size() || number == 0) break;
    if (comma == std::string_view::npos) return {numbers[0], numbers[1], numbers[2]};
    rest.remove_prefix(comma + 1);
  }
  fail(what, fmt::format("'{}' is no extent, expected X, X,Y or X,Y,Z of numbers of at least 1", text));
}

Dump parse_dump(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_identifier(text.substr(0, equals)) ||
      equals + 1 == text.size()) {
    fail("dump", fmt::format("'{}' is no dump, expected NAME=FILE, NAME a buffer's name", text));
  }
  return {std::string(text.substr(0, equals)), std::filesystem::path(text.substr(equals + 1))};
}

std::string_view fault_name(ExpectedFault fault) {
  constexpr std::string_view kNames[] = {
      "none",       "out_of_bounds", "misaligned",         "divergent_barrier", "impossible_barrier",
      "never_ends", "trap",          "illegal_instruction"};
  return kNames[static_cast<std::size_t>(fault)];
}

}  // namespace foretrace::frontend
