#include "sim/frontend/names.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <regex>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// The scopes and the name that a mangled name begins with; in place of template arguments a number by which instances differ. A name
/// that begins with anything else comes back as it is.
std::string beginning_of(const std::string& mangled) {
  std::size_t at = starts_with(mangled, "_ZN") ? 3 : 2;
  std::string name;
  while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0) {
    std::size_t length = 0;
    while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0 &&
           length < mangled.size())
      length = 10 * length + static_cast<std::size_t>(mangled[at++] - '0');
    if (length == 0 || length > mangled.size() - at) return mangled;
    const std::string part = mangled.substr(at, length);
    name += (name.empty() ? "" : "::") + (starts_with(part, "_GLOBAL__N_") ? "(anonymous namespace)" : part);
    at += length;
  }
  if (name.empty()) return mangled;
  if (at == mangled.size() || mangled[at] != 'I') return name;
  std::uint32_t number = 2166136261;  // FNV-1a
  for (const char c : mangled) number = (number ^ static_cast<unsigned char>(c)) * 16777619;
  return fmt::format("{}<...{:08x}>", name, number);
}

/// The runtime's demangler gives names of more than 1,024 characters up, which CUTLASS's and FlashAttention's kernels have.
std::string demangled(const std::string& mangled) {
  if (!starts_with(mangled, "_Z")) return mangled;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : beginning_of(mangled);
}

/// The part of a demangled function name before its parameter list: the last '(' outside <> that closes at the end.
std::string without_parameters(const std::string& name) {
  int angle = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++angle;
    if (name[i] == '>' && i > 0 && name[i - 1] != '-') --angle;
    const bool anonymous = name.compare(i, 21, "(anonymous namespace)") == 0;
    if (name[i] == '(' && angle == 0 && !anonymous) return name.substr(0, i);
    if (anonymous) i += 20;
  }
  return name;
}

/// Drops the return type that a template instance's demangled name starts with: the last blank outside brackets.
std::string without_return_type(const std::string& name) {
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (name[i] == ' ' && depth == 0) start = i + 1;
  }
  return name.substr(start);
}

std::string without_template_arguments(std::string_view name) {
  return std::string(name.substr(0, name.find('<')));
}

/// The name after its last "::" outside brackets.
std::string unqualified(std::string_view name) {
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') start = i + 2;
  }
  return std::string(name.substr(start));
}

std::string replaced_all(std::string text, const std::regex& pattern, const char* with) {
  return std::regex_replace(text, pattern, with);
}

}  // namespace

std::string source_name(const std::string& mangled) {
  const std::string full = demangled(mangled);
  if (full == mangled) return mangled;
  return normalised_name(without_return_type(without_parameters(full)));
}

std::string normalised_name(std::string_view name) {
  static const std::regex kCast(R"(\((?:(?:un)?signed )?(?:int|char|short|long|long long|bool)\)\s*(-?\d))");
  static const std::regex kUnsigned(R"(\bunsigned\b(?!\s+(?:int|char|short|long)\b))");
  static const std::regex kNumberSuffix(R"(\b(\d+)(?:u|l|ul|ll|ull|U|L|UL|LL|ULL)\b)");
  std::string text = replaced_all(std::string(name), kCast, "$1");
  text = replaced_all(std::move(text), kNumberSuffix, "$1");
  text = replaced_all(std::move(text), kUnsigned, "unsigned int");
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) {
      out += text[i];
      continue;
    }
    std::size_t next = i;
    while (next < text.size() && std::isspace(static_cast<unsigned char>(text[next])) != 0) ++next;
    // A blank between two words means something ("unsigned int"), any other is decoration.
    if (!out.empty() && next < text.size() && word_character(out.back()) && word_character(text[next]))
      out += ' ';
    i = next - 1;
  }
  return out;
}

std::vector<std::size_t> match_kernels(const std::vector<std::string>& mangled, const std::string& wanted,
                                       bool regex, const std::string& where) {
  std::vector<std::string> names;
  names.reserve(mangled.size());
  for (const std::string& symbol : mangled) names.push_back(source_name(symbol));
  if (names.empty()) {
    throw InputError(
        fmt::format("{}: holds no kernel; a template is made when its arguments are given: name<32>", where));
  }

  std::vector<std::size_t> found;
  const auto collect = [&](const auto& fits) {
    if (!found.empty()) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (fits(i)) found.push_back(i);
    }
  };
  if (regex) {
    std::regex pattern;
    try {
      pattern = std::regex(wanted);
    } catch (const std::regex_error& error) {
      throw InputError(
          fmt::format("kernel pattern {}: {}; expected a regular expression", wanted, error.what()));
    }
    collect([&](std::size_t i) { return std::regex_search(names[i], pattern); });
    if (!found.empty()) return found;
    throw InputError(
        fmt::format("{}: no kernel matches '{}'; it has {}", where, wanted, fmt::join(names, ", ")));
  }

  const std::string name = normalised_name(wanted);
  collect([&](std::size_t i) { return mangled[i] == wanted; });
  collect([&](std::size_t i) { return normalised_name(demangled(mangled[i])) == name; });
  collect([&](std::size_t i) {
    return names[i] == name || normalised_name(without_parameters(demangled(mangled[i]))) == name;
  });
  collect([&](std::size_t i) { return unqualified(names[i]) == name; });
  // The last arguments may have been left to their defaults: "scan<32>" for "scan<32,float>".
  if (!name.empty() && name.back() == '>') {
    const std::string first_arguments = name.substr(0, name.size() - 1) + ',';
    collect([&](std::size_t i) {
      return starts_with(names[i], first_arguments) || starts_with(unqualified(names[i]), first_arguments);
    });
  }
  collect([&](std::size_t i) { return without_template_arguments(names[i]) == name; });
  collect([&](std::size_t i) { return without_template_arguments(unqualified(names[i])) == name; });
  if (found.size() == 1) return found;
  if (found.empty()) {
    throw InputError(fmt::format("{}: no kernel '{}'; it has {}", where, wanted, fmt::join(names, ", ")));
  }
  std::vector<std::string> candidates;
  for (const std::size_t i : found) {
    // Overloads differ in their parameters only.
    const bool overloaded = std::count(names.begin(), names.end(), names[i]) > 1;
    candidates.push_back(overloaded ? demangled(mangled[i]) : names[i]);
  }
  throw InputError(
      fmt::format("{}: '{}' may be {}: give one of them", where, wanted, fmt::join(candidates, " or ")));
}

}  // namespace foretrace::frontend
