#include "sim/app/launch_options.h"

namespace foretrace::app {

void LaunchOptions::add_to(options::options_description& description) {
  description.add_options()("grid", options::value(&grid)->value_name("X[,Y[,Z]]"), "blocks (default: 1)")(
      "block", options::value(&block)->value_name("X[,Y[,Z]]"), "threads per block (default: 1)")(
      "cluster", options::value(&cluster)->value_name("X[,Y[,Z]]"), "blocks per cluster (default: 1)")(
      "shared", options::value(&shared)->value_name("BYTES"), "dynamic shared memory, bytes per block")(
      "arg", options::value(&args)->value_name("ARGUMENT")->composing(),
      "a kernel argument, in order: buf:TYPE:COUNT[:GENERATOR][:seed=N][:name=NAME], val:TYPE:V, "
      "ref:NAME[+BYTES], null, bytes:HEX or "
      "bytes:@FILE")("symbol", options::value(&symbols)->value_name("NAME=BUFFER")->composing(),
                     "a __constant__ or __device__ variable: NAME=buf:..., NAME=val:...");
}

void LaunchOptions::add_dumps_to(options::options_description& description) {
  description.add_options()("dump", options::value(&dumps)->value_name("NAME=FILE")->composing(),
                            "write a named buffer after the launch: NAME=FILE");
}

frontend::LaunchDescription LaunchOptions::description(const std::string& file,
                                                       const KernelOptions& kernel) const {
  frontend::LaunchDescription launch;
  launch.source = file;
  launch.kernel = kernel.name;
  launch.defines = kernel.define;
  launch.nvcc = kernel.nvcc;
  launch.grid = frontend::parse_extent(grid, "--grid");
  launch.block = frontend::parse_extent(block, "--block");
  launch.cluster = frontend::parse_extent(cluster, "--cluster");
  launch.dynamic_shared = shared;
  for (std::size_t i = 0; i < args.size(); ++i)
    launch.arguments.push_back(frontend::parse_argument(args[i], i));
  for (std::size_t i = 0; i < symbols.size(); ++i)
    launch.symbols.push_back(frontend::parse_symbol(symbols[i], i));
  for (const std::string& dump : dumps) launch.dumps.push_back(frontend::parse_dump(dump));
  frontend::check_launch(launch, {}, "command line");
  return launch;
}

}  // namespace foretrace::app
