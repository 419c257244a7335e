#include "sim/emulate/schedule/spin_rounds.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "sim/emulate/execute/control.h"
#include "sim/emulate/execute/execution.h"
#include "sim/emulate/translate/address_form.h"

namespace foretrace::emulate {

namespace {

constexpr int kMostSteps = 256;          // of a round that is tried
constexpr std::uint32_t kMostWords = 4;  // of a load that waits

std::uint32_t bytes_of(const MicroOp& op) { return 1u << (op.flags >> kSizeShift & 7); }

bool in_global(std::uint64_t address) {
  return address < kSharedWindow || address >= kLocalWindow + kWindowBytes;
}

/// A word's value after write number `index` of the first word's history: what the same write left there.
std::uint32_t value_after(const WriteHistory::Entries& first, std::size_t index,
                          const WriteHistory::Entries* own, std::uint32_t now) {
  if (own == &first) return first[index].value;
  if (own == nullptr) return now;
  if (!first[index].known) return own->front().value;
  const auto same = std::find_if(own->rbegin(), own->rend(), [&](const WriteHistory::Entry& e) {
    return e.known && e.by == first[index].by;
  });
  return same == own->rend() ? now : same->value;
}

}  // namespace

/// At every instruction of a launch with spin loops.
void SpinRounds::look() {
  Warp& w = *x_.warp;
  const work::Shapes& shapes = x_.launch().translation->shapes;
  const std::uint16_t number = x_.pc < shapes.loop_of.size() ? shapes.loop_of[x_.pc] : std::uint16_t{0};
  if (number != 0 && shapes.loops[number - 1u].first == x_.pc) {
    w.recorder->mark();
    w.round = {&shapes.loops[number - 1u], x_.active, w.tells};
  } else if (w.round.loop != nullptr && (!w.round.loop->holds(x_.pc) || x_.active != w.round.lanes)) {
    w.recorder->unmark();
    w.round.loop = nullptr;
  }
}

/// After the branch at `from`: a round that all its lanes go through again is forgotten.
void SpinRounds::forget(std::uint32_t from) {
  Warp& w = *x_.warp;
  if (w.round.loop == nullptr || from != w.round.loop->last || w.now.pc != w.round.loop->first ||
      w.now.lanes != w.round.lanes)
    return;
  w.recorder->take_back();
  w.tells = w.round.tells;
}

bool SpinRounds::before_access(const MicroOp& op, std::uint32_t executed) {
  awaited_.clear();
  former_.clear();
  const work::Shapes& shapes = x_.launch().translation->shapes;
  const work::Shape& shape = shapes.of[x_.pc];
  if (shape.tells && bytes_of(op) >= 4) {
    x_.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
    for_lanes(op, executed, [&](std::uint64_t address, const std::uint32_t* words) {
      for (std::uint32_t i = 0; i < bytes_of(op) / 4; ++i)
        x_.launch().writes.begin(address + 4 * i, words[i]);
    });
  }
  const std::uint16_t number = shapes.loop_of[x_.pc];
  if (number == 0 || !(shape.waits || shapes.loops[number - 1u].early == x_.pc) ||
      bytes_of(op) > 4 * kMostWords)
    return false;
  find_awaited(shapes.loops[number - 1u], op, executed);
  if (shape.waits || former_.empty()) return false;
  // What asks before a loop is answered as if it had come too early, so that the loop is on record for those who do.
  answer(op, executed);
  for (const Former& former : former_) put_words(op, former.lane, former.words);
  x_.note_poll();
  return true;
}

void SpinRounds::after_access(const MicroOp& op, std::uint32_t executed) {
  const work::Shape& shape = x_.launch().translation->shapes.of[x_.pc];
  if (shape.tells) {
    const std::uint64_t one = x_.addresses[0][static_cast<std::size_t>(std::countr_zero(executed))];
    bool counts = shape.counts;
    for (std::uint32_t m = executed; m != 0; m &= m - 1)
      counts = counts && x_.addresses[0][static_cast<std::size_t>(std::countr_zero(m))] == one;
    if (counts) {
      const std::uint32_t first = executed & (~executed + 1);
      const bool told = op.destination != kSinkWord;
      for_lanes(op, first, [&](std::uint64_t address, const std::uint32_t* words) {
        const std::uint32_t count = x_.launch().writes.count(address, words, bytes_of(op) / 4);
        if (told) x_.warp->seen = {count, {}, address / 4};
      });
      return;
    }
    work::Signal signal;
    signal.block = static_cast<std::uint32_t>(x_.block());
    signal.warp = x_.warp->index & (work::Signal::kWarps - 1);
    signal.number = x_.warp->tells & work::Signal::kLast;
    if (x_.warp->tells <= work::Signal::kLast && x_.block() <= ~std::uint32_t{0} && bytes_of(op) >= 4) {
      for_lanes(op, executed, [&](std::uint64_t address, const std::uint32_t* words) {
        x_.launch().writes.add(address, words, bytes_of(op) / 4, signal, x_.warp->seen);
      });
    }
    ++x_.warp->tells;
  }
}

/// Calls see(address, the words that it holds) for every lane's address in global memory.
template <typename See>
void SpinRounds::for_lanes(const MicroOp& op, std::uint32_t executed, See&& see) {
  for (std::uint32_t m = executed; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint64_t address = x_.addresses[0][static_cast<std::size_t>(l)];
    if (!in_global(address)) continue;
    std::array<std::uint32_t, 8> words;  // of 32 bytes
    std::memcpy(words.data(), x_.memory.global_at(address, bytes_of(op), l), bytes_of(op));
    see(address, words.data());
  }
}

void SpinRounds::put_words(const MicroOp& op, int lane, const std::array<std::uint32_t, 4>& words) {
  std::uint32_t* d = x_.result(op);
  for (std::uint32_t i = 0; i < bytes_of(op) / 4; ++i)
    d[static_cast<std::uint32_t>(lane) + 32 * i] = words[i];
}

/// Gives the lanes what stands in memory, as the instruction would, and changes nothing there.
void SpinRounds::answer(const MicroOp& op, std::uint32_t executed) {
  if (!x_.launch().translation->shapes.of[x_.pc].tells) return op.warp(x_, op, executed);
  x_.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  for (std::uint32_t m = executed; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    std::array<std::uint32_t, kMostWords> words{};
    std::memcpy(words.data(),
                x_.memory.generic_at(x_.addresses[0][static_cast<std::size_t>(l)], bytes_of(op), l),
                bytes_of(op));
    put_words(op, l, words);
  }
  x_.set_predicate(op.p_out, executed, ~0u);
}

/// What ends the loop, asked for by the load at `pc` before it is executed.
void SpinRounds::find_awaited(const isa::SpinLoop& loop, const MicroOp& op, std::uint32_t executed) {
  const InVain round{x_.pc, executed, x_.progress.times};
  if (in_vain_ == round) return;
  x_.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const work::LaneAddresses asked = x_.addresses[0];
  const std::uint32_t words = bytes_of(op) / 4;
  const auto own = [&](const WriteHistory::Entry& entry) {
    return entry.by.count == 0 && entry.by.by.block == x_.block() && entry.by.by.warp == x_.warp->index;
  };
  bool ends = false;
  for (std::uint32_t m = executed; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    if (!in_global(asked[lane])) continue;
    const WriteHistory::Entries* first = x_.launch().writes.of(asked[lane]);
    if (first == nullptr || first->size() < 2 || own(first->back())) continue;
    const auto before = static_cast<std::size_t>(std::countr_zero(executed));
    if (lane != before && asked[lane] == asked[before]) {  // all lanes ask for the same
      const auto same = std::find_if(former_.begin(), former_.end(),
                                     [&](const Former& f) { return f.lane == static_cast<int>(before); });
      if (same != former_.end()) former_.push_back({static_cast<int>(lane), same->words});
      continue;
    }
    if (!ends && !leaves(loop, op, executed, -1, {})) {
      in_vain_ = round;
      return;
    }
    ends = true;
    std::array<const WriteHistory::Entries*, kMostWords> histories{};
    std::array<std::uint32_t, kMostWords> now{};
    for (std::uint32_t i = 0; i < words; ++i) {
      histories[i] = x_.launch().writes.of(asked[lane] + 4 * i);
      std::memcpy(&now[i], x_.memory.global_at(asked[lane], bytes_of(op), static_cast<int>(lane)) + 4 * i, 4);
    }
    const auto values = [&](std::size_t index) {
      std::array<std::uint32_t, kMostWords> of{};
      for (std::uint32_t i = 0; i < words; ++i) of[i] = value_after(*first, index, histories[i], now[i]);
      return of;
    };
    const auto enough = [&](std::size_t index) {
      return leaves(loop, op, executed, static_cast<int>(lane), values(index));
    };
    std::size_t good = first->size() - 1;
    if (!enough(good)) continue;  // this lane goes round again
    std::optional<std::size_t> bad;
    for (std::size_t step = 1; good > 0 && !bad; step *= 2) {
      const std::size_t index = good > step ? good - step : 0;
      enough(index) ? static_cast<void>(good = index) : static_cast<void>(bad = index);
    }
    while (bad && good - *bad > 1) {
      const std::size_t middle = *bad + (good - *bad) / 2;
      enough(middle) ? static_cast<void>(good = middle) : static_cast<void>(bad = middle);
    }
    if (!bad || own((*first)[good])) continue;  // it would have ended without anybody of this launch
    const auto await = [this](const work::Awaited& each) {
      if (std::find(awaited_.begin(), awaited_.end(), each) == awaited_.end()) awaited_.push_back(each);
    };
    await((*first)[good].by);
    if ((*first)[good].seen.count != 0) await((*first)[good].seen);
    former_.push_back({static_cast<int>(lane), values(*bad)});
  }
}

/// Whether a lane (-1: any) leaves the loop, or passes it, if the load at `pc` brings it these words (-1: brings what is there). Nothing
/// of it remains. False also where that cannot be told.
bool SpinRounds::leaves(const isa::SpinLoop& loop, const MicroOp& load, std::uint32_t executed, int lane,
                        const std::array<std::uint32_t, kMostWords>& words) {
  ++rounds_tried_;
  Warp& w = *x_.warp;
  const Compiled& compiled = x_.launch().translation->compiled;
  const std::size_t size =
      compiled.register_words + kFirstUniformWord + std::size_t{compiled.uniform_registers} * 32;
  tried_.assign(w.registers, w.registers + size);  // the uniform registers follow the others
  const auto predicates = w.predicates;
  const std::uint32_t start = x_.pc, lanes = x_.active;
  const Progress progress = x_.progress;
  kept_.clear();
  answer(load, executed);
  if (lane >= 0) put_words(load, lane, words);
  const bool leaves = follow(loop, start + 1, lane);
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept)
    std::memcpy(x_.memory.local_at(kept->address, kept->bytes, kept->lane), kept->words.data(), kept->bytes);
  std::copy(tried_.begin(), tried_.end(), w.registers);
  w.predicates = predicates;
  x_.pc = start;
  x_.active = lanes;
  x_.progress = progress;
  x_.turn = false;
  return leaves;
}

/// Before a store to local memory in a round that is tried.
void SpinRounds::keep_local(const MicroOp& op, std::uint32_t executed) {
  x_.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  for (std::uint32_t m = executed; m != 0; m &= m - 1) {
    Kept kept{x_.addresses[0][static_cast<std::size_t>(std::countr_zero(m))],
              std::countr_zero(m),
              bytes_of(op),
              {}};
    std::memcpy(kept.words.data(), x_.memory.local_at(kept.address, kept.bytes, kept.lane), kept.bytes);
    kept_.push_back(kept);
  }
}

bool SpinRounds::follow(const isa::SpinLoop& loop, std::uint32_t from, int lane) {
  x_.pc = from;
  for (int step = 0; step < kMostSteps; ++step) {
    if (x_.pc == loop.first) return false;
    if (x_.pc > loop.last || x_.pc < std::min(loop.first, loop.early)) return true;
    const MicroOp& op = x_.launch().translation->compiled.code[x_.pc];
    const std::uint32_t executed = x_.active & (x_.warp->predicates[op.guard.slot] ^ op.guard.invert);
    switch (op.kind) {
      case Kind::lane:
        if (executed != 0) op.lane(x_.frame, op, op.uniform ? ~0u : executed);
        break;
      case Kind::warp:
        if (isa::stores_locally(x_.launch().context.program->code[x_.pc])) {
          keep_local(op, executed);
        } else if (op.progress || op.transfers || x_.launch().translation->shapes.of[x_.pc].tells) {
          return false;
        }
        if (executed != 0) op.warp(x_, op, executed);
        break;
      case Kind::nothing:
      case Kind::open_barrier:
      case Kind::join_barrier:
      case Kind::warpsync:
      case Kind::yield: break;
      case Kind::branch: {
        const std::uint32_t taken = executed & x_.predicate(op.p_in);
        const bool parts = taken != 0 && taken != x_.active;
        if (parts && lane < 0) return true;
        const bool goes = parts ? (taken >> lane & 1) != 0 : taken != 0;
        if (parts) x_.active = goes ? taken : x_.active & ~taken;
        if (goes) {
          x_.pc = op.target;
          continue;
        }
        break;
      }
      case Kind::branch_uniform:
        if (goes_uniformly(op, executed, x_.predicate(op.p_in), x_.active)) {
          x_.pc = op.target;
          continue;
        }
        break;
      case Kind::branch_diverged:
        if ((executed == x_.read(op.a, 0)) == (op.flags != 0))
          return false;  // to code for lanes that have parted
        break;
      default: return false;
    }
    ++x_.pc;
  }
  return false;
}

}  // namespace foretrace::emulate
