// The head of a trace: program and launch as JSON, strict in both directions.
#include <charconv>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "model/isa/parse.h"
#include "model/units/error.h"
#include "sim/trace/format.h"

namespace foretrace::trace {

namespace {

using Json = nlohmann::ordered_json;

/// The labels that the program's operands name, so that the same text can be parsed again.
Json labels_of(const isa::Program& program) {
  Json labels = Json::object();
  for (const isa::Instruction& instruction : program.code) {
    for (const isa::Operand& operand : instruction.operands) {
      if (operand.kind != isa::OperandKind::label) continue;
      const auto open = operand.text.find("`(");
      const auto close = operand.text.rfind(')');
      FORETRACE_ASSERT(open != std::string::npos && close != std::string::npos && close > open + 1,
                       "a label operand is printed as `(name)");
      labels[operand.text.substr(open + 2, close - open - 2)] = operand.value;
    }
  }
  return labels;
}

Json instruction_json(const isa::Instruction& instruction) {
  return Json::array({fmt::format("{:016x}{:016x}", instruction.word.hi, instruction.word.lo),
                      instruction.text, instruction.file, instruction.line});
}

Json triple(const std::uint32_t (&values)[3]) { return Json::array({values[0], values[1], values[2]}); }
Json triple(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

/// Reads an object's members in turn; whatever is missing, of another type or left over is an error.
class Members {
 public:
  Members(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("expected an object");
  }

  const Json& member(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) fail(fmt::format("key '{}' is missing", key));
    ++read_;
    return *found;
  }

  void read(const char* key, std::string& value) {
    const Json& json = member(key);
    if (!json.is_string()) fail(fmt::format("key '{}' is no text", key));
    value = json.get<std::string>();
  }

  template <class Integer>
  void read(const char* key, Integer& value) {
    number(key, member(key), value);
  }

  template <class Integer>
  void number(const char* key, const Json& json, Integer& value) const {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<Integer>::max()) {
      fail(fmt::format("key '{}' holds no number of its range", key));
    }
    value = json.get<Integer>();
  }

  const Json& array(const char* key, const Json& json, std::size_t size) const {
    if (!json.is_array() || json.size() != size)
      fail(fmt::format("key '{}' holds no array of {}", key, size));
    return json;
  }

  void read(const char* key, std::uint32_t (&values)[3]) {
    const Json& json = array(key, member(key), 3);
    for (std::size_t i = 0; i < 3; ++i) number(key, json[i], values[i]);
  }

  void read(const char* key, Dim3& d) {
    std::uint32_t values[3];
    read(key, values);
    d = {values[0], values[1], values[2]};
  }

  void finish() const {
    if (read_ != object_.size()) fail(fmt::format("{} keys, expected {}", object_.size(), read_));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", where_, what));
  }

 private:
  const Json& object_;
  std::string where_;
  std::size_t read_ = 0;
};

isa::Word word_from(const std::string& digits, const Members& in) {
  isa::Word word;
  const char* middle = digits.data() + 16;
  const auto half = [](const char* first, const char* last, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(first, last, value, 16);
    return error == std::errc{} && end == last;
  };
  if (digits.size() != 32 || !half(digits.data(), middle, word.hi) || !half(middle, middle + 16, word.lo)) {
    in.fail(fmt::format("'{}' is no instruction word of 32 hexadecimal digits", digits));
  }
  return word;
}

void parse_code(Members& in, isa::Program& program) {
  isa::Labels labels;
  const Json& label_json = in.member("labels");
  if (!label_json.is_object()) in.fail("key 'labels' is no object");
  for (const auto& [name, offset] : label_json.items()) in.number("labels", offset, labels[name]);
  const Json& code = in.member("code");
  if (!code.is_array()) in.fail("key 'code' is no array");
  program.code.reserve(code.size());
  for (const Json& row : code) {
    in.array("code", row, 4);
    if (!row[0].is_string() || !row[1].is_string()) in.fail("key 'code' holds a row without word and text");
    const auto offset = static_cast<std::uint32_t>(program.code.size() * kInstructionBytes);
    isa::Instruction instruction = isa::parse_instruction(
        word_from(row[0].get<std::string>(), in), row[1].get<std::string>(), offset, program.sm, labels);
    in.number("code", row[2], instruction.file);
    in.number("code", row[3], instruction.line);
    if (instruction.file > program.files.size())
      in.fail("an instruction names a source file that is not listed");
    program.code.push_back(std::move(instruction));
  }
}

void parse_program(const Json& json, const std::string& where, isa::Program& program) {
  Members in(json, where + ": program");
  in.read("sm", program.sm);
  in.read("kernel", program.kernel);
  in.read("mangled", program.mangled);
  in.read("code_sha256", program.code_sha256);
  in.read("toolkit", program.toolkit);
  in.read("registers", program.registers);
  in.read("barriers", program.barriers);
  in.read("static_shared", program.static_shared);
  in.read("shared_base", program.shared_base);
  in.read("local_bytes", program.local_bytes);
  in.read("max_threads", program.max_threads);
  in.read("required_threads", program.required_threads);
  in.read("cluster", program.cluster);
  in.read("parameter_base", program.parameter_base);
  in.read("parameter_bytes", program.parameter_bytes);
  const Json& parameters = in.member("parameters");
  if (!parameters.is_array()) in.fail("key 'parameters' is no array");
  for (const Json& row : parameters) {
    in.array("parameters", row, 2);
    isa::Parameter& parameter = program.parameters.emplace_back();
    in.number("parameters", row[0], parameter.offset);
    in.number("parameters", row[1], parameter.size);
  }
  const Json& files = in.member("files");
  if (!files.is_array()) in.fail("key 'files' is no array");
  for (const Json& file : files) {
    if (!file.is_string()) in.fail("key 'files' holds something that is no text");
    program.files.push_back(file.get<std::string>());
  }
  parse_code(in, program);
  in.finish();
}

}  // namespace

std::string head_text(const isa::Program& program, const LaunchInfo& launch) {
  Json parameters = Json::array();
  for (const isa::Parameter& p : program.parameters) parameters.push_back(Json::array({p.offset, p.size}));
  Json code = Json::array();
  for (const isa::Instruction& instruction : program.code) code.push_back(instruction_json(instruction));
  const Json head = {
      {"program",
       {{"sm", program.sm},
        {"kernel", program.kernel},
        {"mangled", program.mangled},
        {"code_sha256", program.code_sha256},
        {"toolkit", program.toolkit},
        {"registers", program.registers},
        {"barriers", program.barriers},
        {"static_shared", program.static_shared},
        {"shared_base", program.shared_base},
        {"local_bytes", program.local_bytes},
        {"max_threads", program.max_threads},
        {"required_threads", triple(program.required_threads)},
        {"cluster", triple(program.cluster)},
        {"parameter_base", program.parameter_base},
        {"parameter_bytes", program.parameter_bytes},
        {"parameters", std::move(parameters)},
        {"files", program.files},
        {"labels", labels_of(program)},
        {"code", std::move(code)}}},
      {"launch",
       {{"name", launch.name},
        {"grid", triple(launch.grid)},
        {"block", triple(launch.block)},
        {"cluster", triple(launch.cluster)},
        {"dynamic_shared", launch.dynamic_shared}}},
  };
  // A file name that is no UTF-8 is somebody's legacy, not a reason to lose the trace.
  return head.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void parse_head(const std::string& text, const std::string& where, isa::Program& program,
                LaunchInfo& launch) {
  const Json head = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  Members in(head, where);
  parse_program(in.member("program"), where, program);
  Members launch_in(in.member("launch"), where + ": launch");
  launch_in.read("name", launch.name);
  launch_in.read("grid", launch.grid);
  launch_in.read("block", launch.block);
  launch_in.read("cluster", launch.cluster);
  launch_in.read("dynamic_shared", launch.dynamic_shared);
  launch_in.finish();
  in.finish();
}

}  // namespace foretrace::trace
