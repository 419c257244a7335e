#include "validate/harness/launch_table.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace foretrace::harness {
namespace {

/// One line of the table, split on demand; says where it stands when something is wrong.
class Line {
 public:
  Line(const std::string& path, int number, const std::string& text)
      : path_(path), number_(number), rest_(text) {}

  [[noreturn]] void fail(const std::string& expected) const {
    throw std::runtime_error(path_ + ":" + std::to_string(number_) + ": expected " + expected);
  }
  /// The next field; the line must have one.
  std::string word(const char* what) {
    if (rest_.empty()) fail(what);
    const std::size_t space = rest_.find(' ');
    std::string first = rest_.substr(0, space);
    rest_ = space == std::string::npos ? std::string() : rest_.substr(space + 1);
    return first;
  }
  bool more() const { return !rest_.empty(); }
  std::string rest() const { return rest_; }
  std::uint64_t number(const char* what, int base = 10) {
    const std::string text = word(what);
    std::size_t used = 0;
    std::uint64_t value = 0;
    try {
      value = std::stoull(text, &used, base);
    } catch (const std::exception&) { fail(what); }
    if (used != text.size()) fail(what);
    return value;
  }
  unsigned small(const char* what) {
    const std::uint64_t value = number(what);
    if (value > 0xffffffffu) fail(what);
    return static_cast<unsigned>(value);
  }
  double real(const char* what) {
    const std::string text = word(what);
    try {
      return std::stod(text);
    } catch (const std::exception&) { fail(what); }
  }
  std::vector<unsigned char> hex(const char* what) {
    const std::string text = word(what);
    if (text.size() % 2 != 0) fail(what);
    std::vector<unsigned char> bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
      if (text.find_first_not_of("0123456789abcdef") != std::string::npos) fail(what);
      bytes.push_back(static_cast<unsigned char>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
  }

 private:
  std::string path_;
  int number_;
  std::string rest_;
};

Argument read_argument(Line& line) {
  Argument a;
  const std::string kind = line.word("buf, val, ref, null or bytes");
  if (kind == "null") return a;
  if (kind == "bytes") {
    a.kind = ArgumentKind::value;
    a.bytes = line.hex("bytes as two hexadecimal digits each");
    return a;
  }
  if (kind == "ref") {
    a.kind = ArgumentKind::reference;
    a.name = line.word("a buffer's name");
    a.offset = line.number("bytes into the buffer");
    return a;
  }
  if (kind != "buf" && kind != "val") line.fail("buf, val, ref, null or bytes");
  if (!frontend::element_type_from_name(line.word("an element type"), a.type)) {
    line.fail("an element type");
  }
  if (kind == "val") {
    a.kind = ArgumentKind::value;
    a.bytes = line.hex("the value's bytes as two hexadecimal digits each");
    return a;
  }
  a.kind = ArgumentKind::buffer;
  a.count = line.number("a number of elements");
  if (!frontend::generator_from_name(line.word("a generator"), a.generator.kind)) {
    line.fail("a generator");
  }
  a.generator.low_bits = line.number("the low bound's bits", 16);
  a.generator.high_bits = line.number("the high bound's bits", 16);
  a.generator.seed = line.number("a seed");
  a.name = line.word("a buffer's name or -");
  if (a.name == "-") a.name.clear();
  if (a.generator.kind == frontend::GeneratorKind::file) a.path = line.rest();
  return a;
}

void read_three(Line& line, unsigned (&out)[3]) {
  for (unsigned& n : out) n = line.small("three numbers");
}

void read_key(const std::string& key, Line& line, Launch& launch) {
  if (key == "source") {
    launch.source = line.rest();
  } else if (key == "define") {
    launch.defines.push_back(line.rest());
  } else if (key == "nvcc") {
    launch.nvcc = line.rest();
  } else if (key == "cubin") {
    launch.cubin = line.rest();
  } else if (key == "kernel") {
    launch.mangled = line.rest();
  } else if (key == "grid") {
    read_three(line, launch.grid);
  } else if (key == "block") {
    read_three(line, launch.block);
  } else if (key == "cluster") {
    read_three(line, launch.cluster);
  } else if (key == "shared") {
    launch.shared = line.small("bytes of dynamic shared memory");
  } else if (key == "arg") {
    launch.arguments.push_back(read_argument(line));
  } else if (key == "symbol") {
    Symbol s;
    s.name = line.word("a symbol's name");
    s.contents = read_argument(line);
    launch.symbols.push_back(s);
  } else if (key == "after") {
    launch.after = line.rest();
  } else if (key == "reference") {
    launch.reference = line.rest();
  } else if (key == "check") {
    Check c;
    c.buffer = line.word("a buffer's name");
    c.relative = line.real("a relative tolerance");
    c.absolute = line.real("an absolute tolerance");
    launch.checks.push_back(c);
  } else if (key == "fault") {
    launch.fault = line.rest();
  } else {
    line.fail("a key of docs/launch_files.md, found " + key);
  }
}

}  // namespace

std::vector<Launch> read_launch_table(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text) || text != "foretrace-launches 1") {
    throw std::runtime_error(path + ":1: expected \"foretrace-launches 1\"");
  }
  std::vector<Launch> launches;
  bool open = false;
  int number = 1;
  while (std::getline(file, text)) {
    Line line(path, ++number, text);
    if (text.empty()) line.fail("a key; the table has no empty lines");
    const std::string key = line.word("a key");
    if (key == "launch") {
      if (open) line.fail("end before the next launch");
      launches.emplace_back();
      launches.back().name = line.rest();
      open = true;
    } else if (!open) {
      line.fail("launch");
    } else if (key == "end") {
      open = false;
    } else {
      read_key(key, line, launches.back());
    }
  }
  if (open) throw std::runtime_error(path + ": expected end after the last launch");
  return launches;
}

}  // namespace foretrace::harness
