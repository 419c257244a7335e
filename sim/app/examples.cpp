#include "sim/app/examples.h"

#include <algorithm>
#include <array>

namespace foretrace::app {
namespace {

struct Examples {
  std::string_view command, lines;
};

// clang-format off
constexpr std::array<Examples, 15> kExamples{{
    {"predict",
     "  foretrace predict saxpy.cu --kernel saxpy --grid 4096 --block 256 --arg buf:f32:1048576:uniform --arg buf:f32:1048576 --arch a100,h100\n"
     "  foretrace predict saxpy.cubin --grid 64 --block 256 --arg buf:f32:16384 --arg buf:f32:16384 --arch h100 --trace saxpy.trace\n"
     "  foretrace predict launches.toml --arch h100 --set sm.count=144 --json result.json --html result.html\n"},
    {"run",
     "  foretrace run --arch h100 -- ./app 1024\n"
     "  foretrace run --arch h100 --functional --check races,uninitialized -- ./app\n"
     "  foretrace run --arch h100 --json run.json --perfetto run.trace.json -- python train.py\n"},
    {"env",
     "  eval $(foretrace env); nvcc app.cu -o app; foretrace run --arch h100 -- ./app\n"},
    {"simulate",
     "  foretrace simulate saxpy.trace --arch h100,h200\n"
     "  foretrace simulate saxpy.trace --arch h100 --set l2.bytes=26214400,52428800 --json what_if.json\n"},
    {"timeline",
     "  foretrace timeline saxpy.cu --grid 64 --block 256 --arg buf:f32:16384 --arg buf:f32:16384 --arch h100\n"
     "  foretrace timeline saxpy.trace --arch h100 --blocks 3 --warps 0-3 --cycles 1500..1800\n"
     "  foretrace timeline saxpy.trace --arch h100 --warps 0-7 --instructions 1000 --json timeline.json\n"},
    {"beside",
     "  foretrace predict copy.cu --grid 66 --block 1024 --arg buf:f32:1048576 --arg buf:f32:1048576 --arch h100 --trace copy.trace\n"
     "  foretrace beside sgemm.trace copy.trace --arch h100 --begin 0,1.5\n"},
    {"validate",
     "  foretrace validate --measurements validate/measurements/h100-sxm.json --largest 1000000\n"
     "  foretrace validate --freeze predicted.json --arch h100 --launches my/launches\n"
     "  foretrace validate --measurements measured.json --frozen predicted.json --picture accuracy.svg\n"},
    {"calibrate",
     "  foretrace calibrate answers.json --base h100 --output my_gpu.toml\n"},
    {"compare",
     "  foretrace compare before.json after.json --html compare.html\n"
     "  ncu --csv --page raw ./app > report.csv; foretrace compare result.json --ncu report.csv\n"},
    {"report",
     "  foretrace report result.json --html result.html\n"
     "  foretrace report result.json --page details --csv\n"
     "  foretrace report result.json --speedscope stalls.json\n"},
    {"collective",
     "  foretrace collective --op allreduce --bytes 1M..1G --devices 8 --link nvlink4\n"
     "  foretrace collective --op allgather --bytes 64M --devices 2 --algorithm ring --protocol simple\n"},
    {"arch",
     "  foretrace arch\n"
     "  foretrace arch h100 --sources\n"
     "  foretrace arch h100 --set l2.bytes=26214400 --json h100.json\n"},
    {"occupancy",
     "  foretrace occupancy --arch a100,h100 --block 256 --registers 64 --shared 49152\n"},
    {"disassemble",
     "  foretrace disassemble saxpy.cu --kernel saxpy --arch h100\n"},
    {"launches",
     "  foretrace launches validate/suite\n"
     "  foretrace launches my/launches.toml --emit table.txt --cubins cubins --sm 90\n"},
}};
// clang-format on

}  // namespace

std::string_view examples_of(std::string_view command) {
  const auto found = std::find_if(kExamples.begin(), kExamples.end(),
                                  [&](const Examples& examples) { return examples.command == command; });
  return found == kExamples.end() ? std::string_view() : found->lines;
}

}  // namespace foretrace::app
