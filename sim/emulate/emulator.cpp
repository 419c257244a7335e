#include "sim/emulate/emulator.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/isa/operands.h"
#include "sim/emulate/execution.h"

namespace foretrace::emulate {

namespace {

/// Offsets of what the driver puts into constant bank 0 (facts sass.md 1.5).
struct DriverArea {
  std::uint32_t block, grid, stack, dynamic_shared, local_window, shared_window, explicit_cluster, cluster,
      descriptor,
      workspace;  ///< of a cooperative launch: high word (envreg1), then low word (envreg2)
};
constexpr std::uint32_t kAbsent = ~0u;
constexpr DriverArea kSm80 = {0x0, 0xc, 0x28, 0x2c, 0x20, 0x18, kAbsent, kAbsent, 0x118, 0x8c};
constexpr DriverArea kSm90 = {0x0, 0xc, 0x28, 0x2c, 0x20, 0x18, 0x140, 0x144, 0x208, 0x44};
constexpr DriverArea kSm120 = {0x360, 0x370, 0x37c, 0x2ac, 0x2f8, kAbsent, 0x36c, 0x2a0, 0x358, 0x254};

const DriverArea& driver_area(const isa::Program& program) {
  switch (program.sm) {
    case 80: return kSm80;
    case 90: return kSm90;
    case 120: return kSm120;
    default:
      throw InputError(
          fmt::format("kernel {}: sm_{} is not an architecture that the emulator knows (80, 90, 120)",
                      program.kernel, program.sm));
  }
}

/// Warp instructions without progress after which a block is taken to wait for another; fewer once that is known of the launch.
constexpr std::uint64_t kPatience = 1'000'000, kShortPatience = 10'000;

constexpr std::uint64_t kWorkspaceBytes = 4096;

void put(std::vector<std::byte>& bank, std::uint32_t offset, std::uint32_t word) {
  if (offset == kAbsent) return;
  if (bank.size() < offset + 4) bank.resize(offset + 4);
  std::memcpy(bank.data() + offset, &word, 4);
}
void put3(std::vector<std::byte>& bank, std::uint32_t offset, const Dim3& v) {
  if (offset == kAbsent) return;
  put(bank, offset, v.x);
  put(bank, offset + 4, v.y);
  put(bank, offset + 8, v.z);
}
void put64(std::vector<std::byte>& bank, std::uint32_t offset, std::uint64_t v) {
  if (offset == kAbsent) return;
  put(bank, offset, static_cast<std::uint32_t>(v));
  put(bank, offset + 4, static_cast<std::uint32_t>(v >> 32));
}

/// Whether the code reads these bytes of bank 0 directly.
bool reads_constant(const isa::Program& program, std::uint32_t offset) {
  for (const isa::Instruction& i : program.code) {
    for (const isa::Operand& o : i.operands) {
      if (o.kind == isa::OperandKind::constant && o.bank == 0 && o.offset == offset) return true;
    }
  }
  return false;
}

/// Whether the bank of addresses holds this one.
bool asks_for(const std::vector<std::byte>& bank, std::uint64_t address) {
  for (std::size_t i = 0; i + 8 <= bank.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bank.data() + i, 8);
    if (word == address) return true;
  }
  return false;
}

void check(const LaunchContext& c) {
  const isa::Program& p = *c.program;
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("kernel {}: {}", p.kernel, what));
  };
  if (c.grid.count() == 0 || c.block.count() == 0) refuse("a launch has at least one block of one thread");
  if (c.block.count() > 1024) refuse(fmt::format("{} threads a block; at most 1024", c.block.count()));
  if (c.cluster.count() > 1) {
    refuse(fmt::format("clusters of {} blocks are not supported by the emulator", c.cluster.count()));
  }
  if (c.parameters.size() != p.parameter_bytes) {
    refuse(fmt::format("{} bytes of parameters given; the kernel takes {}", c.parameters.size(),
                       p.parameter_bytes));
  }
}

}  // namespace

Emulator::Launch::Launch(const LaunchContext& from) : context(from), shapes(*from.program) {
  const isa::Program& program = *context.program;
  check(context);
  lanes = &lane_table();
  threads = static_cast<std::uint32_t>(context.block.count());
  warps = (threads + 31) / 32;
  shared_bytes = program.shared_base + program.static_shared + context.dynamic_shared;
  local_bytes = (std::max(context.local_bytes, program.local_bytes) + 15) / 16 * 16;

  for (LaneWords& c : coordinates) c = LaneWords(std::size_t{warps} * 32);
  for (std::uint32_t t = 0; t < threads; ++t) {
    coordinates[0].data()[t] = t % context.block.x;
    coordinates[1].data()[t] = t / context.block.x % context.block.y;
    coordinates[2].data()[t] = t / context.block.x / context.block.y;
  }

  const DriverArea& area = driver_area(program);
  std::vector<std::byte>& bank = context.banks[0];
  bank.assign(program.parameter_base, std::byte{0});
  put3(bank, area.block, context.block);
  put3(bank, area.grid, context.grid);
  put(bank, area.stack, local_bytes);
  put(bank, area.dynamic_shared, context.dynamic_shared);
  put64(bank, area.local_window, kLocalWindow);
  put64(bank, area.shared_window, kSharedWindow);
  put(bank, area.explicit_cluster, 0);
  put3(bank, area.cluster, {1, 1, 1});
  put64(bank, area.descriptor, 0);
  if (reads_constant(program, area.workspace)) {
    const std::uint64_t workspace = context.memory->allocate(kWorkspaceBytes, "grid workspace");
    put(bank, area.workspace, static_cast<std::uint32_t>(workspace >> 32));
    put(bank, area.workspace + 4, static_cast<std::uint32_t>(workspace));
  }
  bank.resize(std::max<std::size_t>(bank.size(), program.parameter_base));
  bank.insert(bank.begin() + program.parameter_base, context.parameters.begin(), context.parameters.end());
  bank.resize(program.parameter_base + (context.parameters.size() + 15) / 16 * 16);

  if (asks_for(context.banks[4], driver_function_address("malloc"))) context.memory->heap().place(*context.memory);

  compiled = compile(program, context.banks, *lanes);
  for (std::size_t i = 0; i < compiled.code.size(); ++i) {
    const MicroOp& op = compiled.code[i];
    FORETRACE_ASSERT(op.kind == Kind::unsupported || (op.address_sets == shapes.of[i].addresses &&
                                                      op.value_recorded == shapes.of[i].value),
                     "the emulator records what the record's shape of an instruction asks for");
  }
}

Emulator::Emulator(const LaunchContext& context) : launch_(std::make_unique<Launch>(context)) {}
Emulator::~Emulator() = default;

std::uint64_t Emulator::blocks() const { return launch_->context.grid.count(); }

BlockCount Emulator::run_block(std::uint64_t block, work::BlockRecord* record) const {
  FORETRACE_ASSERT(block < blocks(), "a block that is run lies inside the grid");
  Execution execution(*launch_, block, record);
  const std::uint64_t limit = launch_->context.idle_limit;
  if (!execution.run(limit)) execution.fault_never_ends(limit);
  return execution.count();
}

struct BlockSequence::Running {
  Running(const Emulator::Launch& launch, std::uint64_t block, bool recording)
      : record(std::make_shared<work::BlockRecord>()),
        execution(launch, block, recording ? record.get() : nullptr) {}
  std::shared_ptr<work::BlockRecord> record;
  Execution execution;
  bool ended = false;
};

BlockSequence::BlockSequence(const Emulator& emulator, std::uint64_t resident, bool recording)
    : emulator_(emulator), resident_(std::max<std::uint64_t>(resident, 1)), recording_(recording) {}
BlockSequence::~BlockSequence() = default;

std::shared_ptr<work::BlockRecord> BlockSequence::next() {
  const std::uint64_t limit = emulator_.launch().context.idle_limit;
  std::uint64_t idle = 0;
  while (started_ < emulator_.blocks() || !running_.empty()) {
    if (running_.empty()) {
      running_.push_back(std::make_unique<Running>(emulator_.launch(), started_++, recording_));
    }
    // Each has its turn. The first alone, if it ends by itself, is the rule.
    bool progress = false;
    for (const auto& r : running_) {
      if (r->ended) continue;
      const std::uint64_t before = r->execution.count().instructions;
      r->ended = r->execution.run(std::min(running_.size() > 1 ? kShortPatience : kPatience, limit));
      progress = progress || r->ended || r->execution.made_progress();
      idle += r->execution.count().instructions - before;
      if (r == running_.front() && r->ended) break;
    }
    if (running_.front()->ended) {
      const auto first = std::move(running_.front());
      running_.erase(running_.begin());
      count_.instructions += first->execution.count().instructions;
      count_.thread_instructions += first->execution.count().thread_instructions;
      return first->record;
    }
    if (progress) idle = 0;
    const auto alive = static_cast<std::uint64_t>(
        std::count_if(running_.begin(), running_.end(), [](const auto& r) { return !r->ended; }));
    if (started_ < emulator_.blocks() && alive < resident_) {
      running_.push_back(std::make_unique<Running>(emulator_.launch(), started_++, recording_));
      idle = 0;
    } else if (idle > limit) {
      running_.front()->execution.fault_never_ends(idle);
    }
  }
  return nullptr;
}

bool blocks_are_independent(const isa::Program& program) {
  for (const isa::Instruction& i : program.code) {
    if (i.opcode == isa::Opcode::CALL && i.has("ABS")) return false;  // text and the heap have an order
    isa::MemoryForm form;
    if (isa::memory_form(i, form) && form.space != isa::Space::shared && form.space != isa::Space::local) {
      if (form.access == isa::Access::atomic || form.strong) return false;
    }
    switch (i.opcode) {
      case isa::Opcode::ATOM:
      case isa::Opcode::ATOMG:
      case isa::Opcode::MEMBAR:
      case isa::Opcode::FENCE:
      case isa::Opcode::ERRBAR:
      case isa::Opcode::RED:  // several threads would add at once
      case isa::Opcode::REDG: return false;
      default: break;
    }
    if (i.has("STRONG")) return false;
  }
  return true;
}

}  // namespace foretrace::emulate
