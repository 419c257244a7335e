#include "sim/engine/ideal.h"

#include <algorithm>
#include <bit>

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
    {"ideal.residency", "if registers and shared memory did not limit the resident blocks"},
    {"ideal.pipes", "if every arithmetic pipe took an instruction per cycle"},
    {"ideal.code", "if code and constants were always cached"},
    {"ideal.launch", "if blocks started and ended at once"},
}};

// Where moved data lie: far from what launches place, below the windows (model/work/address_space.h).
constexpr std::uint64_t kPlaces = 0x2000'0000'0000;
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
  for (std::uint32_t* bytes : {&spec.network.request_bytes, &spec.network.reply_bytes,
                               &spec.network.gpc_request_bytes, &spec.network.gpc_reply_bytes,
                               &spec.network.partition_bytes, &spec.l2.slice_bytes, &spec.l1.fill_bytes}) {
    *bytes *= kPlenty;
  }
  spec.l2.latency = 1;
  spec.l2.write_cost = 0.1;
  spec.l2.misses *= kPlenty;
  for (double* interval :
       {&spec.l2.atomic_interval, &spec.l2.atomic_wide_interval, &spec.l2.atomic_compare_interval,
        &spec.l2.atomic_float_interval, &spec.l2.atomic_double_interval, &spec.l2.atomic_lone_interval,
        &spec.l2.atomic_pass_interval}) {
    *interval = std::min(*interval, 0.01);
  }
  spec.l2.atomic_latency = 1;
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

bool is_plain(isa::Access access) { return access == isa::Access::load || access == isa::Access::store; }

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
    case Ideal::coalescing: break;
    case Ideal::dram: lift_dram(lifted.dram); break;
    case Ideal::l2: lift_l2(lifted); break;
    case Ideal::residency: lift_residency(lifted); break;
    case Ideal::pipes:
      for (const spec::Pipe pipe :
           {spec::Pipe::alu, spec::Pipe::alulite, spec::Pipe::fmaheavy, spec::Pipe::fmalite, spec::Pipe::fp16,
            spec::Pipe::fp64, spec::Pipe::xu, spec::Pipe::tensor}) {
        auto& interval = lifted.pipe[static_cast<std::size_t>(pipe)].interval;
        interval = std::min(interval, 1u);
      }
      for (auto& row : lifted.opcodes) {
        if (row.spec.pipes[0] < spec::Pipe::uniform) row.spec.interval = std::min(row.spec.interval, 1u);
      }
      break;
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
    const std::uint64_t address = addresses[static_cast<unsigned>(std::countr_zero(m))];
    key.append(reinterpret_cast<const char*>(&address), sizeof address);
  }
  const auto [it, fresh] = places_.try_emplace(std::move(key), next_place_);
  if (fresh) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(std::popcount(executed)) * form.bytes;
    next_place_ += (bytes + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
  }
  place(addresses, executed, form.bytes, it->second);
  return true;
}

work::WarpRecord IdealBlocks::moved(const work::WarpRecord& record) {
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
  for (const work::WarpRecord& warp : block->warps) result->warps.push_back(moved(warp));
  return result;
}

std::vector<Gain> gains(const std::string& trace, const spec::GpuSpec& spec, const LaunchShape& shape,
                        int threads) {
  std::vector<Gain> result;
  for (std::size_t i = 0; i < kIdeals; ++i) {
    const auto limit = static_cast<Ideal>(i);
    trace::TraceReader reader(trace);
    TracedBlocks traced(reader);
    Machine machine(std::make_shared<const spec::GpuSpec>(without(spec, limit)));
    RunOptions options;
    options.threads = threads;
    Outcome outcome;
    if (of_work(limit)) {
      IdealBlocks ideal(traced, *reader.program(), limit);
      outcome = machine.run(shape, ideal, options);
    } else {
      outcome = machine.run(shape, traced, options);
    }
    result.push_back({limit, outcome.counters.elapsed});
  }
  return result;
}

}  // namespace foretrace::engine
