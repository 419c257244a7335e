#include "sim/frontend/launch/parameters.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

struct NamedType {
  std::string_view name;  // as the demangler prints it
  ElementType type;
};

constexpr NamedType kNumbers[] = {
    {"signed char", ElementType::i8},   {"char", ElementType::i8},
    {"unsigned char", ElementType::u8}, {"bool", ElementType::u8},
    {"short", ElementType::i16},        {"unsigned short", ElementType::u16},
    {"int", ElementType::i32},          {"unsigned int", ElementType::u32},
    {"long", ElementType::i64},         {"unsigned long", ElementType::u64},
    {"long long", ElementType::i64},    {"unsigned long long", ElementType::u64},
    {"__half", ElementType::f16},       {"__nv_bfloat16", ElementType::bf16},
    {"float", ElementType::f32},        {"double", ElementType::f64},
};

std::optional<ElementType> number_type(std::string_view name) {
  for (const NamedType& number : kNumbers) {
    if (name == number.name) return number.type;
  }
  return std::nullopt;
}

/// "void f<33>(float const*, int)" -> {"float const*", "int"}; nothing for a name without a parameter list.
std::vector<std::string> parameter_types(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return {};
  const std::string_view text = demangled.get();
  if (text.empty() || text.back() != ')') return {};
  // From the end to the parenthesis that opens the list, cutting at the commas that stand in no bracket.
  std::vector<std::string> types;
  int depth = 0;
  std::size_t end = text.size() - 1;
  for (std::size_t at = end; at-- > 0;) {
    const char c = text[at];
    if (c == ')' || c == '>' || c == ']') ++depth;
    const bool opens_list = c == '(' && depth == 0;
    if (opens_list || (c == ',' && depth == 0)) {
      std::string_view type = text.substr(at + 1, end - at - 1);
      if (!type.empty() && type.front() == ' ') type.remove_prefix(1);
      if (!type.empty()) types.insert(types.begin(), std::string(type));
      end = at;
    }
    if (opens_list) return types;
    if (c == '(' || c == '<' || c == '[') --depth;
  }
  return {};
}

std::string listed(const std::vector<std::string>& types) {
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : ", ") + type;
  return text;
}

/// What a pointer points to: "float const*" -> "float"; nothing for what is no pointer.
std::optional<std::string> pointee(std::string type) {
  if (type.empty() || type.back() != '*') return std::nullopt;
  type.pop_back();
  for (const std::string_view qualifier : {" volatile", " const"}) {
    if (type.ends_with(qualifier)) type.erase(type.size() - qualifier.size());
  }
  return type;
}

bool same_kind(ElementType a, ElementType b) {
  return type_info(a).bytes == type_info(b).bytes && type_info(a).is_float == type_info(b).is_float &&
         type_info(a).significand == type_info(b).significand;
}

bool is_pointer_form(const Argument& argument) {
  return argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::reference ||
         argument.kind == ArgumentKind::null;
}

class Checker {
 public:
  Checker(const LaunchDescription& launch, const isa::Program& program)
      : launch_(launch), program_(program), types_(parameter_types(program.mangled)) {}

  void check() const {
    const std::size_t wanted = program_.parameters.size();
    if (launch_.arguments.size() != wanted) {
      fail(fmt::format(
          "{} argument{} given, expected {}{}{}", launch_.arguments.size(),
          launch_.arguments.size() == 1 ? " is" : "s are", wanted,
          types_.size() == wanted && wanted != 0 ? " (" + listed(types_) + ")" : "",
          launch_.arguments.empty() ? ", such as buf:f32:1024 or val:i32:1024 (docs/launch_files.md)" : ""));
    }
    for (std::size_t i = 0; i < wanted; ++i) { check_argument(i, types_.size() == wanted ? types_[i] : ""); }
    check_limits();
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("kernel '{}': {}", program_.kernel, message));
  }
  [[noreturn]] void fail(std::size_t position, std::string_view expected) const {
    fail(fmt::format("argument {} '{}': {}", position + 1, launch_.arguments[position].text, expected));
  }

  void check_argument(std::size_t position, const std::string& type) const {
    const Argument& argument = launch_.arguments[position];
    const std::size_t size = program_.parameters[position].size;
    if (argument.kind != ArgumentKind::bytes) check_type(position, type);
    if (argument.parameter_bytes() != size) {
      fail(position, fmt::format("the parameter{} has {} bytes, the argument {}",
                                 type.empty() ? "" : " '" + type + "'", size, argument.parameter_bytes()));
    }
  }

  void check_type(std::size_t position, const std::string& type) const {
    const Argument& argument = launch_.arguments[position];
    if (const auto number = number_type(type)) {
      if (argument.kind != ArgumentKind::value || !same_kind(argument.type, *number)) {
        fail(position,
             fmt::format("the parameter is '{}', expected val:{}:V", type, element_type_name(*number)));
      }
    } else if (const auto target = pointee(type)) {
      if (!is_pointer_form(argument)) {
        fail(position, fmt::format("the parameter is '{}', expected buf, ref or null", type));
      }
      const auto element = number_type(*target);
      if (argument.kind == ArgumentKind::buffer && element && element_bytes(*element) > 1 &&
          !same_kind(argument.type, *element)) {
        fail(position, fmt::format("the parameter is '{}', expected a buffer of {}", type,
                                   element_type_name(*element)));
      }
    }
  }

  void check_limits() const {
    const auto block = launch_.block.count();
    if (program_.max_threads != 0 && block > program_.max_threads) {
      fail(fmt::format("a block of {} threads, its __launch_bounds__ allow {}", block, program_.max_threads));
    }
    const auto differs = [](const std::uint32_t* wanted, Dim3 given) {
      return wanted[0] != 0 && (given.x != wanted[0] || given.y != wanted[1] || given.z != wanted[2]);
    };
    if (differs(program_.required_threads, launch_.block)) {
      fail(fmt::format("a block of {},{},{}, it was compiled for {},{},{}", launch_.block.x, launch_.block.y,
                       launch_.block.z, program_.required_threads[0], program_.required_threads[1],
                       program_.required_threads[2]));
    }
    // A launch that names no cluster gets the compiled one.
    if (launch_.cluster.count() != 1 && differs(program_.cluster, launch_.cluster)) {
      fail(fmt::format("a cluster of {},{},{}, it was compiled for {},{},{}", launch_.cluster.x,
                       launch_.cluster.y, launch_.cluster.z, program_.cluster[0], program_.cluster[1],
                       program_.cluster[2]));
    }
  }

  const LaunchDescription& launch_;
  const isa::Program& program_;
  std::vector<std::string> types_;
};

}  // namespace

void check_parameters(const LaunchDescription& launch, const isa::Program& program) {
  Checker(launch, program).check();
}

}  // namespace foretrace::frontend
