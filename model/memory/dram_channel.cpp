#include "model/memory/dram_channel.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::memory {
DramChannel::DramChannel(const spec::DramSpec& spec, std::uint64_t phase)
    : spec_(spec), phase_(phase), horizon_(std::uint64_t{spec.t_rp} + spec.t_rcd + spec.t_cl),
      drain_from_(std::max<std::size_t>(1, static_cast<std::size_t>(spec.drain_from * spec.queue))),
      drain_until_(static_cast<std::size_t>(spec.drain_until * spec.queue)), banks_(spec.banks) {
  FORETRACE_ASSERT(spec.refresh_interval == 0 || spec.refresh_cycles < spec.refresh_interval,
                   "refresh leaves the channel no time");
  FORETRACE_ASSERT(spec.queue > 0, "a DRAM controller without a queue serves nothing");
  reads_.reserve(spec.queue);
  writes_.reserve(spec.queue);
  restart(false);
}

void DramChannel::restart(bool warm) {
  FORETRACE_ASSERT(idle(), "a DRAM channel was restarted with accesses waiting");
  for (Bank& bank : banks_) bank = {.row = warm ? bank.row : kClosed};
  bus_free_ = 0;
  any_activate_ = false;
  bus_used_ = false;
  draining_ = false;
  next_refresh_ = phase_;
  counters_ = {};
}

void DramChannel::enqueue(const Access& access) {
  FORETRACE_ASSERT(access.bank < spec_.banks && access.cycles > 0,
                   "a DRAM access names no bank or moves nothing");
  incoming_.push(access);
  writes_waiting_ += access.write ? 1 : 0;
}

std::uint64_t DramChannel::wake_time(std::uint64_t arrival) const {
  return bus_free_ > arrival + horizon_ ? bus_free_ - horizon_ : arrival;
}

void DramChannel::admit(std::uint64_t now) {
  while (!incoming_.empty() && incoming_.front().arrival <= now) {
    std::vector<Waiting>& queue = incoming_.front().write ? writes_ : reads_;
    if (queue.size() >= spec_.queue) return;
    queue.push_back({incoming_.pop(), 0});
  }
}

void DramChannel::refresh(std::uint64_t now) {
  if (spec_.refresh_interval == 0) return;
  if (now >= next_refresh_ + spec_.refresh_interval) {  // while nothing was asked
    next_refresh_ += (now - next_refresh_) / spec_.refresh_interval * spec_.refresh_interval;
  }
  while (std::max(now, bus_free_) >= next_refresh_) {
    bus_free_ = std::max(bus_free_, next_refresh_) + spec_.refresh_cycles;
    for (Bank& bank : banks_) {
      bank.row = kClosed;
      bank.activate_ready = bus_free_;
    }
    next_refresh_ += spec_.refresh_interval;
  }
}

bool DramChannel::choose_writes(std::uint64_t now) {
  if (draining_ && writes_.size() <= drain_until_) draining_ = false;
  if (writes_.size() >= drain_from_) draining_ = true;
  return draining_ || (reads_.empty() && !writes_.empty() && bus_free_ <= now);
}

std::uint64_t DramChannel::data_start(const Access& access, std::uint64_t now, std::uint64_t bus) const {
  const Bank& bank = banks_[access.bank];
  std::uint64_t column;
  if (bank.row == access.row) {
    column = std::max(now, bank.column_ready);
  } else {
    std::uint64_t activate = std::max(now, bank.activate_ready);
    if (bank.row != kClosed) activate = std::max(activate, bank.precharge_ready) + spec_.t_rp;
    if (any_activate_) activate = std::max(activate, last_activate_ + spec_.t_rrd);
    column = activate + spec_.t_rcd;
  }
  return std::max(bus, column + spec_.t_cl);
}

DramChannel::Done DramChannel::serve(std::vector<Waiting>& queue, std::size_t index, std::uint64_t now,
                                     std::uint64_t bus) {
  const Access access = queue[index].access;
  if (index > 0) ++queue.front().overtaken;
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
  const std::uint64_t start = data_start(access, now, bus);
  std::uint64_t chain = spec_.t_cl;  // from the first command to the data
  Bank& bank = banks_[access.bank];
  if (bank.row == access.row) {
    ++counters_.row_hits;
  } else {
    ++counters_.row_misses;
    chain += spec_.t_rcd + (bank.row == kClosed ? 0 : spec_.t_rp);
    std::uint64_t activate = std::max(now, bank.activate_ready);
    if (bank.row != kClosed) activate = std::max(activate, bank.precharge_ready) + spec_.t_rp;
    if (any_activate_) activate = std::max(activate, last_activate_ + spec_.t_rrd);
    last_activate_ = activate;
    any_activate_ = true;
    bank.row = access.row;
    bank.column_ready = activate + spec_.t_rcd;
    bank.precharge_ready = activate + spec_.t_ras;
  }
  const std::uint64_t end = start + access.cycles;
  bank.precharge_ready = std::max(bank.precharge_ready, access.write ? end + spec_.t_wr : end - spec_.t_cl);
  bus_free_ = end;
  bus_used_ = true;
  bus_wrote_ = access.write;
  counters_.busy += access.cycles;
  writes_waiting_ -= access.write ? 1 : 0;
  return {end, start - chain - access.arrival, access.tag, access.write};
}

std::uint64_t DramChannel::schedule(std::uint64_t now, std::vector<Done>& done) {
  while (true) {
    admit(now);
    if (reads_.empty() && writes_.empty()) {
      return incoming_.empty() ? kNever : std::max(now + 1, wake_time(incoming_.front().arrival));
    }
    if (bus_free_ > now + horizon_ + spec_.ahead) return std::max(now + 1, bus_free_ - horizon_);
    refresh(now);
    const bool write = choose_writes(now);
    std::vector<Waiting>& queue = write ? writes_ : reads_;
    if (queue.empty()) return std::max(now + 1, bus_free_);  // writes wait for a free bus or for company
    const std::uint64_t turn = !bus_used_ || bus_wrote_ == write ? 0
                               : write                           ? spec_.read_to_write
                                                                 : spec_.write_to_read;
    const std::uint64_t bus = bus_free_ + turn;
    std::size_t best = 0;
    if (queue.front().overtaken < spec_.overtakings * spec_.queue) {
      std::uint64_t best_start = kNever;
      for (std::size_t i = 0; i < queue.size(); ++i) {
        const Access& access = queue[i].access;
        const std::uint64_t start = data_start(access, now, bus);
        const bool hit = banks_[access.bank].row == access.row;
        if (start < best_start ||
            (start == best_start && hit && banks_[queue[best].access.bank].row != queue[best].access.row)) {
          best = i;
          best_start = start;
        }
        if (hit && start == bus) break;  // nothing can be sooner
      }
    }
    done.push_back(serve(queue, best, now, bus));
  }
}

}  // namespace foretrace::memory
