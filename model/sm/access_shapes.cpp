#include "model/sm/access_shapes.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/rules/shared_banks.h"
#include "model/sm/memory_forms.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

using isa::Access;
using isa::Space;

namespace {

/// Local memory: word w of lane l of a warp stands at w * 128 + l * 4 of the warp's window, so that a warp that works on the same
/// variable touches whole lines. `written`: the bytes of each line that the lanes access.
void coalesce_local(const work::LaneAddresses& addresses, std::uint32_t executed, std::uint32_t bytes,
                    rules::Coalesced& out, rules::WrittenBytes& written) {
  out.count = 0;
  out.sectors = 0;
  const std::uint32_t words = divide_up(bytes, 4);
  const std::uint32_t ones = bytes >= 4 ? 0xfu : (1u << bytes) - 1;
  for (std::uint32_t m = executed; m; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    for (std::uint32_t word = 0; word < words; ++word) {
      const std::uint64_t line = addresses[lane] / 4 + word;
      const auto sector = static_cast<std::uint8_t>(1u << (lane / 8));
      std::uint32_t i = 0;
      while (i < out.count && out.lines[i].line != line) ++i;
      if (i == rules::Coalesced::kMaxLines) continue;
      if (i == out.count) out.lines[out.count++] = {line, 0, 0}, written[i] = {};
      if (!(out.lines[i].sectors & sector)) ++out.sectors;
      out.lines[i].sectors = static_cast<std::uint8_t>(out.lines[i].sectors | sector);
      ++out.lines[i].lanes;
      written[i][lane / 8] |= ones << (lane % 8 * 4 + addresses[lane] % 4);
    }
  }
}

rules::SharedAccess bank_access(const isa::MemoryForm& form) {
  switch (form.access) {
    case Access::matrix_load:
    case Access::matrix_store: return rules::SharedAccess::matrix;
    case Access::atomic:
    case Access::reduction:
      if (form.atomic == isa::AtomicKind::increment) return rules::SharedAccess::increment;
      return form.atomic == isa::AtomicKind::attempt ? rules::SharedAccess::attempt
                                                     : rules::SharedAccess::atomic;
    case Access::store: return rules::SharedAccess::store;
    case Access::async_copy: return rules::SharedAccess::copy;
    default: return rules::SharedAccess::load;
  }
}

/// What the lanes of a lookup in a texture touch: their first and their last texels.
struct Texels {
  work::LaneAddresses first, last;
  std::uint32_t bytes = 0;
  void touched(std::uint32_t lanes, rules::Coalesced& out) const {
    rules::coalesce(first, lanes, bytes, out);
    rules::Coalesced others;
    rules::coalesce(last, lanes, bytes, others);
    rules::join(out, others);
  }
};

/// ncu counts a request for each four lanes, with its sectors; those that another four have asked for are hits (H100, textures).
void count_lookup(const Texels& texels, std::uint32_t executed, std::uint32_t sectors,
                  stats::LaunchCounters& counters) {
  for (std::uint32_t quad = 0xf; quad != 0; quad <<= 4) {
    if ((executed & quad) == 0) continue;
    rules::Coalesced own;
    texels.touched(executed & quad, own);
    ++counters.l1_requests_texture;
    counters.l1_sectors_texture += own.sectors;
    counters.l1_hits_texture += own.sectors;
  }
  counters.l1_hits_texture -= sectors;  // counted where they are looked up
}

/// Lanes of an asynchronous copy that read: the others write zeros (LDGSTS with its predicate false, .ZFILL of nothing). H100: a copy
/// of zeros alone makes no request (validate/triton_second, decode).
std::uint32_t reading_lanes(const work::LaneAddresses& addresses, std::uint32_t executed) {
  std::uint32_t reading = executed;
  for (std::uint32_t m = executed; m; m &= m - 1) {
    if (addresses[static_cast<std::size_t>(std::countr_zero(m))] == work::kNoAddress) reading &= ~(m & -m);
  }
  return reading;
}

/// The requests of a copy past L1: each is of the lanes whose line, whose line of shared memory and whose exclusive or of the places in
/// both are alike (H100, copy_passes: rows as they are or swizzled have a request per line, 16 bytes per lane to places 32 bytes and more
/// apart one per lane). Of lanes that write over each other the last alone reads. Returns its sectors as l1tex counts them: of each line
/// once for each sector's worth of shared memory.
std::uint32_t past_l1(const work::LaneAddresses& from, const work::LaneAddresses& to, std::uint32_t reading,
                      rules::Coalesced& out) {
  struct Way {
    std::uint64_t line, to_line, turn;
    bool operator==(const Way&) const = default;
  };
  std::array<Way, kWarpSize> ways;
  std::array<std::pair<std::uint64_t, std::uint64_t>, kWarpSize> places;
  std::size_t different = 0;
  out.count = out.sectors = 0;
  for (std::uint32_t m = reading; m; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    bool last = true;
    for (std::uint32_t n = m & (m - 1); n && last; n &= n - 1)
      last = to[static_cast<std::size_t>(std::countr_zero(n))] != to[lane];
    if (!last) continue;
    const Way way{from[lane] / kLineBytes, to[lane] / kLineBytes, (from[lane] ^ to[lane]) % kLineBytes};
    const auto at =
        static_cast<std::size_t>(std::find(ways.begin(), ways.begin() + out.count, way) - ways.begin());
    if (at == out.count) {
      ways[out.count] = way;
      out.lines[out.count++] = {way.line, 0, 0};
    }
    rules::LineAccess& line = out.lines[at];
    const auto sector = static_cast<std::uint8_t>(1u << (from[lane] % kLineBytes / kSectorBytes));
    out.sectors += (line.sectors & sector) == 0 ? 1 : 0;
    line.sectors = static_cast<std::uint8_t>(line.sectors | sector);
    ++line.lanes;
    const std::pair place{way.line, to[lane] / kSectorBytes};
    if (std::find(places.begin(), places.begin() + different, place) == places.begin() + different)
      places[different++] = place;
  }
  return static_cast<std::uint32_t>(different);
}

}  // namespace

AccessShapes::AccessShapes(const StaticProgram& program, const DataArray& array,
                           stats::LaunchCounters& counters)
    : program_(program), array_(array), counters_(counters), memo_(program.shapes.slots),
      memo_lines_(program.shapes.slots) {
  stores_here_ = std::any_of(program.code.begin(), program.code.end(), [](const StaticInstruction& i) {
    return i.action == Action::memory && i.form.access == Access::store && i.form.space != Space::shared;
  });
}

bool AccessShapes::Memo::repeats(const work::AddressPattern& p, std::uint32_t lanes) const {
  return repeats_passes(p, lanes) && p.base % kLineBytes == pattern.base % kLineBytes;
}

/// Passes and distinct bytes stay the same when all addresses move by words: the banks are turned, no more.
bool AccessShapes::Memo::repeats_passes(const work::AddressPattern& p, std::uint32_t lanes) const {
  return valid && p.regular && lanes == executed && p.inner == pattern.inner && p.outer == pattern.outer &&
         p.log2_width == pattern.log2_width && p.base % kSharedBankBytes == pattern.base % kSharedBankBytes;
}

/// The space of a generic access is that of its first address: lanes of one warp that go to several spaces are not told apart.
void AccessShapes::find(MemoryOperation& operation, const MemoryIssue& issue) {
  const isa::MemoryForm& form = issue.instruction->form;
  operation.space = form.space;
  if (form.space == Space::generic) {
    const std::uint64_t address = issue.cursor->pattern(0).base;
    operation.space = work::is_shared_window(address)  ? Space::shared
                      : work::is_local_window(address) ? Space::local
                                                       : Space::global;
  }
  if (operation.space == Space::shared) {
    prepare_shared(operation, issue);
  } else {
    prepare_global(operation, issue);
  }
}

bool AccessShapes::Memo::goes_alike(const work::AddressPattern& to) const {
  return to.regular && destination.regular && to.inner == destination.inner &&
         to.outer == destination.outer && to.log2_width == destination.log2_width &&
         (to.base - destination.base) % kLineBytes == 0;
}

void AccessShapes::prepare_shared(MemoryOperation& operation, const MemoryIssue& issue) {
  const StaticInstruction& instruction = *issue.instruction;
  Memo& memo = memo_[program_.shapes.of[issue.index].slot];
  const work::AddressPattern& pattern = issue.cursor->pattern(0);
  if (!memo.repeats(pattern, issue.executed)) {
    work::LaneAddresses addresses;
    issue.cursor->addresses(0, addresses);
    const bool barrier =
        issue.barrier_op != 0;  // lanes at one mbarrier are one pass (mbarrier_latency on H100)
    const rules::SharedCost cost = rules::shared_cost(
        addresses, issue.executed, barrier ? 4 : instruction.form.bytes,
        barrier ? rules::SharedAccess::increment : bank_access(instruction.form), instruction.form.matrices);
    memo.pattern = pattern;
    memo.executed = issue.executed;
    memo.valid = pattern.regular;
    memo.space = operation.space;
    memo.wavefronts = cost.wavefronts;
    memo.ideal = cost.ideal;
  }
  operation.wavefronts = memo.wavefronts;
  operation.ideal = std::max(1u, memo.ideal);
  if (operation.swap.tries) issue.cursor->addresses(0, operation.detail->addresses);
  const std::uint64_t address = pattern.base;
  operation.half = static_cast<std::uint8_t>(array_.half_of_shared(
      issue.block, work::is_shared_window(address) ? address - work::kSharedWindow : address));
  count_shared(operation, memo.ideal);
}

/// A texture's: its addresses repeat too seldom to be kept.
void AccessShapes::prepare_lookup(MemoryOperation& operation, const MemoryIssue& issue) {
  const isa::MemoryForm& form = issue.instruction->form;
  Texels texels;
  texels.bytes = form.bytes;
  issue.cursor->addresses(0, texels.first);
  issue.cursor->addresses(1, texels.last);
  rules::Coalesced& lines = operation.detail->lines;
  texels.touched(issue.executed, lines);
  operation.lines = lines.count;
  operation.sectors = lines.sectors;
  operation.wavefronts = std::max(1u, divide_up(lines.sectors, kSectorsPerLine));
  for (std::uint32_t i = 0; i < lines.count; ++i) operation.detail->written[i].fill(~0u);
  count_lookup(texels, issue.executed, lines.sectors, counters_);
  count_global(operation, lines.sectors, rules::ideal_sectors(texels.first, issue.executed, form.bytes));
}

void AccessShapes::prepare_global(MemoryOperation& operation, const MemoryIssue& issue) {
  const StaticInstruction& instruction = *issue.instruction;
  const isa::MemoryForm& form = instruction.form;
  if (form.texture && form.address_sets == 2) return prepare_lookup(operation, issue);
  const int set = is_copy(instruction) ? 1 : 0;
  const unsigned slot = program_.shapes.of[issue.index].slot;
  Memo& memo = memo_[slot + static_cast<unsigned>(set)];
  const work::AddressPattern& pattern = issue.cursor->pattern(set);
  const bool local = operation.space == Space::local;
  const bool bytes = form.access == Access::store || (form.access == Access::load && (local || stores_here_));
  const bool needs_addresses = form.access == Access::reduction || form.access == Access::atomic;
  MemoryDetail& detail = *operation.detail;
  auto& kept = memo_lines_[slot + static_cast<unsigned>(set)];
  if (!kept) kept = std::make_unique<MemoLines>();
  MemoLines& found = *kept;
  const bool none = is_copy(instruction) && pattern.regular && pattern.base == work::kNoAddress;
  const bool past = is_copy(instruction) && instruction.bypasses_l1;
  const bool repeats =
      memo.repeats(pattern, issue.executed) && !none && (!past || memo.goes_alike(issue.cursor->pattern(0)));
  if (needs_addresses || !repeats) issue.cursor->addresses(set, detail.addresses);
  if (!repeats) {
    const std::uint32_t reading =
        is_copy(instruction) ? reading_lanes(detail.addresses, issue.executed) : issue.executed;
    if (local) {
      for (auto& address : detail.addresses) address = work::local_offset(address);
      coalesce_local(detail.addresses, issue.executed, form.bytes, found.lines, found.written);
      memo.wavefronts = divide_up(form.bytes, 4);
      memo.ideal = found.lines.sectors;
    } else {
      if (past) {
        work::LaneAddresses to;
        issue.cursor->addresses(0, to);
        memo.places = past_l1(detail.addresses, to, reading, found.lines);
        memo.destination = issue.cursor->pattern(0);
      } else {
        rules::coalesce(detail.addresses, reading, form.bytes, found.lines);
      }
      if (memo.space != Space::global || none || !memo.repeats_passes(pattern, issue.executed)) {
        memo.ideal = rules::ideal_sectors(detail.addresses, reading, form.bytes);
        // As a store to shared memory: lanes that share words merge within a group, and no group goes with another, as those of
        // shared loads do (H100, loads_of_one_word: two and four cycles for 8 and 16 bytes, whether lanes share them or not).
        memo.wavefronts = reading == 0 ? 1
                                       : rules::shared_cost(detail.addresses, reading, form.bytes,
                                                            rules::SharedAccess::store)
                                             .wavefronts;
      }
      if (bytes)
        rules::written_bytes(detail.addresses, issue.executed, form.bytes, found.lines, found.written);
    }
    memo.pattern = pattern;
    memo.executed = issue.executed;
    memo.valid = pattern.regular && !none;
    memo.space = operation.space;
  }
  operation.wavefronts = memo.wavefronts;
  operation.lines = found.lines.count;
  operation.sectors = found.lines.sectors;
  // A local access repeats at another offset of the window: words, not bytes, are what moves from line to line.
  // A move may go backwards: the division is a signed one.
  const std::uint64_t moved =
      local ? issue.local_base / kLineBytes + work::local_offset(pattern.base) / 4 -
                  work::local_offset(memo.pattern.base) / 4
            : static_cast<std::uint64_t>(static_cast<std::int64_t>(pattern.base - memo.pattern.base) /
                                         kLineBytes);
  for (std::uint32_t i = 0; i < found.lines.count; ++i) {
    detail.lines.lines[i] = found.lines.lines[i];
    detail.lines.lines[i].line += moved;
  }
  if (bytes) std::copy_n(found.written.begin(), found.lines.count, detail.written.begin());
  if (is_copy(instruction)) {
    Memo& destination = memo_[slot];
    const work::AddressPattern& to = issue.cursor->pattern(0);
    if (!destination.repeats(to, issue.executed)) {
      work::LaneAddresses addresses;
      issue.cursor->addresses(0, addresses);
      const rules::SharedCost cost =
          rules::shared_cost(addresses, issue.executed, form.bytes, rules::SharedAccess::copy);
      destination.pattern = to;
      destination.executed = issue.executed;
      destination.valid = to.regular;
      destination.wavefronts = cost.wavefronts;
    }
    operation.shared_wavefronts = destination.wavefronts;
  }
  count_global(operation, past ? memo.places : operation.sectors, memo.ideal);
}

/// Executed instructions by kind, those included whose guard holds back every lane: they make no request. The opcode names the space
/// here: ncu counts a generic LD or ST, and an asynchronous copy, as no load or store of global memory ([h100-sxm] of the suite's wmma
/// and column_filter_async kernels).
void AccessShapes::count_instruction(const isa::MemoryForm& form) {
  const bool local = form.space == Space::local, shared = form.space == Space::shared;
  const bool plain = form.access == Access::load || form.access == Access::store;
  if (form.texture) {
    ++(form.address_sets == 2 ? counters_.inst_texture : counters_.inst_surface);
    return;
  }
  if (form.space == Space::generic && plain) return;
  switch (form.access) {
    case Access::store:
    case Access::matrix_store:
      ++(shared ? counters_.inst_shared_st : local ? counters_.inst_local_st : counters_.inst_global_st);
      break;
    case Access::atomic: ++(shared ? counters_.inst_shared_atom : counters_.inst_global_atom); break;
    case Access::reduction: ++(shared ? counters_.inst_shared_atom : counters_.inst_global_red); break;
    case Access::matrix_load: ++counters_.inst_matrix_ld; break;
    case Access::async_copy: ++counters_.inst_async_copy; break;
    default:
      ++(shared ? counters_.inst_shared_ld : local ? counters_.inst_local_ld : counters_.inst_global_ld);
      break;
  }
}

void AccessShapes::count_shared(const MemoryOperation& operation, std::uint32_t ideal) {
  stats::InstructionCounters& instruction = counters_.instructions[operation.index];
  ++instruction.requests;
  instruction.wavefronts += operation.wavefronts;
  instruction.ideal_wavefronts += ideal;
  switch (operation.instruction->form.access) {
    case Access::store:
    case Access::matrix_store:
      counters_.shared_wavefronts_st += operation.wavefronts;
      counters_.shared_ideal_st += ideal;
      break;
    case Access::atomic:
    case Access::reduction:
      counters_.shared_wavefronts_atom += operation.wavefronts;
      counters_.shared_ideal_atom += ideal;
      break;
    case Access::matrix_load:
      counters_.shared_wavefronts_ld += operation.wavefronts;
      counters_.shared_ideal_ld += ideal;
      break;
    default:
      counters_.shared_wavefronts_ld += operation.wavefronts;
      counters_.shared_ideal_ld += ideal;
      break;
  }
}

void AccessShapes::count_global(const MemoryOperation& operation, std::uint32_t sectors,
                                std::uint32_t ideal_sectors) {
  if (is_copy(*operation.instruction) && operation.lines == 0) return;  // of zeros alone: it makes no request
  stats::InstructionCounters& instruction = counters_.instructions[operation.index];
  ++instruction.requests;
  instruction.sectors += sectors;
  instruction.ideal_sectors += ideal_sectors;
  instruction.wavefronts += operation.wavefronts;
  instruction.ideal_wavefronts += divide_up(operation.instruction->data_registers, 1);
  const bool local = operation.space == Space::local;
  const isa::MemoryForm& form = operation.instruction->form;
  if (form.texture) {
    if (form.address_sets == 2) return;  // count_lookup()
    ++counters_.l1_requests_texture;
    counters_.l1_sectors_texture += sectors;
    return;
  }
  switch (operation.instruction->form.access) {
    case Access::store:
      ++(local ? counters_.l1_requests_local_st : counters_.l1_requests_global_st);
      (local ? counters_.l1_sectors_local_st : counters_.l1_sectors_global_st) += sectors;
      break;
    case Access::atomic:
      ++counters_.l1_requests_global_atom;
      counters_.l1_sectors_global_atom += sectors;
      break;
    case Access::reduction:
      ++counters_.l1_requests_global_red;
      counters_.l1_sectors_global_red += sectors;
      break;
    default:
      ++(local ? counters_.l1_requests_local_ld : counters_.l1_requests_global_ld);
      (local ? counters_.l1_sectors_local_ld : counters_.l1_sectors_global_ld) += sectors;
      break;
  }
}

void AccessShapes::count(const MemoryIssue& issue) {
  count_instruction(issue.instruction->form);
  if (issue.executed == 0) return;
  MemoryDetail detail;
  MemoryOperation operation;
  operation.detail = &detail;
  operation.instruction = issue.instruction;
  operation.index = issue.index;
  operation.executed = issue.executed;
  find(operation, issue);
}

void AccessShapes::count_hits(const MemoryOperation& operation, std::uint32_t sectors) {
  counters_.instructions[operation.index].l1_hit_sectors += sectors;
  const bool local = operation.space == Space::local;
  if (operation.instruction->form.texture) {
    counters_.l1_hits_texture += sectors;
  } else if (is_store(*operation.instruction)) {
    (local ? counters_.l1_hits_local_st : counters_.l1_hits_global_st) += sectors;
  } else {
    (local ? counters_.l1_hits_local_ld : counters_.l1_hits_global_ld) += sectors;
  }
}

}  // namespace foretrace::sm
