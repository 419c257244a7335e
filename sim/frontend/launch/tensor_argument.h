// A tensor map as an argument: tmap:TYPE:of=NAME[+BYTES]:dims=AxB:box=CxD with its options (docs/launch_files.md).
//
// Models:  the fields of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. Whether they make a map is asked by whoever encodes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::frontend {

struct TensorArgument {
  std::string type;                           ///< "f16" ...: as the form gives it
  std::vector<std::int64_t> dims;             ///< innermost first
  std::vector<std::int64_t> strides;          ///< bytes, of dimension 1 and on; empty: no gaps
  std::vector<std::int64_t> box;              ///< empty: im2col
  std::vector<std::int64_t> element_strides;  ///< empty: all 1
  std::vector<std::int64_t> lower, upper;     ///< im2col: corners, of dimension 1 and on
  std::int64_t channels = 0, pixels = 0;      ///< im2col
  int swizzle_bytes = 0, interleave_bytes = 0, promotion_bytes = 0;
  bool nan_fill = false;

  bool im2col() const { return box.empty(); }
};

/// What follows "tmap:"; the buffer's name and offset go to `buffer` and `offset`. Gives "" or what was expected.
std::string parse_tensor(std::string_view text, TensorArgument& tensor, std::string& buffer,
                         std::uint64_t& offset);

}  // namespace foretrace::frontend
