#include "model/config/sha256.h"

#include <fmt/format.h>
#include <openssl/sha.h>

namespace foretrace::config {

std::string sha256(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::string out;
  for (const unsigned char byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace foretrace::config
