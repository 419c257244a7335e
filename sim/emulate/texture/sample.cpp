#include "sim/emulate/texture/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace foretrace::emulate {

namespace {

constexpr int kFractionBits = 8;
constexpr int kUnit = 1 << kFractionBits;
constexpr double kOne = kUnit;
constexpr double kFar = 1 << 24;  // texels: beyond any image, so that what is infinite stays a number

/// A texel of a level by its numbers; outside: the border's.
struct TexelPlace {
  std::array<std::int64_t, 3> at{};  // -1: border
};

/// Two neighbours in a dimension, and how much of the second one: fraction of 256.
struct Pair {
  std::int64_t low = 0, high = 0;
  int fraction = 0;
};

std::int64_t addressed(std::int64_t i, std::int64_t size, AddressMode mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case AddressMode::wrap: return (i % size + size) % size;
    case AddressMode::mirror: {
      const std::int64_t at = (i % (2 * size) + 2 * size) % (2 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case AddressMode::border: return -1;
    case AddressMode::clamp: break;
  }
  return i < 0 ? 0 : size - 1;
}

/// Rounded to nearest, ties up.
int share(int of, int fraction) { return (of * fraction + kUnit / 2) / kUnit; }

/// The weights of four texels that add up to `all`, bit 0 of the index: the second column, bit 1: the second row.
void weigh_plane(int all, int x, int y, int* weights) {
  const int right = share(all, x), below = share(all, y), both = share(right, y);
  weights[0] = all - right - below + both;
  weights[1] = right - both;
  weights[2] = below - both;
  weights[3] = both;
}

/// In units of 1/256, for the fractions of a position. One and two dimensions: all 65,536 answers of an H100. Three: 64% of its answers,
/// the others 1/256 off in some of the eight.
std::array<int, 8> weights_of(const std::array<int, 3>& fractions, int dimensions) {
  std::array<int, 8> weights{};
  const int y = dimensions > 1 ? fractions[1] : 0, z = dimensions > 2 ? fractions[2] : 0;
  weigh_plane(kUnit - z, fractions[0], y, weights.data());
  if (z != 0) weigh_plane(z, fractions[0], y, weights.data() + 4);
  return weights;
}

class Looker {
 public:
  Looker(const Texture& texture, const Lookup& lookup, const TexelReader& read)
      : texture_(texture), image_(texture.image), sampler_(texture.sampler), lookup_(lookup), read_(read) {}

  Sample run() {
    std::array<double, 3> at{lookup_.at[0], lookup_.at[1], lookup_.at[2]};
    slice_ = std::min(lookup_.layer, image_.layers - 1);
    if (image_.cube) {
      slice_ = std::min(lookup_.layer, image_.layers / 6 - 1) * 6 + face(at);
      for (AddressMode& mode : modes_) mode = AddressMode::clamp;
    } else {
      modes_ = sampler_.address;
      for (AddressMode& mode : modes_) {
        const bool periodic = mode == AddressMode::wrap || mode == AddressMode::mirror;
        if (periodic && !sampler_.normalized) mode = AddressMode::clamp;
      }
    }
    for (double& x : at) x = std::isnan(x) ? 0 : x;
    if (lookup_.whole) {
      const auto level = static_cast<std::int64_t>(lookup_.level);
      one_texel(static_cast<std::size_t>(
          std::clamp<std::int64_t>(level, 0, static_cast<std::int64_t>(image_.levels.size()) - 1)));
    } else if (lookup_.gather >= 0) {
      gather(at);
    } else {
      by_level(at);
    }
    if (out_.touched) out_.passes *= passes_of_texel();
    return out_;
  }

 private:
  /// The face that a direction goes through; leaves the place on it, 0 to 1.
  std::uint32_t face(std::array<double, 3>& at) const {
    const double x = at[0], y = at[1], z = at[2];
    const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    std::uint32_t face = 0;
    double s = 0, t = 0, most = 0;
    if (ax >= ay && ax >= az) {
      face = x < 0 ? 1 : 0, s = x < 0 ? z : -z, t = -y, most = ax;
    } else if (ay >= az) {
      face = y < 0 ? 3 : 2, s = x, t = y < 0 ? -z : z, most = ay;
    } else {
      face = z < 0 ? 5 : 4, s = z < 0 ? -x : x, t = -y, most = az;
    }
    if (most == 0) most = 1;
    at = {(s / most + 1) / 2, (t / most + 1) / 2, 0};
    return face;
  }

  /// Passes for 32 lanes (validate/measurements/h100-sxm-texture-microbenchmarks.json: throughput).
  std::uint32_t passes_of_texel() const {
    const std::uint32_t bytes = image_.texel_bytes();
    if (image_.buffer) return bytes > 8 ? 2 : 1;
    const bool filtered = sampler_.linear && !lookup_.whole && lookup_.gather < 0;
    return filtered ? 2 * std::max(1u, bytes / 4) : bytes > 8 ? 4 : 2;
  }

  int dimensions() const { return image_.cube ? 2 : image_.dimensions; }
  std::int64_t size(const ImageLevel& level, int d) const {
    return d == 0 ? level.width : d == 1 ? level.height : level.depth;
  }

  double position(const ImageLevel& level, const std::array<double, 3>& at, int d) const {
    const auto i = static_cast<std::size_t>(d);
    const bool normalized = sampler_.normalized || image_.cube;
    const double x = normalized ? at[i] * static_cast<double>(size(level, d)) : at[i];
    return std::clamp(x, -kFar, kFar);
  }

  /// The texels beside a position of a linear filter.
  Pair neighbours(const ImageLevel& level, const std::array<double, 3>& at, int d) const {
    const auto fixed = static_cast<std::int64_t>(std::floor((position(level, at, d) - 0.5) * kOne + 0.5));
    const std::int64_t low = fixed >> kFractionBits;
    const AddressMode mode = modes_[static_cast<std::size_t>(d)];
    return {addressed(low, size(level, d), mode), addressed(low + 1, size(level, d), mode),
            static_cast<int>(fixed & ((1 << kFractionBits) - 1))};
  }

  TexelWords border() const {
    TexelWords words{};
    for (std::size_t i = 0; i < 4; ++i) {
      words[i] = gives_floats(texture_)
                     ? std::bit_cast<std::uint32_t>(sampler_.border[i])
                     : static_cast<std::uint32_t>(static_cast<std::int64_t>(sampler_.border[i]));
    }
    return words;
  }

  TexelWords texel(const ImageLevel& level, const TexelPlace& place) {
    if (place.at[0] < 0 || place.at[1] < 0 || place.at[2] < 0) return border();
    const std::uint64_t slice =
        image_.layers > 1 || image_.layered || image_.cube ? slice_ : static_cast<std::uint64_t>(place.at[2]);
    const std::uint64_t address =
        image_.address_of(level, static_cast<std::uint64_t>(place.at[0]) * image_.texel_bytes(),
                          static_cast<std::uint64_t>(place.at[1]), slice);
    if (!out_.touched) out_.first = address;
    out_.touched = true;
    out_.last = address;
    return unpack_texel(texture_, read_(address));
  }

  void one_texel(std::size_t index) {
    const ImageLevel& level = image_.levels[index];
    TexelPlace place;
    for (int d = 0; d < dimensions(); ++d) {
      const auto i = static_cast<std::size_t>(d);
      const std::int64_t at = lookup_.texel[i];
      if (image_.buffer && (at < 0 || at >= size(level, d))) {
        out_.words = {};
        return;
      }
      place.at[i] = addressed(at, size(level, d), modes_[i]);
    }
    out_.words = texel(level, place);
  }

  void gather(const std::array<double, 3>& at) {
    const ImageLevel& level = image_.levels.front();
    const Pair x = neighbours(level, at, 0), y = neighbours(level, at, 1);
    const auto of = [&](std::int64_t column, std::int64_t row) {
      return texel(level, {{column, row, 0}})[static_cast<std::size_t>(lookup_.gather)];
    };
    const std::uint32_t w = of(x.low, y.low), z = of(x.high, y.low);
    out_.words = {of(x.low, y.high), of(x.high, y.high), z, w};
  }

  /// log2 of the texels of the largest level that a step passes over: the longer of the two.
  double level_of_derivatives() const {
    double longest = 0;
    for (const std::array<float, 3>& step : {lookup_.dx, lookup_.dy}) {
      double squares = 0;
      for (int d = 0; d < dimensions(); ++d) {
        const double scale = sampler_.normalized ? static_cast<double>(size(image_.levels.front(), d)) : 1;
        const double length = step[static_cast<std::size_t>(d)] * scale;
        squares += length * length;
      }
      longest = std::max(longest, squares);
    }
    return longest > 0 ? std::log2(longest) / 2 : -kFar;
  }

  void by_level(const std::array<double, 3>& at) {
    const double asked = lookup_.has_derivatives ? level_of_derivatives() : lookup_.level;
    double level = std::isnan(asked) ? 0 : asked + sampler_.bias;
    level = std::clamp<double>(level, sampler_.least_level,
                               std::max(sampler_.least_level, sampler_.greatest_level));
    const std::size_t last = image_.levels.size() - 1;
    level = std::clamp(level, 0.0, static_cast<double>(last));
    if (!sampler_.linear_levels) {
      out_.words = filtered(image_.levels[static_cast<std::size_t>(std::floor(level + 0.5))], at);
      return;
    }
    const auto fixed = static_cast<std::size_t>(level * kOne);  // cut, as an H100 does
    const std::size_t low = fixed >> kFractionBits;
    const double share = static_cast<double>(fixed & ((1 << kFractionBits) - 1)) / kOne;
    out_.words = filtered(image_.levels[low], at);
    if (share == 0 || low == last) return;
    const TexelWords coarse = filtered(image_.levels[low + 1], at);
    out_.passes *= 2;
    if (!gives_floats(texture_)) return;
    for (std::size_t i = 0; i < 4; ++i) {
      const double a = std::bit_cast<float>(out_.words[i]), b = std::bit_cast<float>(coarse[i]);
      out_.words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(a * (1 - share) + b * share));
    }
  }

  TexelWords filtered(const ImageLevel& level, const std::array<double, 3>& at) {
    if (!sampler_.linear) {
      TexelPlace place;
      for (int d = 0; d < dimensions(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        place.at[i] = addressed(static_cast<std::int64_t>(std::floor(position(level, at, d))), size(level, d),
                                modes_[i]);
      }
      return texel(level, place);
    }
    std::array<Pair, 3> pairs{};
    for (int d = 0; d < dimensions(); ++d) pairs[static_cast<std::size_t>(d)] = neighbours(level, at, d);
    return blend(level, pairs);
  }

  TexelWords blend(const ImageLevel& level, const std::array<Pair, 3>& pairs) {
    const std::array<int, 8> weights =
        weights_of({pairs[0].fraction, pairs[1].fraction, pairs[2].fraction}, dimensions());
    std::array<double, 4> sum{};
    for (std::size_t corner = 0; corner < weights.size(); ++corner) {
      if (weights[corner] == 0) continue;  // what is infinite there does not count
      TexelPlace place;
      for (int d = 0; d < dimensions(); ++d) {
        const Pair& pair = pairs[static_cast<std::size_t>(d)];
        place.at[static_cast<std::size_t>(d)] = (corner >> d & 1) != 0 ? pair.high : pair.low;
      }
      const TexelWords words = texel(level, place);
      for (std::size_t i = 0; i < 4; ++i)
        sum[i] += weights[corner] * exact(std::bit_cast<float>(words[i])) / kOne;
    }
    if (dimensions() == 3) out_.passes *= 2;
    TexelWords out{};
    for (std::size_t i = 0; i < 4; ++i)
      out[i] =
          std::bit_cast<std::uint32_t>(fixed_point_ ? in_sixteen_bits(sum[i]) : static_cast<float>(sum[i]));
    return out;
  }

  /// The integer that was read as a float, over the largest one: floats lose what decides a tie.
  double exact(float value) const {
    if (!fixed_point_) return value;
    const double most = std::ldexp(1.0, image_.bits - (image_.kind == TexelKind::signed_integer ? 1 : 0)) - 1;
    return std::nearbyint(value * most) / most;
  }

  /// What a filter of integers read as floats gives: whole 65,535ths (signed: 32,767ths), ties up.
  float in_sixteen_bits(double value) const {
    const double most = image_.kind == TexelKind::signed_integer ? 32767 : 65535;
    constexpr double kTie = 1.0 / 1024;  // less than the next value is away, more than what floats lose
    return static_cast<float>(std::floor(value * most + 0.5 + kTie) / most);
  }

  const Texture& texture_;
  const Image& image_;
  const Sampler& sampler_;
  const Lookup& lookup_;
  const TexelReader& read_;
  std::array<AddressMode, 3> modes_{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  std::uint64_t slice_ = 0;
  const bool fixed_point_ = image_.kind != TexelKind::floating && !sampler_.srgb;  // of a filter
  Sample out_;
};

}  // namespace

Sample look_up(const Texture& texture, const Lookup& lookup, const TexelReader& read) {
  return Looker(texture, lookup, read).run();
}

}  // namespace foretrace::emulate
