// Warp instructions per second of the emulator, of the exact engine and of a whole exact prediction, by class of kernel.
//
// speed_benchmark CLASS=LAUNCHES.toml:LAUNCH... prints one line per class and figure: class, what, millions per second. scripts/benchmark
// chooses the classes and compares with the release before.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "model/config/load.h"
#include "model/units/error.h"
#include "sim/engine/device.h"
#include "sim/engine/run_launch.h"
#include "sim/frontend/launch/launch.h"
#include "sim/frontend/load.h"

namespace foretrace {
namespace {

constexpr double kLeastSeconds = 1.0;  // a figure is the best of runs that together take this long

class KeptBlocks final : public work::BlockSource {
 public:
  explicit KeptBlocks(const std::vector<std::shared_ptr<work::BlockRecord>>& blocks) : blocks_(blocks) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    return given_ < blocks_.size() ? blocks_[given_++] : nullptr;
  }

 private:
  const std::vector<std::shared_ptr<work::BlockRecord>>& blocks_;
  std::size_t given_ = 0;
};

/// What one thread's work takes is its processor time, whatever else the machine does.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Millions of warp instructions per second of the fastest of several runs; `run` returns what it executed.
template <typename Run>
double rate(double (*seconds)(), Run run) {
  double best = 0, spent = 0;
  while (spent < kLeastSeconds) {
    const double start = seconds();
    const auto instructions = static_cast<double>(run());
    const double took = seconds() - start;
    best = std::max(best, instructions / took / 1e6);
    spent += took;
  }
  return best;
}

void measure(const std::string& name, const std::string& file, const std::string& wanted) {
  const auto chip = std::make_shared<const spec::GpuSpec>(config::load_gpu("h100").spec);
  for (const frontend::LaunchDescription& launch : frontend::load_launch_file(file)) {
    if (launch.name != wanted) continue;
    const frontend::LoadedKernel kernel =
        frontend::load_kernels(engine::load_request(launch, chip->sm_number), frontend::find_toolchain())
            .front();
    const engine::Launch shape{launch, std::make_shared<const isa::Program>(kernel.program)};
    engine::Device device;
    const emulate::LaunchContext context = device.bind(launch, kernel);
    const emulate::Emulator emulator(context);
    std::vector<std::shared_ptr<work::BlockRecord>> blocks;
    emulate::BlockSequence sequence(emulator, emulator.blocks(), true);
    while (auto block = sequence.next()) blocks.push_back(std::move(block));
    const auto print = [&](const char* what, double figure) {
      std::printf("%s %s %.3f\n", name.c_str(), what, figure);
    };
    print("emulator", rate(processor_seconds, [&] {
            emulate::BlockSequence again(emulator, emulator.blocks(), false);
            while (again.next()) {}
            return again.count().instructions;
          }));
    engine::Machine machine(chip);
    print("engine", rate(processor_seconds, [&] {
            KeptBlocks kept(blocks);
            return machine.run(shape, kept, {}).counters.inst_executed;
          }));
    engine::LaunchRun exact;
    exact.accuracy = engine::Accuracy::exact;
    exact.threads = 2;
    print("whole", rate(wall_seconds, [&] {
            return engine::run_launch(context, shape, machine, exact).counters.inst_executed;
          }));
    return;
  }
  throw InputError(file + ": there is no launch " + wanted);
}

}  // namespace
}  // namespace foretrace

int main(int count, char** words) {
  try {
    for (int i = 1; i < count; ++i) {
      const std::string word = words[i];
      const auto equals = word.find('='), colon = word.rfind(':');
      foretrace::measure(word.substr(0, equals), word.substr(equals + 1, colon - equals - 1),
                         word.substr(colon + 1));
    }
  } catch (const foretrace::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
