#include "sim/emulate/execute/running_warp.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/emulate/translate/address_form.h"

namespace foretrace::emulate {

namespace {

Dim3 at(std::uint64_t linear, const Dim3& extent) {
  const std::uint64_t x = linear % extent.x, rest = linear / extent.x;
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(rest % extent.y),
          static_cast<std::uint32_t>(rest / extent.y)};
}

}  // namespace

RunningWarp::RunningWarp(const Emulator::Launch& launch, std::uint64_t block)
    : launch_(launch), block_(block), block_index_(at(block, launch.context.grid)) {
  const Dim3 shape = launch.context.cluster;
  cluster_rank_ =
      block_index_.x % shape.x + shape.x * (block_index_.y % shape.y + shape.y * (block_index_.z % shape.z));
}

void RunningWarp::enter(Warp& w) {
  warp = &w;
  frame.file[static_cast<int>(File::registers)] = w.registers;
  frame.file[static_cast<int>(File::uniform)] = w.uniforms;
  frame.file[static_cast<int>(File::literal)] = launch_.literals.data();
  frame.predicates = w.predicates.data();
  pc = w.now.pc;
  active = w.now.lanes;
}

bool RunningWarp::may_wait() {
  // Other blocks' progress is not seen here: they need a few turns.
  constexpr std::uint32_t kMostWaits = 64;
  Warp& w = *warp;
  if (w.waited_at != progress.times) w.waits = 0;
  w.waited_at = progress.times;
  if (++w.waits > kMostWaits) {
    w.waits = 0;
    return false;
  }
  ++progress.polls;
  turn = again = true;
  return true;
}

void RunningWarp::form_addresses(const Source& base, const Source& uniform, std::uint32_t form,
                                 std::uint64_t offset, int set) {
  const std::uint32_t* u = words(uniform);
  std::uint64_t add = offset + u[0];
  if ((form & kUniform64) != 0) add += std::uint64_t{u[32]} << 32;
  const std::uint32_t* low = words(base);
  const std::uint32_t* high = (form & kBase64) != 0 ? low + 32 : nullptr;
  std::uint64_t* out = addresses[static_cast<std::size_t>(set)].data();
  // Shared and local addresses are of 32 bits and wrap there.
  const std::uint64_t keep = (form & kUniform64) != 0 ? ~std::uint64_t{0} : 0xffffffffu;
  launch_.lanes->addresses(low, high, (form >> kBaseShift) & 7, add, keep, out);
}

Dim3 RunningWarp::thread_index(int lane) const {
  return at(std::uint64_t{warp->index} * 32 + static_cast<unsigned>(lane), launch_.context.block);
}

std::uint32_t RunningWarp::special_register(std::uint32_t index, int lane) const {
  const std::uint32_t below = (1u << lane) - 1, self = 1u << lane;
  switch (index) {
    case 0: return static_cast<std::uint32_t>(lane);
    case 1: return static_cast<std::uint32_t>(progress.issued);
    case 2: return launch_.warps << 8;  // VIRTCFG: warps of the block as resident warps
    case 3: return warp->index << 8;    // VIRTID: warp slot
    case 33: return thread_index(lane).x;
    case 34: return thread_index(lane).y;
    case 35: return thread_index(lane).z;
    case 37: return block_index().x;
    case 38: return block_index().y;
    case 39: return block_index().z;
    case 46: return static_cast<std::uint32_t>(kLocalWindow >> 32);
    case 47: return static_cast<std::uint32_t>(kSharedWindow >> 32);
    case 48: return static_cast<std::uint32_t>(kSharedWindow);
    case 50: return launch_.all_shared_bytes;
    case 52: return static_cast<std::uint32_t>(kLocalWindow);
    case 55: return 0;  // LMEMHIOFF: a bound that the stack pointer never reaches
    case 56: return self;
    case 57: return below;
    case 58: return below | self;
    case 59: return ~(below | self);
    case 60: return ~below;
    case 67: return static_cast<std::uint32_t>(block_ % launch_.context.sms_used());  // VIRTUALSMID
    case 80: return static_cast<std::uint32_t>(progress.issued);
    case 81: return static_cast<std::uint32_t>(progress.issued >> 32);
    case 82: return static_cast<std::uint32_t>(progress.issued);
    case 83: return static_cast<std::uint32_t>(progress.issued >> 32);
    case 136: return cluster_rank_;  // CgaCtaId
    case 138: return 0;              // CgaSize: constant bank 0 has it
    case 255: return 0;
    default: break;
  }
  fault(FaultKind::unsupported, lane, fmt::format("unsupported special register SR{}", index));
}

std::string RunningWarp::fault_text(int lane, const std::string& what) const {
  const isa::Program& program = *launch_.context.program;
  const isa::Instruction& i = program.code[std::min<std::size_t>(pc, program.code.size() - 1)];
  const Dim3 b = block_index(), t = thread_index(lane < 32 ? lane : 0);
  std::string source;
  if (i.file != 0 && i.file <= program.files.size())
    source = fmt::format(", {}:{}", program.files[i.file - 1], i.line);
  return fmt::format("kernel {}, block ({},{},{}), thread ({},{},{}), offset 0x{:x} '{}'{}: {}",
                     program.kernel, b.x, b.y, b.z, t.x, t.y, t.z, i.offset, i.text, source, what);
}

void RunningWarp::fault(FaultKind kind, int lane, const std::string& what) const {
  const std::string line = fault_text(lane, what);
  const isa::Program& program = *launch_.context.program;
  throw KernelFault(kind, line, block_,
                    program.code[std::min<std::size_t>(pc, program.code.size() - 1)].offset);
}

}  // namespace foretrace::emulate
