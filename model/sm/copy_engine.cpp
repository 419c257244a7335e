#include "model/sm/copy_engine.h"

#include <algorithm>
#include <cmath>

#include "model/sm/memory_forms.h"

namespace foretrace::sm {

using work::TransferKind;

std::uint32_t CopyEngine::start(Job job, Cycle now) {
  std::uint32_t number = static_cast<std::uint32_t>(jobs_.size());
  if (free_jobs_.empty()) {
    jobs_.emplace_back();
  } else {
    number = free_jobs_.back();
    free_jobs_.pop_back();
  }
  job.used = true;
  jobs_[number] = std::move(job);
  ++live_;
  queue_.push_back(number);
  if (!stepping_) {
    stepping_ = true;
    events_.push(std::max(now + spec_.tma.issue_latency, free_at_), {Event::Kind::copy_step, 0, 0, 0, 0});
  }
  return number;
}

/// The next bytes of one line that the copy asks for.
bool CopyEngine::next_line(Job& job, std::uint64_t& address, std::uint32_t& bytes) const {
  if (job.run == job.transfer.runs.size()) return false;
  const work::CopyRun& run = job.transfer.runs[job.run];
  address = run.address + static_cast<std::uint64_t>(run.stride) * job.piece + job.byte;
  bytes = std::min(run.bytes - job.byte, static_cast<std::uint32_t>(kLineBytes - address % kLineBytes));
  if (job.transfer.kind == TransferKind::load || job.transfer.kind == TransferKind::prefetch) {
    // A part of a sector is a request of its own.
    const auto behind = static_cast<std::uint32_t>(address % kSectorBytes);
    if (behind != 0)
      bytes = std::min(bytes, kSectorBytes - behind);
    else if (bytes > kSectorBytes)
      bytes -= bytes % kSectorBytes;
  }
  job.byte += bytes;
  if (job.byte == run.bytes) {
    job.byte = 0;
    if (++job.piece == run.count) {
      job.piece = 0;
      ++job.run;
    }
  }
  return true;
}

void CopyEngine::ask(std::uint32_t number, std::uint64_t address, std::uint32_t bytes, Cycle now) {
  Job& job = jobs_[number];
  memory::Request request;
  request.line = address / kLineBytes;
  const auto first = static_cast<unsigned>(address % kLineBytes);
  for (unsigned at = first; at < first + bytes; ++at) {
    request.sectors = static_cast<std::uint8_t>(request.sectors | 1u << at / kSectorBytes);
    request.bytes[at / kSectorBytes] |= 1u << at % kSectorBytes;
  }
  if (job.transfer.kind == TransferKind::store || job.transfer.kind == TransferKind::reduce) {
    const bool reduces = job.transfer.kind == TransferKind::reduce;
    request.kind = reduces ? memory::RequestKind::reduction : memory::RequestKind::write;
    const std::uint32_t sectors = memory::sector_count(request.sectors);
    if (reduces) {
      request.bytes = {};
      request.visits = static_cast<std::uint8_t>(sectors);
      request.flits = static_cast<std::uint8_t>(1 + sectors);
    }
    data_.pass(now, 1);
    free_at_ = std::max(free_at_, out_.send_copied_store(request, now));
    return;
  }
  request.bytes = {};
  request.kind = memory::RequestKind::read;
  std::uint32_t id = static_cast<std::uint32_t>(pieces_.size());
  if (free_pieces_.empty()) {
    pieces_.emplace_back();
  } else {
    id = free_pieces_.back();
    free_pieces_.pop_back();
  }
  pieces_[id] = {number, bytes, false};
  ++job.waiting;
  request.id = kMark | (job.to_others ? kToOthers : 0) | id;
  request.multicast = job.to_others;
  out_.send_copied_load(request, now);
}

void CopyEngine::end_asking(std::uint32_t number, Cycle now) {
  Job& job = jobs_[number];
  job.asked = true;
  const TransferKind kind = job.transfer.kind;
  if (kind == TransferKind::load || kind == TransferKind::prefetch) {
    if (job.waiting == 0)
      events_.push(now + spec_.tma.write_latency, {Event::Kind::copy_told, 0, 0, number, 0});
    return;
  }
  const Cycle read = kind == TransferKind::shared ? now : std::max(now, free_at_);
  events_.push(read + spec_.tma.store_latency, {Event::Kind::copy_told, 0, 0, number, 0});
}

void CopyEngine::step(Cycle now) {
  stepping_ = false;
  if (queue_.empty()) return;
  const std::uint32_t number = queue_.front();
  Job& job = jobs_[number];
  free_at_ = now + spec_.tma.row_interval;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  const std::uint32_t rows = std::max(1u, job.transfer.rows);
  const std::uint32_t steps = rows * divide_up(divide_up(job.transfer.bytes, rows), kLineBytes);
  const bool some = next_line(job, address, bytes);
  if (some) ask(number, address, bytes, now);
  ++job.steps;
  if (job.run == job.transfer.runs.size() && job.steps >= steps) {
    queue_.pop_front();
    end_asking(number, now);
  }
  if (queue_.empty()) return;
  stepping_ = true;
  events_.push(free_at_, {Event::Kind::copy_step, 0, 0, 0, 0});
}

Cycle CopyEngine::bring(std::uint32_t bytes, Cycle now) {
  fill_free_ = std::max(fill_free_, static_cast<double>(now)) + bytes / spec_.tma.load_bytes;
  return static_cast<Cycle>(std::ceil(fill_free_));
}

Cycle CopyEngine::arrive(std::uint32_t id, Cycle now) {
  const Piece& piece = pieces_[id & kIndex];
  const Job& job = jobs_[piece.job];
  if (job.transfer.kind == TransferKind::prefetch || !job.to_self) return now;
  return bring(piece.bytes, now);
}

void CopyEngine::filled(std::uint32_t id, Cycle now) {
  const std::uint32_t number = pieces_[id & kIndex].job;
  Job& job = jobs_[number];
  if (job.to_self && job.transfer.kind == TransferKind::load)
    data_.copied_in(job.block, job.transfer.shared, divide_up(pieces_[id & kIndex].bytes, kSectorBytes), now);
  free_pieces_.push_back(id & kIndex);
  if (--job.waiting == 0 && job.asked)
    events_.push(now + spec_.tma.write_latency, {Event::Kind::copy_told, 0, 0, number, 0});
}

void CopyEngine::finish(std::uint32_t number) {
  jobs_[number].used = false;
  free_jobs_.push_back(number);
  --live_;
}

}  // namespace foretrace::sm
