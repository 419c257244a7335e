#include "sim/emulate/emulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "model/isa/asynchronous.h"
#include "model/isa/operands.h"
#include "model/isa/product_flow.h"
#include "sim/emulate/execute/device_runtime.h"
#include "sim/emulate/schedule/block.h"
#include "sim/emulate/schedule/cluster.h"
#include "sim/emulate/tensor/products.h"

namespace foretrace::emulate {

namespace {

/// Offsets of what the driver puts into constant bank 0, as our cubins read it.
struct DriverArea {
  std::uint32_t block, grid, stack, dynamic_shared, local_window, shared_window, explicit_cluster, cluster,
      descriptor,
      sms,              ///< of the chip (%nsmid)
      workspace,        ///< of a cooperative launch: high word (envreg1), then low word (envreg2)
      cluster_inverse,  ///< three floats: a block's index times them, cut to an integer, is the cluster's
      cluster_grid,     ///< clusters in the grid
      cluster_blocks,   ///< blocks in the cluster
      parameters;       ///< generic address of the first parameter
  std::uint32_t
      parameters_modulo;  ///< what that address is modulo 64, so that an aligned tensor map among them is aligned in memory
  std::uint32_t constants;  ///< generic address of the program's constant variables
  std::uint32_t graph;      ///< the graph's instance (%current_graph_exec)
};
constexpr std::uint32_t kAbsent = ~0u;
constexpr DriverArea kSm80 = {0x0,   0xc,  0x28,    0x2c,    0x20,    0x18,    kAbsent, kAbsent, 0x118,
                              0x10c, 0x8c, kAbsent, kAbsent, kAbsent, kAbsent, 0,       0x50,    0x130};
constexpr DriverArea kSm90 = {0x0,   0xc,  0x28,  0x2c,  0x20,  0x18,  0x140, 0x144, 0x208,
                              0x10c, 0x44, 0x150, 0x15c, 0x188, 0x198, 0x10,  0xd0,  0x190};
constexpr DriverArea kSm120 = {0x360, 0x370, 0x37c, 0x2ac, 0x2f8, kAbsent, 0x36c, 0x2a0, 0x358,
                               0x2d0, 0x254, 0x2b0, 0x2c0, 0x2cc, 0x348,   0,     0x120, 0x2e8};

/// The same of the part of a block's shared memory that is the system's: below the block's own from sm_90 on, else behind it.
struct SystemShared {
  std::uint32_t bytes,  ///< how much
      all,              ///< a block's shared memory, the system's included
      end, begin;       ///< where it lies, if behind
};
constexpr SystemShared kShared80 = {0x114, kAbsent, 0x120, 0x124};
constexpr SystemShared kShared90 = {0x114, 0x13c, kAbsent, kAbsent};
constexpr SystemShared kShared120 = {0x16c, 0x2bc, kAbsent, kAbsent};

const SystemShared& system_shared(const isa::Program& program) {
  if (program.shared_base == 0) return kShared80;
  return program.sm == 90 ? kShared90 : kShared120;
}

const DriverArea& driver_area(const isa::Program& program) {
  switch (program.sm) {
    case 80:
    case 86:
    case 89: return kSm80;
    case 90: return kSm90;
    case 100:
    case 120: return kSm120;
    default:
      throw InputError(fmt::format(
          "kernel {}: sm_{} is not an architecture that the emulator knows (80, 86, 89, 90, 100, 120)",
          program.kernel, program.sm));
  }
}

constexpr std::uint64_t kWorkspaceBytes = 4096;
constexpr std::uint64_t kLargestCluster =
    16;  ///< blocks: what a kernel may ask for at most (CUDA C++ Programming Guide)

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

AsksFor asks_for(const isa::Program& program, const DriverArea& area) {
  const auto reads = [&](std::uint32_t offset) {
    return offset != kAbsent && reads_constant(program, offset);
  };
  const SystemShared& shared = system_shared(program);
  return {reads(area.workspace), reads(area.parameters),
          program.shared_base == 0 && (reads(shared.begin) || reads(shared.end) || reads(shared.bytes))};
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

/// Whether code calls a function that takes memory from the device's heap. `bank`: of addresses.
bool needs_heap(const std::vector<std::byte>& bank) {
  const auto asks = [&](std::string_view name) { return asks_for(bank, driver_function_address(name)); };
  return asks("malloc") ||
         std::any_of(kDeviceFunctions.begin(), kDeviceFunctions.end(), [&](const DeviceFunction& function) {
           return takes_heap(function.call) && asks(function.name);
         });
}

void check(const LaunchContext& c) {
  const isa::Program& p = *c.program;
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("kernel {}: {}", p.kernel, what));
  };
  if (c.grid.count() == 0 || c.block.count() == 0) refuse("a launch has at least one block of one thread");
  if (c.block.count() > 1024) refuse(fmt::format("{} threads per block; at most 1024", c.block.count()));
  const auto text = [](const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); };
  if (p.cluster[0] != 0 &&
      !(c.cluster.x == p.cluster[0] && c.cluster.y == p.cluster[1] && c.cluster.z == p.cluster[2])) {
    refuse(fmt::format("clusters of {} blocks asked for; it is compiled for {}", text(c.cluster),
                       text({p.cluster[0], p.cluster[1], p.cluster[2]})));
  }
  if (c.cluster.count() > kLargestCluster) {
    refuse(fmt::format("clusters of {} blocks; at most {}", c.cluster.count(), kLargestCluster));
  }
  if (c.cluster.count() > 1 && p.sm < 90) refuse(fmt::format("sm_{} has no clusters", p.sm));
  if (c.grid.x % c.cluster.x != 0 || c.grid.y % c.cluster.y != 0 || c.grid.z % c.cluster.z != 0) {
    refuse(fmt::format("a grid of {} blocks is not made of whole clusters of {}", text(c.grid),
                       text(c.cluster)));
  }
  if (c.parameters.size() != p.parameter_bytes) {
    refuse(fmt::format("{} bytes of parameters given; the kernel takes {}", c.parameters.size(),
                       p.parameter_bytes));
  }
}

std::shared_ptr<const Translation> translate(const isa::Program& program, Banks banks, const LaneTable& lanes,
                                             const AsksFor& asks, bool results_unused) {
  Translation built{compile(program, banks, lanes), work::Shapes(program), asks,
                    results_unused && !isa::products_decide(program)};
  for (std::size_t i = 0; built.without_products && i < program.code.size(); ++i) {
    MicroOp& op = built.compiled.code[i];
    const isa::Opcode opcode = program.code[i].opcode;
    if (op.kind != Kind::warp || !isa::multiplies_matrices(opcode)) continue;
    const bool of_a_warpgroup = opcode == isa::Opcode::HGMMA || opcode == isa::Opcode::QGMMA ||
                                opcode == isa::Opcode::IGMMA || opcode == isa::Opcode::BGMMA;
    op.warp = of_a_warpgroup ? pass_product : [](Execution&, const MicroOp&, std::uint32_t) {};
  }
  for (const isa::RetryLoop& loop : built.shapes.retries)
    built.compiled.code[loop.swap].value_recorded = true;
  auto made = std::make_shared<const Translation>(std::move(built));
  for (std::size_t i = 0; i < made->compiled.code.size(); ++i) {
    const MicroOp& op = made->compiled.code[i];
    FORETRACE_ASSERT(op.kind == Kind::unsupported || (op.address_sets == made->shapes.of[i].addresses &&
                                                      op.value_recorded == made->shapes.of[i].value),
                     "the emulator records what the record's shape of an instruction asks for");
  }
  return made;
}

/// How each instruction accesses memory, for the checks; load where it does not.
std::vector<isa::Access> accesses_of(const isa::Program& program) {
  std::vector<isa::Access> accesses(program.code.size(), isa::Access::load);
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    isa::MemoryForm form;
    const isa::Instruction& in = program.code[i];
    if (isa::memory_form(in, form)) accesses[i] = form.access;
    if (in.opcode == isa::Opcode::UMEMSETS) accesses[i] = isa::Access::store;
    if (!isa::starts_transfer(in)) continue;
    const bool loads =
        in.opcode == isa::Opcode::UTMALDG || (in.opcode == isa::Opcode::UBLKCP && in.modifiers.size() >= 2 &&
                                              in.modifiers[0] == "S" && in.modifiers[1] == "G");
    accesses[i] = loads ? isa::Access::async_copy : isa::Access::atomic;
  }
  return accesses;
}

}  // namespace

Emulator::Launch::Launch(const LaunchContext& from) : context(from) {
  const isa::Program& program = *context.program;
  // One compiled into the kernel need not be given.
  if (context.cluster.count() <= 1 && program.cluster[0] != 0) {
    context.cluster = {program.cluster[0], program.cluster[1], program.cluster[2]};
  }
  if (context.cluster.count() == 0) context.cluster = {1, 1, 1};
  check(context);
  if (context.idle_limit == kIdleLimit && context.cluster.count() == 1 && !blocks_may_wait(program))
    context.idle_limit = kLongestWork;
  lanes = &lane_table();
  local_bytes = (std::max(context.local_bytes, program.local_bytes) + 15) / 16 * 16;
  number_threads();
  write_shape();

  const bool results_unused =
      context.results_unused && !context.checks.uninitialized && !context.checks.races;
  if (context.translation != nullptr) translation = *context.translation;
  if (translation && translation->without_products && !results_unused) translation = nullptr;
  const AsksFor asks = translation ? translation->asks : asks_for(program, driver_area(program));
  place_shared(asks);
  allocate_areas(asks);
  append_parameters();
  if (context.checks.uninitialized || context.checks.races) accesses = accesses_of(program);
  if (needs_heap(context.banks[4])) context.memory->heap().place(*context.memory);

  if (!translation) {
    translation = translate(program, context.banks, *lanes, asks, results_unused);
    if (context.translation != nullptr) *context.translation = translation;
  }
  literals = bind_literals(translation->compiled, context.banks);
}

void Emulator::Launch::number_threads() {
  threads = static_cast<std::uint32_t>(context.block.count());
  warps = (threads + 31) / 32;
  for (LaneWords& c : coordinates) c = LaneWords(std::size_t{warps} * 32);
  for (std::uint32_t t = 0; t < threads; ++t) {
    coordinates[0].data()[t] = t % context.block.x;
    coordinates[1].data()[t] = t / context.block.x % context.block.y;
    coordinates[2].data()[t] = t / context.block.x / context.block.y;
  }
}

void Emulator::Launch::write_shape() {
  const isa::Program& program = *context.program;
  const DriverArea& area = driver_area(program);
  std::vector<std::byte>& bank = context.banks[0];
  bank.assign(program.parameter_base, std::byte{0});
  put3(bank, area.block, context.block);
  put3(bank, area.grid, context.grid);
  put(bank, area.stack, local_bytes);
  put(bank, area.dynamic_shared, static_cast<std::uint32_t>(context.dynamic_shared));
  put64(bank, area.local_window, kLocalWindow);
  put64(bank, area.shared_window, kSharedWindow);
  const Dim3 c = context.cluster;
  const auto inverse =
      [](std::uint32_t n) {  // rounded up, so that the product never falls below the quotient
        const float nearest = 1.0f / static_cast<float>(n);
        return std::bit_cast<std::uint32_t>(std::has_single_bit(n) ? nearest : std::nextafter(nearest, 1.0f));
      };
  put(bank, area.explicit_cluster, c.count() > 1 ? 1 : 0);
  put3(bank, area.cluster, c);
  put3(bank, area.cluster_inverse, {inverse(c.x), inverse(c.y), inverse(c.z)});
  put3(bank, area.cluster_grid, {context.grid.x / c.x, context.grid.y / c.y, context.grid.z / c.z});
  put(bank, area.cluster_blocks, static_cast<std::uint32_t>(c.count()));
  put64(bank, area.descriptor, 0);
  put64(bank, area.constants, context.constants);
  put(bank, area.sms, context.sms);
  put64(bank, area.graph, context.device_runtime == nullptr ? 0 : context.device_runtime->graph());
}

void Emulator::Launch::place_shared(const AsksFor& asks) {
  const isa::Program& program = *context.program;
  std::vector<std::byte>& bank = context.banks[0];
  shared_bytes =
      static_cast<std::uint32_t>(program.shared_base + program.static_shared + context.dynamic_shared);
  const std::uint32_t given_out = shared_given_out();
  all_shared_bytes = given_out + (program.shared_base == 0 ? context.shared_reserved : 0);
  if (asks.system_shared) shared_bytes = all_shared_bytes;
  const SystemShared& shared = system_shared(program);
  put(bank, shared.bytes, context.shared_reserved);
  put(bank, shared.all, all_shared_bytes);
  put(bank, shared.end, all_shared_bytes);
  put(bank, shared.begin, given_out);
}

void Emulator::Launch::allocate_areas(const AsksFor& asks) {
  const DriverArea& area = driver_area(*context.program);
  std::vector<std::byte>& bank = context.banks[0];
  if (asks.workspace) {
    workspace = context.memory->allocate(kWorkspaceBytes, "grid workspace");
    context.memory->written().mark(workspace, kWorkspaceBytes);  // the driver gives it zeroed
    put(bank, area.workspace, static_cast<std::uint32_t>(workspace >> 32));
    put(bank, area.workspace + 4, static_cast<std::uint32_t>(workspace));
  }
  if (asks.parameter_address) {
    constexpr std::uint64_t kAlignment = 64;
    parameter_area = context.memory->allocate(context.parameters.size() + 2 * kAlignment, "parameters");
    const std::uint64_t address = parameter_area / kAlignment * kAlignment + area.parameters_modulo;
    context.memory->write(address, context.parameters);
    put64(bank, area.parameters, address);
  }
}

void Emulator::Launch::append_parameters() {
  const std::uint32_t base = context.program->parameter_base;
  if (base == 0) return;  // the cubin of a kernel without parameters does not say where they would be
  std::vector<std::byte>& bank = context.banks[0];
  bank.resize(std::max<std::size_t>(bank.size(), base));
  bank.insert(bank.begin() + base, context.parameters.begin(), context.parameters.end());
  bank.resize(base + (context.parameters.size() + 15) / 16 * 16);
}

Emulator::Launch::~Launch() {
  if (workspace != 0) context.memory->free(workspace);
  if (parameter_area != 0) context.memory->free(parameter_area);
}

Emulator::Emulator(const LaunchContext& context) : launch_(std::make_unique<Launch>(context)) {}
Emulator::~Emulator() = default;

std::uint64_t Emulator::blocks() const { return launch_->context.grid.count(); }

BlockCount Emulator::run_block(std::uint64_t block, work::BlockRecord* record) const {
  FORETRACE_ASSERT(block < blocks(), "a block that is run lies inside the grid");
  RunningBlock running(*launch_, block, record);
  const std::uint64_t limit = launch_->context.idle_limit;
  if (!running.run(limit)) running.fault_never_ends(limit);
  return running.count();
}

std::uint64_t Emulator::clusters() const { return blocks() / launch_->context.cluster.count(); }

BlockCount Emulator::run_cluster(std::uint64_t cluster,
                                 std::vector<std::shared_ptr<work::BlockRecord>>* records) const {
  FORETRACE_ASSERT(cluster < clusters(), "a cluster that is run lies inside the grid");
  Cluster running(*this, cluster, records != nullptr);
  const std::uint64_t limit = launch_->context.idle_limit;
  if (!running.run(limit, RunningBlock::kNoEnd, true)) running.block(0).fault_never_ends(limit);
  if (records != nullptr) {
    for (std::size_t rank = 0; rank < running.size(); ++rank) records->push_back(running.record(rank));
  }
  return running.count();
}

bool clusters_are_independent(const isa::Program& program) {
  return std::none_of(program.code.begin(), program.code.end(), [](const isa::Instruction& i) {
    if (i.opcode == isa::Opcode::CALL && i.has("ABS")) return true;  // text and the heap have an order
    isa::MemoryForm form;
    if (isa::memory_form(i, form) && form.space != isa::Space::shared && form.space != isa::Space::local) {
      if (form.access == isa::Access::atomic || form.strong) return true;
    }
    switch (i.opcode) {
      case isa::Opcode::ATOM:
      case isa::Opcode::ATOMG:
      case isa::Opcode::ERRBAR:
      case isa::Opcode::UBLKRED:
      case isa::Opcode::UTMAREDG:
      case isa::Opcode::RED:  // several threads would add at once
      case isa::Opcode::REDG: return true;
      case isa::Opcode::MEMBAR: return !i.has("CTA");
      case isa::Opcode::FENCE: return !i.has("VIEW");  // of one's own accesses by different ways
      default: return i.has("STRONG");
    }
  });
}

bool blocks_are_independent(const isa::Program& program) {
  return clusters_are_independent(program) &&
         std::none_of(program.code.begin(), program.code.end(), [](const isa::Instruction& i) {
           switch (i.opcode) {
             case isa::Opcode::MEMBAR:
             case isa::Opcode::FENCE:
             case isa::Opcode::UCGABAR_ARV:
             case isa::Opcode::UCGABAR_WAIT:
             case isa::Opcode::REDAS:
             case isa::Opcode::STAS: return true;
             default: return false;
           }
         });
}

bool may_run_at_once(const LaunchContext& context) {
  return !context.checks.uninitialized && !context.checks.races && clusters_are_independent(*context.program);
}

bool blocks_may_wait(const isa::Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const isa::Instruction& i) {
    if (i.opcode == isa::Opcode::ATOM || i.opcode == isa::Opcode::ATOMG || i.opcode == isa::Opcode::CCTL)
      return true;
    if (i.opcode == isa::Opcode::CALL && i.has("ABS")) return true;
    isa::MemoryForm form;
    if (!isa::memory_form(i, form) || form.space == isa::Space::shared || form.space == isa::Space::local)
      return false;
    return form.strong && form.access != isa::Access::store;
  });
}

}  // namespace foretrace::emulate
