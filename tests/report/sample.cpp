#include "tests/report/sample.h"

namespace foretrace::report::testing {
namespace {

using stats::WarpState;

std::shared_ptr<spec::GpuSpec> sample_chip() {
  auto gpu = std::make_shared<spec::GpuSpec>();
  gpu->name = "sample";
  gpu->sm_number = 90;
  gpu->clock = {1'000'000'000, 500'000'000, 2'000'000'000};
  gpu->sm.count = 10;
  gpu->limits.warps = 64;
  gpu->limits.shared_reserved = 1024;
  for (auto& pipe : gpu->pipe) pipe.interval = 2;
  gpu->pipe[static_cast<std::size_t>(spec::Pipe::fp16)].interval = 0;
  gpu->lsu.sm_interval = 2;
  gpu->network.reply_bytes = 64;
  gpu->network.request_bytes = 64;
  gpu->l2.slices = 4;
  gpu->dram.channels = 5;
  gpu->dram.channel_bytes = 16;
  return gpu;
}

std::shared_ptr<isa::Program> sample_program() {
  auto program = std::make_shared<isa::Program>();
  program->sm = 90;
  program->kernel = "sample<int>";
  program->mangled = "_Z6sampleIiEvv";
  program->code_sha256 = std::string(64, 'a');
  program->toolkit = "13.0.88";
  program->registers = 12;
  program->static_shared = 4096;
  program->files = {"kernels/sample.cu"};
  const char* sass[] = {"LDG.E R0, desc[UR4][R2.64]", "LDS R1, [R4]", "FFMA R0, R0, R1, R5"};
  for (std::uint32_t i = 0; i < 3; ++i) {
    isa::Instruction instruction;
    instruction.offset = 16 * i;
    instruction.text = sass[i];
    instruction.file = i < 2 ? 1 : 0;
    instruction.line = i < 2 ? 10 + i : 0;
    program->code.push_back(instruction);
  }
  return program;
}

void set_state(stats::StateCycles& cycles, WarpState state, std::uint64_t value) {
  cycles[static_cast<std::size_t>(state)] = value;
}

void fill_instructions(stats::LaunchCounters& c) {
  c.instructions.resize(3);
  auto& load = c.instructions[0];
  load.executed = 8'000;
  load.thread_executed = 8'000 * 32;
  load.pred_on = 8'000 * 32;
  load.requests = 8'000;
  load.sectors = 64'000;
  load.ideal_sectors = 32'000;
  load.l1_hit_sectors = 16'000;
  load.wavefronts = 8'000;
  load.ideal_wavefronts = 8'000;
  set_state(load.stalled, WarpState::lg_throttle, 100'000);
  set_state(load.stalled, WarpState::selected, 8'000);
  auto& shared = c.instructions[1];
  shared.executed = 8'000;
  shared.thread_executed = 8'000 * 16;
  shared.pred_on = 8'000 * 16;
  shared.requests = 8'000;
  shared.wavefronts = 16'000;
  shared.ideal_wavefronts = 8'000;
  set_state(shared.stalled, WarpState::wait, 28'000);
  set_state(shared.stalled, WarpState::selected, 8'000);
  auto& math = c.instructions[2];
  math.executed = 16'000;
  math.thread_executed = 16'000 * 32;
  math.pred_on = 16'000 * 32;
  set_state(math.stalled, WarpState::long_scoreboard, 1'120'000);
  set_state(math.stalled, WarpState::selected, 16'000);
}

void fill_memory(stats::MemoryCounters& m) {
  m.tex_sectors_read = 48'000;
  m.tex_sectors_write = 2'000;
  m.tex_sectors_hit = 20'000;
  m.tex_sectors_miss = 30'000;
  m.lts_sectors = 75'000;
  m.lts_sectors_hit = 30'000;
  m.dram_bytes_read = 960'000;
  m.dram_bytes_write = 40'000;
  m.dram_row_hits = 3;
  m.dram_row_misses = 1;
  m.l2_slice_busy = 5'000;
  m.dram_busy = 25'000;
  m.read_requests = 12'000;
  m.read_latency = 6'000'000;
  m.segment_network = 2'400'000;
  m.segment_l2 = 600'000;
  m.segment_dram_queue = 600'000;
  m.segment_dram = 2'400'000;
}

}  // namespace

Prediction sample_prediction() {
  Prediction p;
  p.gpu = sample_chip();
  p.program = sample_program();
  p.config_sha256 = std::string(64, 'b');
  p.assumed_values = 7;
  p.transferred_values = 3;
  p.grid = {20, 2, 1};
  p.block = {16, 16, 1};
  p.dynamic_shared = 512;
  p.occupancy = {3, 4, 8, 16, 16, 3, 24, 32768, "At most 24 registers per thread would give 4 blocks (50%)."};

  auto& c = p.counters;
  c.elapsed = 10'000;
  c.sms = 10;
  c.sm_active = 80'000;
  c.sm_active_max = 9'000;
  c.inst_executed = 32'000;
  c.thread_inst_executed = 896'000;
  c.thread_inst_pred_on = 896'000;
  c.issue_active = 32'000;
  c.scheduler_cycles = 320'000;
  c.idle_reason = {32'000, 192'000, 16'000, 48'000};
  c.warp_cycles = 1'280'000;
  set_state(c.state, WarpState::lg_throttle, 100'000);
  set_state(c.state, WarpState::wait, 28'000);
  set_state(c.state, WarpState::long_scoreboard, 1'120'000);
  set_state(c.state, WarpState::selected, 32'000);
  c.pipe_inst[static_cast<std::size_t>(spec::Pipe::fmaheavy)] = 10'000;
  c.pipe_inst[static_cast<std::size_t>(spec::Pipe::fmalite)] = 6'000;
  c.pipe_busy[static_cast<std::size_t>(spec::Pipe::fmaheavy)] = 20'000;
  c.pipe_busy[static_cast<std::size_t>(spec::Pipe::fmalite)] = 12'000;
  c.pipe_inst[static_cast<std::size_t>(spec::Pipe::lsu)] = 16'000;
  c.inst_global_ld = 8'000;
  c.inst_shared_ld = 8'000;
  c.l1_requests_global_ld = 8'000;
  c.l1_sectors_global_ld = 64'000;
  c.l1_hits_global_ld = 16'000;
  c.l1_tag_cycles = 10'000;
  c.l1_data_wavefronts = 24'500;
  c.shared_wavefronts_ld = 16'000;
  c.shared_ideal_ld = 8'000;
  c.shared_contention_ld = 500;
  c.blocks = 40;
  c.sm_active_each.assign(10, 8'000);
  fill_instructions(c);
  fill_memory(c.memory);
  return p;
}

Document sample_document(const std::vector<std::string>& archs) {
  Document document;
  document.foretrace = "0.1.0";
  document.commit = std::string(40, 'c');
  document.command = {"foretrace", "predict", "kernels/sample.cu"};
  for (const auto& arch : archs) {
    Prediction p = sample_prediction();
    auto gpu = std::make_shared<spec::GpuSpec>(*p.gpu);
    gpu->name = arch;
    p.gpu = gpu;
    document.predictions.push_back(make_result(p));
  }
  return document;
}

}  // namespace foretrace::report::testing
