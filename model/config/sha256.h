// SHA-256 of a byte string, to name configurations and machine code.
//
// Models:  nothing; libcrypto computes it.
// Ignores: streaming input; what we hash fits in memory.
// Source:  FIPS 180-4 (NIST, 2015). Used for identity, not for secrecy.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::config {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace foretrace::config
