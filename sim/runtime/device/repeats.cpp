#include "sim/runtime/device/repeats.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace foretrace::runtime {

namespace {

/// Bytes of memory that are hashed for a warp instruction of the launch: a hundredth of what executing it takes.
constexpr std::uint64_t kBytesPerInstruction = 16;
constexpr std::uint64_t kSmallestLaunch = 10'000;  // warp instructions
constexpr std::size_t kMostKnown = 4096;
constexpr int kMostInVain = 12;

__extension__ using Wide = unsigned __int128;

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Four lanes, each of which multiplies 16 bytes at a time into what it has. Odd constants without a pattern.
class Hash {
 public:
  void add(const void* data, std::uint64_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    std::array<std::byte, kStep> rest{};
    mix_number(size);
    for (; size >= kStep; size -= kStep, from += kStep) mix(from);
    if (size == 0) return;
    std::memcpy(rest.data(), from, size);
    mix(rest.data());
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  template <class... Numbers>
  void numbers(Numbers... all) {
    (mix_number(static_cast<std::uint64_t>(all)), ...);
  }
  std::pair<std::uint64_t, std::uint64_t> result() const {
    return {fold(lanes_[0] ^ kOdd[1], lanes_[1] ^ kOdd[2]) ^ fold(lanes_[2] ^ kOdd[3], lanes_[3] ^ kOdd[0]),
            fold(lanes_[0] ^ kOdd[2], lanes_[2] ^ kOdd[1]) ^ fold(lanes_[1] ^ kOdd[0], lanes_[3] ^ kOdd[3])};
  }

 private:
  static constexpr std::size_t kStep = 64;
  static constexpr std::array<std::uint64_t, 4> kOdd = {0x9e3779b97f4a7c15, 0xd1b54a32d192ed03,
                                                        0xabc98388fb8fac03, 0x8cb92ba72f3d8dd7};
  void mix(const std::byte* from) {
    std::array<std::uint64_t, kStep / 8> words;
    std::memcpy(words.data(), from, kStep);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      lanes_[lane] = fold(words[2 * lane] ^ kOdd[lane], words[2 * lane + 1] ^ lanes_[lane]);
  }
  void mix_number(std::uint64_t number) {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      lanes_[lane] = fold(lanes_[lane] ^ number, kOdd[lane]);
  }
  std::array<std::uint64_t, 4> lanes_ = {1, 2, 3, 4};
};

std::pair<std::uint64_t, std::uint64_t> key_of(const emulate::LaunchContext& context, std::uint64_t objects) {
  Hash hash;
  hash.add(context.program->mangled);
  hash.add(context.program->code_sha256);
  for (const Dim3& dim : {context.grid, context.block, context.cluster}) hash.numbers(dim.x, dim.y, dim.z);
  hash.numbers(context.dynamic_shared, context.local_bytes, context.constants, context.max_instructions,
               objects);
  hash.add(context.parameters.data(), context.parameters.size());
  for (const std::vector<std::byte>& bank : context.banks) hash.add(bank.data(), bank.size());
  return hash.result();
}

/// Whether every byte that a kernel may see can be read, and is not too much.
bool readable(DeviceMemory& memory, std::uint64_t most) {
  std::uint64_t bytes = 0;
  for (const auto& [address, block] : memory.blocks()) {
    if (block.kind == MemoryKind::registered || block.kind == MemoryKind::mapped) return false;
    bytes += block.size;
  }
  return bytes <= most && memory.global().heap().in_use() == 0;
}

std::pair<std::uint64_t, std::uint64_t> contents(const DeviceMemory& memory) {
  Hash hash;
  for (const auto& [address, block] : memory.blocks()) {
    hash.numbers(address);
    hash.add(reinterpret_cast<const void*>(address), block.size);
  }
  return hash.result();
}

}  // namespace

emulate::BlockCount Repeats::run(const emulate::LaunchContext& context, DeviceMemory& memory,
                                 std::uint64_t objects, const Execute& execute, bool& repeated) {
  repeated = false;
  const emulate::Checks& checks = context.checks;
  const bool reported = context.bounds_reported != nullptr && context.bounds_reported->load();
  if (checks.uninitialized || checks.races || checks.bounds || reported ||
      !emulate::blocks_are_independent(*context.program)) {
    return execute();
  }
  if (known_.size() > kMostKnown) known_.clear();
  Known& known = known_[key_of(context, objects)];
  const bool look = known.ran && known.count.instructions >= kSmallestLaunch && known.skip == 0 &&
                    readable(memory, kBytesPerInstruction * known.count.instructions);
  known.ran = true;
  if (!look) {
    if (known.skip != 0) --known.skip;
    return known.count = execute();
  }
  const Digest before = contents(memory);
  if (known.unchanged == before) {
    repeated = true;
    return known.count;
  }
  known.unchanged.reset();
  known.count = execute();
  if (contents(memory) == before) {
    known.unchanged = before;
    known.in_vain = 0;
  } else {
    known.in_vain = std::min(known.in_vain + 1, kMostInVain);
    known.skip = (std::uint64_t{1} << known.in_vain) - 2;  // 0, 2, 6, ...
  }
  return known.count;
}

}  // namespace foretrace::runtime
