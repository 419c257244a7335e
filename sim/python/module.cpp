// The library for Python: calls of foretrace.h with the interpreter's lock released, arrays as they lie in memory.
//
// Models:  predict(), simulate(), occupancy() and describe(), each giving the text of a JSON document that the package reads.
// Errors:  foretrace._program.ForetraceError with the library's words; KeyboardInterrupt within a twentieth of a second.
// Threads: a call works on threads of its own, so that the one that called sees Python's signals.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/library/foretrace.h"

namespace {

namespace py = pybind11;
using foretrace::Launch;
using foretrace::Options;

constexpr std::chrono::milliseconds kLook{50};  // between looks at Python's signals

/// What `call` gives, by a thread of its own. Python's signal handlers run meanwhile; what one raises ends the call.
template <typename Call>
auto interruptible(Options options, const Call& call) {
  std::atomic<bool> stop{false};
  options.stop = &stop;
  auto answer = std::async(std::launch::async, [&] { return call(options); });
  const auto ready = [&] {
    const py::gil_scoped_release released;
    return answer.wait_for(kLook) == std::future_status::ready;
  };
  bool raised = false;
  for (bool done = false; !done && !raised;) {
    done = ready();
    raised = PyErr_CheckSignals() != 0;
  }
  if (raised) {
    stop = true;
    const py::gil_scoped_release released;
    answer.wait();
  }
  if (raised) throw py::error_already_set();
  return answer.get();
}

int all_threads() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

Options options_of(const std::string& accuracy, const std::string& clock, std::vector<std::string> set,
                   bool gains, std::string trace) {
  Options options;
  options.accuracy = accuracy;
  options.clock = clock;
  options.set = std::move(set);
  options.threads = all_threads();
  options.gains = gains;
  options.trace = std::move(trace);
  return options;
}

/// A buffer's name, the object whose memory it is, and whether that gets the results.
using Given = std::tuple<std::string, py::buffer, bool>;

std::string predict(Launch launch, const std::vector<Given>& arrays, const std::string& arch,
                    const Options& options) {
  std::vector<py::buffer_info> held;  // their memory stays where it is as long as these are there
  held.reserve(arrays.size());
  for (const auto& [name, object, written] : arrays) {
    const py::buffer_info& memory = held.emplace_back(object.request(written));
    launch.arrays.push_back(
        {name, memory.ptr, written ? memory.ptr : nullptr,
         static_cast<std::size_t>(memory.size) * static_cast<std::size_t>(memory.itemsize)});
  }
  return interruptible(options,
                       [&](const Options& asked) { return foretrace::predict(launch, arch, asked).json; });
}

std::string simulate(const std::string& trace, const std::string& arch, const Options& options) {
  return interruptible(options,
                       [&](const Options& asked) { return foretrace::simulate(trace, arch, asked).json; });
}

void raise(std::exception_ptr failure) {
  try {
    if (failure) std::rethrow_exception(std::move(failure));
  } catch (const foretrace::Error& error) {
    const py::object type = py::module_::import("foretrace._program").attr("ForetraceError");
    PyErr_SetString(type.ptr(), error.what());
  }
}

}  // namespace

PYBIND11_MODULE(foretrace_native, module) {
  module.doc() = "Foretrace's library; the package foretrace calls it.";
  py::register_exception_translator(&raise);
  py::class_<Launch>(module, "Launch")
      .def(py::init<>())
      .def_readwrite("name", &Launch::name)
      .def_readwrite("file", &Launch::file)
      .def_readwrite("kernel", &Launch::kernel)
      .def_readwrite("defines", &Launch::defines)
      .def_readwrite("compiler_options", &Launch::compiler_options)
      .def_readwrite("grid", &Launch::grid)
      .def_readwrite("block", &Launch::block)
      .def_readwrite("cluster", &Launch::cluster)
      .def_readwrite("dynamic_shared", &Launch::dynamic_shared)
      .def_readwrite("arguments", &Launch::arguments)
      .def_readwrite("symbols", &Launch::symbols);
  py::class_<Options>(module, "Options")
      .def(py::init(&options_of), py::kw_only(), py::arg("accuracy") = "auto", py::arg("clock") = "boost",
           py::arg("set") = std::vector<std::string>(), py::arg("gains") = false, py::arg("trace") = "");
  module.def("predict", &predict);
  module.def("simulate", &simulate);
  module.def("occupancy", [](std::uint32_t threads, std::uint32_t registers, std::uint64_t shared,
                             std::uint32_t barriers, const std::string& arch, const Options& options) {
    return foretrace::occupancy({threads, registers, shared, barriers}, arch, options);
  });
  module.def("describe", &foretrace::describe);
  module.def("version", &foretrace::version);
}
