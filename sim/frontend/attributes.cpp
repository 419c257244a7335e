#include "sim/frontend/attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

enum Code : std::uint8_t {
  kMaxThreads = 0x05,
  kParamCbank = 0x0a,
  kReqntid = 0x10,
  kFrameSize = 0x11,
  kMinStackSize = 0x12,
  kKparamInfo = 0x17,
  kCbankParamSize = 0x19,
  kMaxStackSize = 0x23,
  kRegcount = 0x2f,
  kCtaPerCluster = 0x3d,
  kKparamInfoV2 = 0x45,
  kNumBarriers = 0x4c
};

struct Attribute {
  std::uint8_t code = 0;
  std::uint32_t value = 0;             ///< formats with an inline value
  std::span<const std::byte> payload;  ///< format 4
};

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t offset, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= std::to_integer<std::uint32_t>(bytes[offset + i]) << (8 * i);
  return value;
}

template <typename Visit>
void for_each_attribute(std::span<const std::byte> bytes, const std::string& where, Visit visit) {
  std::size_t at = 0;
  while (at + 4 <= bytes.size()) {
    Attribute attribute;
    const auto format = std::to_integer<std::uint8_t>(bytes[at]);
    attribute.code = std::to_integer<std::uint8_t>(bytes[at + 1]);
    const std::size_t start = at;
    at += 4;
    switch (format) {
      case 1:  // no value
        break;
      case 2:  // one byte
        attribute.value = word_at(bytes, start + 2, 1);
        break;
      case 3:  // two bytes
        attribute.value = word_at(bytes, start + 2, 2);
        break;
      case 4: {
        const std::size_t size = word_at(bytes, start + 2, 2);
        if (at + size > bytes.size()) {
          throw InputError(fmt::format("{}: the attribute 0x{:x} at byte {} runs over its section's end",
                                       where, attribute.code, start));
        }
        attribute.payload = bytes.subspan(at, size);
        at += size;
        break;
      }
      default:
        throw InputError(
            fmt::format("{}: the attribute at byte {} has the unknown format {}", where, start, format));
    }
    visit(attribute);
  }
}

void require(const Attribute& attribute, std::size_t size, const std::string& where) {
  if (attribute.payload.size() < size) {
    throw InputError(fmt::format("{}: the attribute 0x{:x} holds {} bytes, expected {}", where,
                                 attribute.code, attribute.payload.size(), size));
  }
}

void read_three(const Attribute& attribute, std::uint32_t (&out)[3], const std::string& where) {
  require(attribute, 12, where);
  for (std::size_t i = 0; i < 3; ++i) out[i] = word_at(attribute.payload, 4 * i, 4);
}

}  // namespace

KernelAttributes read_kernel_attributes(std::span<const std::byte> bytes, const std::string& where) {
  KernelAttributes out;
  std::map<std::uint32_t, isa::Parameter> parameters;
  for_each_attribute(bytes, where, [&](const Attribute& attribute) {
    switch (attribute.code) {
      case kKparamInfo:
      case kKparamInfoV2: {
        require(attribute, 12, where);
        isa::Parameter& parameter = parameters[word_at(attribute.payload, 4, 2)];
        parameter.offset = word_at(attribute.payload, 6, 2);
        // the other bits: a pointer's space and the alignment of what it points to (PTX's .ptr .align)
        const std::uint32_t size = word_at(attribute.payload, 8, 4);
        parameter.size = attribute.code == kKparamInfo ? size >> 18 : size & 0xffff;
        break;
      }
      case kParamCbank:  // symbol, then size << 16 | offset
        require(attribute, 8, where);
        out.parameter_base = word_at(attribute.payload, 4, 2);
        break;
      case kCbankParamSize: out.parameter_bytes = attribute.value; break;
      case kNumBarriers: out.barriers = attribute.value; break;
      case kMaxThreads: read_three(attribute, out.max_threads, where); break;
      case kReqntid: read_three(attribute, out.required_threads, where); break;
      case kCtaPerCluster: read_three(attribute, out.cluster, where); break;
      default: break;
    }
  });
  for (const auto& [ordinal, parameter] : parameters) {
    if (ordinal != out.parameters.size()) {
      throw InputError(fmt::format("{}: parameter {} is not described", where, out.parameters.size()));
    }
    out.parameters.push_back(parameter);
  }
  return out;
}

ModuleAttributes read_module_attributes(std::span<const std::byte> bytes, const std::string& where) {
  ModuleAttributes out;
  for_each_attribute(bytes, where, [&](const Attribute& attribute) {
    std::map<std::uint32_t, std::uint32_t>* table = nullptr;
    if (attribute.code == kRegcount) table = &out.registers;
    if (attribute.code == kFrameSize) table = &out.frame_bytes;
    if (attribute.code == kMinStackSize) table = &out.min_stack_bytes;
    if (attribute.code == kMaxStackSize) table = &out.max_stack_bytes;
    if (table == nullptr) return;
    require(attribute, 8, where);
    (*table)[word_at(attribute.payload, 0, 4)] = word_at(attribute.payload, 4, 4);
  });
  return out;
}

}  // namespace foretrace::frontend
