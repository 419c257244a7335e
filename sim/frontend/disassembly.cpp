#include "sim/frontend/disassembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "model/isa/parse.h"
#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

struct Line {
  std::uint32_t offset = 0;
  std::string_view text;
  isa::Word word;
  std::uint32_t file = 0, source_line = 0;
  std::shared_ptr<const isa::CallChain> inlined;
};

struct Section {
  std::vector<Line> lines;
  isa::Labels labels;
};

std::string_view left_trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

std::string_view right_trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// The hexadecimal number in "/*0010*/" or "/* 0x00000a00ff017b82 */" at the start of `text`, which is moved past it.
std::optional<std::uint64_t> comment_number(std::string_view& text) {
  if (text.substr(0, 2) != "/*") return std::nullopt;
  const auto end = text.find("*/");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view digits = right_trimmed(left_trimmed(text.substr(2, end - 2)));
  if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.empty() || error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  text = left_trimmed(text.substr(end + 2));
  return value;
}

/// A header of the CUDA Toolkit or of the system, by where such headers are installed.
bool is_toolkit_header(std::string_view path) {
  static constexpr std::string_view kPlaces[] = {"/targets/x86_64-linux/include/",
                                                 "/targets/sbsa-linux/include/", "/nvidia/cu13/include/",
                                                 "/usr/include/", "/usr/lib/gcc/"};
  return std::any_of(std::begin(kPlaces), std::end(kPlaces),
                     [&](std::string_view place) { return path.find(place) != std::string_view::npos; });
}

class ListingReader {
 public:
  ListingReader(std::string_view text, const std::string& mangled, std::string where,
                std::vector<std::string>& files)
      : text_(text), where_(std::move(where)), files_(files),
        start_(fmt::format("\t.section\t.text.{},", mangled)) {
    section_.labels[mangled] = 0;
  }

  Section read() {
    std::string_view rest = text_;
    if (!enter(rest)) { throw InputError(fmt::format("{}: the disassembly has no section for it", where_)); }
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const std::string_view line = right_trimmed(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      if (left_trimmed(line).substr(0, 9) == ".section\t" || line.substr(0, 8) == "//------") break;
      read_line(line);
    }
    if (half_read_) fail("the second half of an encoding is missing");
    return std::move(section_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}, offset 0x{:x} of the disassembly: {}", where_, next_offset(), what));
  }

  std::uint32_t next_offset() const {
    return static_cast<std::uint32_t>(section_.lines.size()) * kInstructionBytes;
  }

  bool enter(std::string_view& rest) const {
    const auto at = rest.find(start_);
    if (at == std::string_view::npos) return false;
    const auto end = rest.find('\n', at);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    return true;
  }

  void read_line(std::string_view line) {
    const std::string_view content = left_trimmed(line);
    if (content.empty()) return;
    if (content.substr(0, 2) == "/*") return read_encoded(content);
    if (half_read_) fail("the second half of an encoding is missing");
    if (content.substr(0, 4) == "//##") return read_source_line(content);
    if (content.back() == ':') {
      section_.labels[std::string(content.substr(0, content.size() - 1))] = next_offset();
      return;
    }
    if (content.front() == '.' || content.substr(0, 2) == "//") return;
    fail(fmt::format("the line '{}' is not understood", content));
  }

  /// A line of code, or the second half of an encoding.
  void read_encoded(std::string_view content) {
    // What nvdisasm has no text for (code patched by hand) has its encoding alone.
    const bool without_text = !half_read_ && content.substr(0, 5) == "/* 0x";
    const auto number = comment_number(content);
    if (!number) fail("a comment holds no number");
    if (half_read_) {
      section_.lines.back().word.hi = *number;
      half_read_ = false;
      return;
    }
    Line line;
    line.offset = without_text ? next_offset() : static_cast<std::uint32_t>(*number);
    if (line.offset != next_offset()) fail(fmt::format("found offset 0x{:x}", line.offset));
    if (without_text) {
      line.word.lo = *number;
      return add(std::move(line));
    }
    const auto encoding = content.rfind("/* 0x");
    if (encoding == std::string_view::npos) fail("an instruction without its encoding; use nvdisasm -c -hex");
    line.text = right_trimmed(content.substr(0, encoding));
    std::string_view tail = content.substr(encoding);
    const auto low = comment_number(tail);
    if (!low) fail("an encoding is not understood");
    line.word.lo = *low;
    add(std::move(line));
  }

  /// An instruction of which the first half has been read.
  void add(Line line) {
    line.file = file_;
    line.source_line = source_line_;
    if (chain_open_)
      inlined_ = callers_.empty() ? nullptr : std::make_shared<const isa::CallChain>(std::move(callers_));
    callers_.clear();
    line.inlined = inlined_;
    section_.lines.push_back(std::move(line));
    half_read_ = true;
    chain_open_ = false;
  }

  /// `//## File "src/k.cu", line 12 inlined at ...`. Several such lines are the chain of inlined calls, innermost
  /// first; the instruction belongs to the first that stands outside the toolkit's headers, and those after it are its callers.
  void read_source_line(std::string_view content) {
    static constexpr std::string_view kFile = "File \"";
    const auto open = content.find(kFile);
    if (open == std::string_view::npos) return;
    const auto name_start = open + kFile.size();
    const auto close = content.find('"', name_start);
    const auto number = content.find("line ", close == std::string_view::npos ? content.size() : close);
    if (number == std::string_view::npos) fail("a source line is not understood");
    const std::string name(content.substr(name_start, close - name_start));
    std::uint32_t place = 0;
    std::from_chars(content.data() + number + 5, content.data() + content.size(), place);
    if (chain_open_ && chain_settled_) callers_.push_back({name, place});
    const bool continues = chain_open_ && (chain_settled_ || is_toolkit_header(name));
    chain_settled_ = chain_open_ ? chain_settled_ || !is_toolkit_header(name) : !is_toolkit_header(name);
    chain_open_ = true;
    if (continues) return;
    const auto known = std::find(files_.begin(), files_.end(), name);
    file_ = static_cast<std::uint32_t>(known - files_.begin()) + 1;
    if (known == files_.end()) files_.push_back(name);
    source_line_ = place;
  }

  std::string_view text_;
  std::string where_;
  std::vector<std::string>& files_;
  std::string start_;
  Section section_;
  bool half_read_ = false;
  std::uint32_t file_ = 0, source_line_ = 0;
  bool chain_open_ = false;                        // the last line read was a source line
  bool chain_settled_ = false;                     // its chain has named a file of the user's
  isa::CallChain callers_;                         // of the chain that is being read
  std::shared_ptr<const isa::CallChain> inlined_;  // of the instructions that follow
};

/// No code: what stands between two sections of a kernel's code.
void pad(isa::Program& program, std::uint32_t end) {
  static constexpr isa::Word kNop{0x0000000000007918, 0x000fc00000000000};
  while (program.code.size() * kInstructionBytes < end) {
    const auto offset = static_cast<std::uint32_t>(program.code.size() * kInstructionBytes);
    program.code.push_back(isa::parse_instruction(kNop, "NOP ;", offset, program.sm, {}));
  }
}

}  // namespace

isa::Program decode_kernel(const KernelImage& image, std::string_view disassembly, const std::string& where) {
  isa::Program program = image.program;
  const std::string kernel = fmt::format("{}: kernel {}", where, program.kernel);
  std::vector<CodePart> parts = image.parts;
  if (parts.empty()) parts.push_back({program.mangled, 0, static_cast<std::uint32_t>(image.text.size()), 0});
  program.code.reserve(image.text.size() / kInstructionBytes);
  for (const CodePart& part : parts) {
    Section section = ListingReader(disassembly, part.mangled, kernel, program.files).read();
    if (section.lines.size() != part.bytes / kInstructionBytes) {
      throw InputError(fmt::format("{}: the disassembly has {} instructions, the cubin {}", kernel,
                                   section.lines.size(), part.bytes / kInstructionBytes));
    }
    for (auto& [name, offset] : section.labels) offset += part.offset;
    pad(program, part.offset);
    for (const Line& line : section.lines) {
      const std::uint32_t offset = part.offset + line.offset;
      isa::Word word;
      std::memcpy(&word.lo, image.text.data() + offset, sizeof word.lo);
      std::memcpy(&word.hi, image.text.data() + offset + sizeof word.lo, sizeof word.hi);
      if (word.lo != line.word.lo || word.hi != line.word.hi) {
        throw InputError(
            fmt::format("{}, offset 0x{:x}: the disassembly is of another cubin", kernel, offset));
      }
      const std::string name =
          line.text.empty() ? fmt::format("0x{:016x} ;", word.lo) : std::string(line.text);
      isa::Instruction instruction = isa::parse_instruction(word, name, offset, program.sm, section.labels);
      instruction.file = line.file;
      instruction.line = line.source_line;
      program.code.push_back(std::move(instruction));
      program.inlined.resize(program.code.size());
      program.inlined.back() = line.inlined;
    }
  }
  return program;
}

std::string format_program(const isa::Program& program,
                           const std::function<std::string(const isa::Instruction&)>& pipe_of) {
  std::string out =
      fmt::format("// {}  sm_{}  {} registers, {} bytes of static shared memory, {} bytes of stack\n",
                  program.kernel, program.sm, program.registers, program.static_shared, program.local_bytes);
  std::uint32_t file = 0, line = 0;
  const auto barrier = [](std::uint8_t index) {
    return index < kScoreboards ? static_cast<char>('0' + index) : '-';
  };
  for (const isa::Instruction& instruction : program.code) {
    if (instruction.line != 0 && (instruction.file != file || instruction.line != line)) {
      file = instruction.file;
      line = instruction.line;
      out += fmt::format("// {}:{}\n", program.files[file - 1], line);
    }
    const isa::ControlBits& control = instruction.control;
    out += fmt::format("{:04x}  W:{} R:{} WM:{:06b} S:{:02} {}  ", instruction.offset,
                       barrier(control.write_barrier), barrier(control.read_barrier), control.wait_mask,
                       control.stall, control.yield ? 'Y' : '-');
    if (pipe_of) out += fmt::format("{:<10} ", pipe_of(instruction));
    // Guards stand in a column of their own, so that mnemonics line up.
    const auto blank = instruction.text.front() == '@' ? instruction.text.find(' ') : std::string::npos;
    const bool guarded = blank != std::string::npos;
    out += fmt::format("{:>5} {}\n", guarded ? instruction.text.substr(0, blank) : "",
                       guarded ? instruction.text.substr(blank + 1) : instruction.text);
  }
  return out;
}

}  // namespace foretrace::frontend
