#include "model/work/warp_record.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "model/isa/asynchronous.h"
#include "model/isa/indexed_constants.h"
#include "model/isa/operands.h"
#include "model/units/error.h"
#include "model/work/numbers.h"

namespace foretrace::work {

namespace {

// First byte of an address set in `details`.
constexpr std::uint8_t kSameStep = 0;   // same lane pattern, base moved as it did last time
constexpr std::uint8_t kSameShape = 1;  // same lane pattern; zigzag varint: move of the base
constexpr std::uint8_t kExplicit =
    2;  // zigzag varint: first executed lane against the last base; then lane against lane
constexpr std::uint8_t kRegular = 8;  // + log2 width: zigzag varints inner, outer, move of the base

// Guard outcomes in `details`.
constexpr std::uint8_t kNoLane = 0, kAllActive = 1, kLanes = 2;

void put_mask(std::vector<std::uint8_t>& out, std::uint32_t mask) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(mask >> (8 * i)));
}

std::uint64_t at(const AddressPattern& p, unsigned lane) {
  const unsigned width = 1u << p.log2_width;
  return p.base + static_cast<std::uint64_t>(static_cast<std::int64_t>(lane & (width - 1)) * p.inner) +
         static_cast<std::uint64_t>(static_cast<std::int64_t>(lane >> p.log2_width) * p.outer);
}

bool fits(const AddressPattern& p, const LaneAddresses& a, std::uint32_t executed) {
  if (executed == ~0u) {
    std::uint64_t wrong = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) wrong |= a[lane] ^ at(p, lane);
    return wrong == 0;
  }
  for (std::uint32_t m = executed; m; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (a[lane] != at(p, lane)) return false;
  }
  return true;
}

/// A regular pattern through the executed lanes, if there is one.
bool find_pattern(const LaneAddresses& a, std::uint32_t executed, AddressPattern& p) {
  const auto first = static_cast<unsigned>(std::countr_zero(executed));
  const std::uint32_t rest = executed & (executed - 1);
  if (rest == 0) {
    p = {a[first], 0, 0, 5, true};
    return true;
  }
  const auto second = static_cast<unsigned>(std::countr_zero(rest));
  const auto distance = static_cast<std::int64_t>(a[second] - a[first]);
  const auto gap = static_cast<std::int64_t>(second - first);
  const std::int64_t inner = distance / gap;
  if (inner * gap == distance) {
    // One stride as far as it goes; where it breaks on a power-of-two lane, a second stride may carry on.
    p = {a[first] - static_cast<std::uint64_t>(inner * static_cast<std::int64_t>(first)), inner, 0, 5, true};
    unsigned broke = kWarpSize;
    for (std::uint32_t m = executed; m; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (a[lane] != p.base + static_cast<std::uint64_t>(static_cast<std::int64_t>(lane) * inner)) {
        broke = lane;
        break;
      }
    }
    if (broke == kWarpSize) return true;
    if (std::has_single_bit(broke)) {
      p.log2_width = static_cast<std::uint8_t>(std::countr_zero(broke));
      p.outer = static_cast<std::int64_t>(a[broke] - p.base);
      return fits(p, a, executed);
    }
  }
  return false;
}

}  // namespace

Shapes::Shapes(const isa::Program& program)
    : loops(isa::spin_loops(program)), retries(isa::retry_loops(program)) {
  of.resize(program.code.size());
  for (std::size_t i = 0; i < of.size(); ++i) {
    const isa::Instruction& instruction = program.code[i];
    Shape& shape = of[i];
    shape.guarded = instruction.guarded();
    isa::MemoryForm form;
    const bool is_access = isa::memory_form(instruction, form);
    if (isa::starts_transfer(instruction)) {
      shape.transfers = true;
      shape.slot = static_cast<std::uint16_t>(transfers++);
    } else if (isa::indexes_constants(instruction)) {
      shape.addresses = 1;
      shape.slot = static_cast<std::uint16_t>(slots);
      slots += shape.addresses;
    } else if (is_access || isa::barrier_use(instruction) == isa::BarrierUse::init) {
      shape.addresses = is_access ? form.address_sets : std::uint8_t{2};
      shape.slot = static_cast<std::uint16_t>(slots);
      slots += shape.addresses;
    }
    const bool register_operand = !instruction.operands.empty() &&
                                  instruction.operands[0].kind == isa::OperandKind::register_ &&
                                  instruction.operands[0].index != isa::kRz;
    shape.tells = !loops.empty() && (isa::tells_memory(instruction) ||
                                     isa::tells_behind_fence(program, static_cast<std::uint32_t>(i)));
    shape.counts = shape.tells && isa::counts_memory(instruction);
    shape.value = (register_operand && instruction.opcode == isa::Opcode::NANOSLEEP) ||
                  isa::barrier_in_registers(instruction) || isa::looks_up_texture(instruction.opcode) ||
                  isa::compares_lanes(instruction);
  }
  if (!loops.empty()) loop_of.resize(of.size());
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const isa::SpinLoop& loop = loops[l];
    for (std::uint32_t i = std::min(loop.first, loop.early); i <= loop.last; ++i) {
      loop_of[i] = static_cast<std::uint16_t>(l + 1);
      of[i].waits = loop.holds(i) && isa::asks_memory(program.code[i]);
    }
  }
  if (!retries.empty()) retry_of.resize(of.size());
  for (std::size_t r = 0; r < retries.size(); ++r) {
    for (std::uint32_t i = retries[r].first; i <= retries[r].last; ++i)
      retry_of[i] = static_cast<std::uint16_t>(r + 1);
    of[retries[r].swap].value = true;
  }
  for (Shape& shape : of) {
    shape.details = shape.guarded || shape.addresses != 0 || shape.value || shape.transfers || shape.waits;
  }
  FORETRACE_ASSERT(slots < 65536, "a program has fewer than 65536 memory instructions");
}

WarpRecorder::WarpRecorder(const Shapes& shapes, WarpRecord& record)
    : shapes_(shapes), record_(&record), last_(shapes.slots), transfers_(shapes.transfers) {}

void WarpRecorder::close_run() {
  if (run_.count == 0) return;
  // Bit 0 of the first varint says that a new active mask follows; the rest is the jump from the expected index.
  const bool new_mask = run_.mask != run_.written_mask;
  const auto jump = static_cast<std::int64_t>(run_.start) - static_cast<std::int64_t>(run_.expected);
  put(record_->runs, zigzag(jump) << 1 | (new_mask ? 1u : 0u));
  if (new_mask) put_mask(record_->runs, run_.mask);
  put(record_->runs, run_.count);
  run_.written_mask = run_.mask;
  run_.expected = run_.next;
  run_.count = 0;
}

void WarpRecorder::record(std::uint32_t index, std::uint32_t active, std::uint32_t executed,
                          std::span<const LaneAddresses> addresses, std::uint32_t value,
                          std::span<const Awaited> awaited, const Transfer* transfer) {
  if (run_.count == 0 || index != run_.next || active != run_.mask) {
    close_run();
    run_.start = index;
    run_.mask = active;
  }
  run_.next = index + 1;
  ++run_.count;
  ++record_->instructions;
  record_->thread_instructions += static_cast<unsigned>(std::popcount(active));
  const Shape& shape = shapes_.of[index];
  FORETRACE_ASSERT(shape.guarded || executed == active, "only a guard keeps active lanes from executing");
  if (shape.guarded) {
    if (executed == 0) {
      record_->details.push_back(kNoLane);
    } else if (executed == active) {
      record_->details.push_back(kAllActive);
    } else {
      record_->details.push_back(kLanes);
      put_mask(record_->details, executed);
    }
  }
  if (executed == 0) return;
  if (shape.value) put(record_->details, value);
  if (shape.transfers) {
    static const Transfer kNothing;
    append_transfer(record_->details, transfer ? *transfer : kNothing, transfers_[shape.slot]);
    transfers_[shape.slot] = transfer ? *transfer : kNothing;
  }
  for (unsigned i = 0; i < shape.addresses; ++i) {
    if (marking_) marked_.last.emplace_back(shape.slot + i, last_[shape.slot + i]);
    write_addresses(addresses[i], executed, last_[shape.slot + i]);
  }
  if (!shape.waits) return;
  put(record_->details, awaited.size());
  for (const Awaited& each : awaited) {
    put(record_->details,
        each.count != 0 ? 2 * std::uint64_t{each.count} + 1 : 2 * std::uint64_t{each.by.block});
    put(record_->details,
        each.count != 0 ? each.word : each.by.number * Signal::kWarps + std::uint64_t{each.by.warp});
  }
}

void WarpRecorder::mark() {
  marked_.runs = record_->runs.size();
  marked_.details = record_->details.size();
  marked_.instructions = record_->instructions;
  marked_.thread_instructions = record_->thread_instructions;
  marked_.last.clear();
  marked_.transfers = transfers_;
  marked_.run = run_;
  marking_ = true;
}

void WarpRecorder::take_back() {
  FORETRACE_ASSERT(marking_, "what comes after a mark is taken back");
  record_->runs.resize(marked_.runs);
  record_->details.resize(marked_.details);
  record_->instructions = marked_.instructions;
  record_->thread_instructions = marked_.thread_instructions;
  for (auto slot = marked_.last.rbegin(); slot != marked_.last.rend(); ++slot)
    last_[slot->first] = slot->second;
  marked_.last.clear();
  transfers_ = marked_.transfers;
  run_ = marked_.run;
}

void WarpRecorder::write_addresses(const LaneAddresses& addresses, std::uint32_t executed, Last& last) {
  AddressPattern p = last.pattern;
  const auto first = static_cast<unsigned>(std::countr_zero(executed));
  if (p.regular) {
    p.base += addresses[first] - at(p, first);
    if (fits(p, addresses, executed)) {
      const auto step = static_cast<std::int64_t>(p.base - last.pattern.base);
      if (step == last.step) {
        record_->details.push_back(kSameStep);
      } else {
        record_->details.push_back(kSameShape);
        put(record_->details, zigzag(step));
      }
      last = {p, step};
      return;
    }
  }
  if (find_pattern(addresses, executed, p)) {
    const auto step = static_cast<std::int64_t>(p.base - last.pattern.base);
    record_->details.push_back(static_cast<std::uint8_t>(kRegular + p.log2_width));
    put(record_->details, zigzag(p.inner));
    put(record_->details, zigzag(p.outer));
    put(record_->details, zigzag(step));
    last = {p, step};
    return;
  }
  record_->details.push_back(kExplicit);
  std::uint64_t previous = last.pattern.base;
  for (std::uint32_t m = executed; m; m &= m - 1) {
    const std::uint64_t address = addresses[static_cast<unsigned>(std::countr_zero(m))];
    put(record_->details, zigzag(static_cast<std::int64_t>(address - previous)));
    previous = address;
  }
  last = {{addresses[first], 0, 0, 5, false}, 0};
}

void WarpRecorder::finish() { close_run(); }

void WarpRecorder::go_on_in(WarpRecord& record) {
  close_run();
  unmark();
  record_ = &record;
}

WarpCursor::WarpCursor(const Shapes& shapes, const WarpRecord& record)
    : shapes_(&shapes), last_(shapes.slots), transfers_(shapes.transfers) {
  go_on_with(record);
}

void WarpCursor::go_on_with(const WarpRecord& record) {
  record_ = &record;
  runs_ = record.runs.data();
  runs_end_ = runs_ + record.runs.size();
  details_ = record.details.data();
  details_end_ = details_ + record.details.size();
}

void WarpCursor::damaged(const char* what) const {
  throw InputError(fmt::format("warp record: {} at run byte {}, detail byte {}; expected a complete record",
                               what, runs_ - record_->runs.data(), details_ - record_->details.data()));
}

std::uint64_t WarpCursor::varint(const std::uint8_t*& p, const std::uint8_t* end) {
  std::uint64_t v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (p == end) damaged("number cut short");
    const std::uint8_t byte = *p++;
    v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return v;
  }
  damaged("number of more than 64 bits");
}

namespace {
std::uint32_t get_mask(const std::uint8_t* p) {
  return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
         static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24;
}
}  // namespace

bool WarpCursor::next_of_any(Step& step) {
  if (left_ == 0) {
    if (runs_ == runs_end_) {
      if (details_ != details_end_) damaged("details left over");
      return false;
    }
    const std::uint64_t head = varint(runs_, runs_end_);
    next_index_ = static_cast<std::uint32_t>(static_cast<std::int64_t>(next_index_) + unzigzag(head >> 1));
    if (head & 1) {
      if (runs_end_ - runs_ < 4) damaged("active mask cut short");
      mask_ = get_mask(runs_);
      runs_ += 4;
    }
    left_ = static_cast<std::uint32_t>(varint(runs_, runs_end_));
    if (left_ == 0) damaged("empty run");
    if (std::uint64_t{next_index_} + left_ > shapes_->of.size()) damaged("instruction outside the program");
  }
  --left_;
  step.index = next_index_++;
  look_ahead();
  step.active = mask_;
  step.executed = mask_;
  step.value = 0;
  const Shape& shape = shapes_->of[step.index];
  if (shape.guarded) {
    if (details_ == details_end_) damaged("guard outcome missing");
    switch (*details_++) {
      case kNoLane: step.executed = 0; return true;
      case kAllActive: break;
      case kLanes:
        if (details_end_ - details_ < 4) damaged("lane mask cut short");
        step.executed = get_mask(details_);
        details_ += 4;
        break;
      default: damaged("unknown guard outcome");
    }
  }
  if (shape.value) step.value = static_cast<std::uint32_t>(varint(details_, details_end_));
  for (int i = 0; i < shape.addresses; ++i)
    read_addresses(step.executed, last_[shape.slot + static_cast<unsigned>(i)], i);
  if (shape.transfers) {
    transfer_ = shape.slot;
    const std::uint8_t* after = read_transfer(details_, details_end_, transfers_[transfer_]);
    if (after == nullptr) damaged("copy missing or not understood");
    details_ = after;
  }
  if (shape.waits) read_awaited();
  return true;
}

void WarpCursor::read_awaited() {
  awaited_.clear();
  const std::uint64_t count = varint(details_, details_end_);
  if (count > 2 * kWarpSize) damaged("more writes awaited than lanes");
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = varint(details_, details_end_), second = varint(details_, details_end_);
    Awaited each;
    if (first & 1) {
      each.count = static_cast<std::uint32_t>(first >> 1);
      each.word = second;
    } else {
      each.by.block = static_cast<std::uint32_t>(first >> 1);
      each.by.warp = static_cast<std::uint32_t>(second) & (Signal::kWarps - 1);
      each.by.number = static_cast<std::uint32_t>(second / Signal::kWarps) & Signal::kLast;
    }
    awaited_.push_back(each);
  }
}

bool WarpCursor::one_address(std::uint32_t executed, std::uint64_t& address) const {
  LaneAddresses lanes;
  addresses(0, lanes);
  address = lanes[static_cast<unsigned>(std::countr_zero(executed))];
  for (std::uint32_t m = executed; m; m &= m - 1) {
    if (lanes[static_cast<unsigned>(std::countr_zero(m))] != address) return false;
  }
  return true;
}

void WarpCursor::read_addresses(std::uint32_t executed, Last& last, int which) {
  if (details_ == details_end_) damaged("addresses missing");
  const std::uint8_t kind = *details_++;
  if (kind == kSameStep) {
    last.pattern.base += static_cast<std::uint64_t>(last.step);
  } else if (kind == kSameShape) {
    last.step = unzigzag(varint(details_, details_end_));
    last.pattern.base += static_cast<std::uint64_t>(last.step);
  } else if (kind >= kRegular && kind <= kRegular + 5) {
    last.pattern.log2_width = static_cast<std::uint8_t>(kind - kRegular);
    last.pattern.inner = unzigzag(varint(details_, details_end_));
    last.pattern.outer = unzigzag(varint(details_, details_end_));
    last.step = unzigzag(varint(details_, details_end_));
    last.pattern.base += static_cast<std::uint64_t>(last.step);
    last.pattern.regular = true;
  } else if (kind == kExplicit) {
    std::uint64_t address = last.pattern.base;
    if (irregular_.empty()) irregular_.resize(current_.size());
    LaneAddresses& lanes = irregular_[static_cast<std::size_t>(which)];
    bool first = true;
    for (std::uint32_t m = executed; m; m &= m - 1) {
      address += static_cast<std::uint64_t>(unzigzag(varint(details_, details_end_)));
      lanes[static_cast<unsigned>(std::countr_zero(m))] = address;
      if (first) last = {{address, 0, 0, 5, false}, 0};
      first = false;
    }
  } else {
    damaged("unknown kind of addresses");
  }
  current_[static_cast<std::size_t>(which)] = last.pattern;
}

void WarpCursor::addresses(int which, LaneAddresses& out) const {
  const AddressPattern& p = current_[static_cast<std::size_t>(which)];
  if (!p.regular) {
    out = irregular_[static_cast<std::size_t>(which)];
    return;
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) out[lane] = at(p, lane);
}

}  // namespace foretrace::work
