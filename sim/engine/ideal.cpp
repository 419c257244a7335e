#include "sim/engine/ideal.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "model/rules/coalescing.h"
#include "model/rules/shared_banks.h"
#include "model/work/address_space.h"
#include "sim/engine/sources.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::engine {
namespace {

constexpr std::array<IdealText, kIdeals> kTexts = {{
    {"ideal.bank_conflicts", "without bank conflicts"},
    {"ideal.coalescing", "if every global access were coalesced"},
    {"ideal.dram", "if DRAM took no time"},
    {"ideal.l2", "if everything beyond L1 took no time"},
    {"ideal.memory_latency", "if L2, DRAM and the way to them had no latency"},
    {"ideal.residency", "if registers and shared memory did not limit the resident blocks"},
    {"ideal.shared_memory", "if shared memory took no room"},
    {"ideal.atomics", "if every atomic had a word of its own"},
    {"ideal.pipes", "if every arithmetic pipe took an instruction per cycle"},
    {"ideal.code", "if code and constants were always cached"},
    {"ideal.launch", "if blocks started and ended at once"},
}};

// Where moved data lie: far from what launches place, below the windows (model/work/address_space.h).
constexpr std::uint64_t kPlaces = 0x2000'0000'0000;
// Copies of what atomics work on: block b uses copy b mod 128.
constexpr std::uint64_t kCopies = 128;
// Times as wide, or as many, as anything that a launch can ask of.
constexpr std::uint32_t kPlenty = 64;

void lift_dram(spec::DramSpec& dram) {
  dram.latency = 1;
  dram.t_rcd = dram.t_rp = dram.t_cl = dram.t_ras = dram.t_wr = dram.t_rrd = 1;
  dram.read_to_write = dram.write_to_read = 0;
  dram.refresh_cycles = 1;
  dram.channel_bytes = std::max(dram.channel_bytes, dram.access_bytes);
  dram.queue *= kPlenty;
}

void lift_l2(spec::GpuSpec& spec) {
  lift_dram(spec.dram);
  spec.network.request_latency = spec.network.reply_latency = spec.network.partition_latency = 1;
  spec.network.cpc_step = spec.network.tpc_step = 0;
  for (std::uint32_t* bytes :
       {&spec.network.request_bytes, &spec.network.reply_bytes, &spec.network.cpc_request_bytes,
        &spec.network.partition_request_bytes, &spec.network.gpc_reply_bytes, &spec.network.partition_bytes,
        &spec.l2.slice_bytes, &spec.l1.fill_bytes}) {
    *bytes *= kPlenty;
  }
  spec.l2.latency = 1;
  spec.l2.write_cost = 0.1;
  spec.l2.line_turnaround = 0;
  spec.l2.tag_interval = 0;
  spec.l2.misses *= kPlenty;
  for (double* interval :
       {&spec.l2.atomic_interval, &spec.l2.atomic_wide_interval, &spec.l2.atomic_compare_interval,
        &spec.l2.atomic_float_interval, &spec.l2.atomic_double_interval, &spec.l2.atomic_lone_interval,
        &spec.l2.atomic_pass_interval}) {
    *interval = std::min(*interval, 0.01);
  }
  spec.l2.atomic_latency = 1;
}

/// What DRAM's banks take, and what each way carries, stays.
void lift_memory_latency(spec::GpuSpec& spec) {
  spec.dram.latency = spec.l2.latency = spec.l2.atomic_latency = 1;
  spec.network.request_latency = spec.network.reply_latency = spec.network.partition_latency = 1;
  spec.network.cpc_step = spec.network.tpc_step = 0;
}

void lift_pipes(spec::GpuSpec& spec) {
  for (const spec::Pipe pipe :
       {spec::Pipe::alu, spec::Pipe::alulite, spec::Pipe::fmaheavy, spec::Pipe::fmalite, spec::Pipe::fp16,
        spec::Pipe::fp64, spec::Pipe::xu, spec::Pipe::tensor}) {
    auto& interval = spec.pipe[static_cast<std::size_t>(pipe)].interval;
    interval = std::min(interval, 1u);
  }
  for (auto& row : spec.opcodes) {
    if (row.spec.pipes[0] < spec::Pipe::uniform) row.spec.interval = std::min(row.spec.interval, 1u);
  }
  spec.wgmma.columns *= kPlenty;
  spec.wgmma.shared_bytes *= kPlenty;
  spec.wgmma.register_interval = std::min(spec.wgmma.register_interval, 1u);
}

/// L1 keeps its size: the carve-outs grow by what is added to the unified memory.
void lift_residency(spec::GpuSpec& spec) {
  spec.limits.registers *= kPlenty;
  const std::uint32_t more =
      spec.limits.blocks * (spec.limits.shared_per_block + spec.limits.shared_reserved);
  const std::uint32_t largest = spec.l1.carveouts.back();
  spec.l1.unified_bytes += more;
  spec.l1.carveouts.push_back(largest + more);
}

void lift_code(spec::GpuSpec& spec) {
  spec.constant.l0_miss = spec.constant.l1_miss = 1;
  spec.gpc_cache.latency = spec.gpc_cache.miss_latency = spec.gpc_cache.constant_miss_latency = 1;
  spec.gpc_cache.interval = spec.gpc_cache.tpc_interval = 1;
  spec.gpc_cache.fill_bytes *= kPlenty;
  spec.fetch.first_latency = 1;
  spec.fetch.l1_bytes *= kPlenty;
}

void lift_launch(spec::LaunchSpec& launch) {
  launch.start = launch.sm_block_interval = launch.block_start = launch.block_end = launch.drain = 1;
  launch.fill_interval = launch.block_interval = launch.warp_interval = 0.01;
}

rules::SharedAccess bank_access(isa::Access access) {
  return access == isa::Access::store ? rules::SharedAccess::store
         : access == isa::Access::matrix_load || access == isa::Access::matrix_store
             ? rules::SharedAccess::matrix
             : rules::SharedAccess::load;
}

bool is_atomic(const isa::MemoryForm& form) {
  return (form.access == isa::Access::atomic || form.access == isa::Access::reduction) &&
         (form.atomic == isa::AtomicKind::plain || form.atomic == isa::AtomicKind::increment);
}

bool is_plain(isa::Access access) { return access == isa::Access::load || access == isa::Access::store; }

void append(std::string& key, std::uint64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// The executed lanes one behind the other, the first of them at `base`.
void place(work::LaneAddresses& addresses, std::uint32_t executed, std::uint32_t bytes, std::uint64_t base) {
  std::uint64_t at = base;
  for (std::uint32_t m = executed; m; m &= m - 1) {
    addresses[static_cast<unsigned>(std::countr_zero(m))] = at;
    at += bytes;
  }
}

}  // namespace

const IdealText& text_of(Ideal limit) { return kTexts[static_cast<std::size_t>(limit)]; }

spec::GpuSpec without(const spec::GpuSpec& spec, Ideal limit) {
  spec::GpuSpec lifted = spec;
  switch (limit) {
    case Ideal::bank_conflicts:
    case Ideal::coalescing:
    case Ideal::shared_memory:
    case Ideal::atomics: break;
    case Ideal::dram: lift_dram(lifted.dram); break;
    case Ideal::l2: lift_l2(lifted); break;
    case Ideal::memory_latency: lift_memory_latency(lifted); break;
    case Ideal::residency: lift_residency(lifted); break;
    case Ideal::pipes: lift_pipes(lifted); break;
    case Ideal::code: lift_code(lifted); break;
    case Ideal::launch: lift_launch(lifted.launch); break;
  }
  return lifted;
}

IdealBlocks::IdealBlocks(work::BlockSource& source, const isa::Program& program, Ideal limit)
    : source_(source), shapes_(program), limit_(limit), next_place_(kPlaces) {
  forms_.resize(program.code.size());
  for (std::size_t i = 0; i < program.code.size(); ++i)
    forms_[i].memory = isa::memory_form(program.code[i], forms_[i].form);
}

bool IdealBlocks::without_conflicts(const isa::MemoryForm& form, std::uint32_t executed,
                                    work::LaneAddresses& addresses) {
  const bool matrix = form.access == isa::Access::matrix_load || form.access == isa::Access::matrix_store;
  if (!is_plain(form.access) && !matrix) return false;
  const std::uint64_t first = addresses[static_cast<unsigned>(std::countr_zero(executed))];
  if (form.space != isa::Space::shared &&
      !(form.space == isa::Space::generic && work::is_shared_window(first))) {
    return false;
  }
  const rules::SharedCost cost =
      rules::shared_cost(addresses, executed, form.bytes, bank_access(form.access), form.matrices);
  if (cost.wavefronts <= cost.ideal) return false;
  place(addresses, executed, form.bytes, first / kLineBytes * kLineBytes);
  return true;
}

/// Lanes that ask for scattered bytes get them one behind the other. The same bytes, asked for again in the same way, lie at the same
/// place, so that the launch touches as many different bytes as before.
bool IdealBlocks::coalesced(const isa::MemoryForm& form, std::uint32_t executed,
                            work::LaneAddresses& addresses) {
  if (!is_plain(form.access)) return false;
  const std::uint64_t first = addresses[static_cast<unsigned>(std::countr_zero(executed))];
  if (form.space != isa::Space::global &&
      !(form.space == isa::Space::generic && !work::is_shared_window(first) &&
        !work::is_local_window(first))) {
    return false;
  }
  rules::Coalesced found;
  rules::coalesce(addresses, executed, form.bytes, found);
  if (found.sectors <= rules::ideal_sectors(addresses, executed, form.bytes)) return false;
  std::string key;
  key.reserve(static_cast<std::size_t>(std::popcount(executed)) * sizeof(std::uint64_t));
  for (std::uint32_t m = executed; m; m &= m - 1) {
    append(key, addresses[static_cast<unsigned>(std::countr_zero(m))]);
  }
  place(addresses, executed, form.bytes,
        place_of(std::move(key), static_cast<std::uint64_t>(std::popcount(executed)) * form.bytes));
  return true;
}

std::uint64_t IdealBlocks::place_of(std::string key, std::uint64_t bytes) {
  const auto [it, fresh] = places_.try_emplace(std::move(key), next_place_);
  if (fresh) next_place_ += (bytes + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
  return it->second;
}

/// Lane l of a warp has the l-th word of what its warp of its block's copy has for this instruction.
void IdealBlocks::alone(const Warp& warp, std::uint32_t index, std::uint32_t executed,
                        work::LaneAddresses& addresses) {
  const isa::MemoryForm& form = forms_[index].form;
  const std::uint64_t first = addresses[static_cast<unsigned>(std::countr_zero(executed))];
  std::uint64_t base = first / kLineBytes * kLineBytes;
  if (form.space == isa::Space::global || (form.space == isa::Space::generic &&
                                           !work::is_shared_window(first) && !work::is_local_window(first))) {
    std::string key;
    for (const std::uint64_t part : {warp.block % kCopies, warp.number, std::uint64_t{index}})
      append(key, part);
    base = place_of(std::move(key), std::uint64_t{kWarpSize} * form.bytes);
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) addresses[lane] = base + std::uint64_t{lane} * form.bytes;
}

work::WarpRecord IdealBlocks::moved(const work::WarpRecord& record, const Warp& warp) {
  work::WarpRecord result;
  work::WarpRecorder recorder(shapes_, result);
  work::WarpCursor cursor(shapes_, record);
  work::Step step;
  std::array<work::LaneAddresses, 2> sets;
  while (cursor.next(step)) {
    const work::Shape& shape = shapes_.of[step.index];
    const Form& form = forms_[step.index];
    const std::size_t count = step.executed ? shape.addresses : 0;
    for (std::size_t i = 0; i < count; ++i) cursor.addresses(static_cast<int>(i), sets[i]);
    if (count == 1 && form.memory) {
      if (limit_ == Ideal::bank_conflicts) {
        without_conflicts(form.form, step.executed, sets[0]);
      } else if (limit_ == Ideal::atomics) {
        // What other warps wait for stays where they look for it.
        if (is_atomic(form.form) && !shape.tells && !shape.counts && !shape.waits)
          alone(warp, step.index, step.executed, sets[0]);
      } else {
        coalesced(form.form, step.executed, sets[0]);
      }
    }
    recorder.record(step.index, step.active, step.executed, std::span(sets).first(count), step.value,
                    shape.waits ? cursor.awaited() : std::span<const work::Awaited>(),
                    shape.transfers && step.executed ? &cursor.transfer() : nullptr);
  }
  recorder.finish();
  return result;
}

std::shared_ptr<const work::BlockRecord> IdealBlocks::next() {
  const std::shared_ptr<const work::BlockRecord> block = source_.next();
  if (!block) return nullptr;
  FORETRACE_ASSERT(!block->rest, "the record of a block that is to be moved is complete");
  auto result = std::make_shared<work::BlockRecord>();
  result->block = block->block;
  for (std::uint64_t i = 0; i < block->warps.size(); ++i)
    result->warps.push_back(moved(block->warps[i], {block->block, i}));
  return result;
}

namespace {

/// Whether the limit can be one of this kernel's at all.
bool concerns(Ideal limit, const isa::Program& program, const Launch& shape) {
  if (limit == Ideal::shared_memory) return program.static_shared + shape.dynamic_shared > 0;
  if (!of_work(limit)) return true;
  return std::any_of(program.code.begin(), program.code.end(), [&](const isa::Instruction& instruction) {
    isa::MemoryForm form;
    if (!isa::memory_form(instruction, form)) return false;
    if (limit == Ideal::atomics) return is_atomic(form);
    if (form.space == isa::Space::generic) return true;
    return form.space == (limit == Ideal::coalescing ? isa::Space::global : isa::Space::shared);
  });
}

/// The launch as if it asked for no shared memory.
Launch without_shared_memory(const Launch& shape) {
  auto program = std::make_shared<isa::Program>(*shape.program);
  program->static_shared = 0;
  Launch result = shape;
  result.program = std::move(program);
  result.dynamic_shared = 0;
  return result;
}

std::uint64_t cycles_on(const spec::GpuSpec& spec, work::BlockSource& blocks, const Launch& shape,
                        const RunOptions& options) {
  return Machine(std::make_shared<const spec::GpuSpec>(spec)).run(shape, blocks, options).counters.elapsed;
}

std::uint64_t cycles_without(Ideal limit, const std::string& trace, const spec::GpuSpec& spec,
                             const Launch& shape, const RunOptions& options) {
  trace::TraceReader reader(trace);
  TracedBlocks traced(reader);
  if (of_work(limit)) {
    IdealBlocks ideal(traced, *reader.program(), limit);
    return cycles_on(spec, ideal, shape, options);
  }
  return cycles_on(without(spec, limit), traced,
                   limit == Ideal::shared_memory ? without_shared_memory(shape) : shape, options);
}

std::uint64_t cycles_as_it_is(const std::string& trace, const spec::GpuSpec& spec, const Launch& shape,
                              const RunOptions& options) {
  trace::TraceReader reader(trace);
  TracedBlocks traced(reader);
  return cycles_on(spec, traced, shape, options);
}

}  // namespace

std::vector<Gain> gains(const std::string& trace, const spec::GpuSpec& spec, const Launch& shape,
                        const RunOptions& options) {
  std::optional<std::uint64_t> as_it_is;
  std::vector<Gain> result;
  for (std::size_t i = 0; i < kIdeals; ++i) {
    const auto limit = static_cast<Ideal>(i);
    if (concerns(limit, *shape.program, shape)) {
      result.push_back({limit, cycles_without(limit, trace, spec, shape, options)});
      continue;
    }
    if (!as_it_is) as_it_is = cycles_as_it_is(trace, spec, shape, options);
    result.push_back({limit, *as_it_is});
  }
  return result;
}

}  // namespace foretrace::engine
