#include "sim/validate/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/report/table.h"

namespace foretrace::validate {
namespace {

// Lay-out in SVG's user units.
constexpr double kPlot = 560, kLeft = 80, kTop = 50, kLegendLeft = kLeft + kPlot + 20, kLegendLine = 15;
constexpr double kMark = 3.5;
constexpr std::size_t kLegendRows = 38;
constexpr double kLegendColumn = 150;

// Ten colours told apart by most eyes (Tableau's qualitative palette); with four shapes forty classes.
constexpr std::array<const char*, 10> kColours = {"#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f",
                                                  "#b6992d", "#b07aa1", "#ff6f87", "#9c755f", "#1b4965"};
constexpr int kShapes = 4;

struct Style {
  std::string colour;
  int shape = 0;
};

Style style_of(std::size_t index) {
  return {kColours[index % kColours.size()], static_cast<int>(index / kColours.size()) % kShapes};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string mark(double x, double y, const Style& style, const std::string& title) {
  std::string shape;
  const double r = kMark;
  if (style.shape == 0) {
    shape = fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"", x, y, r);
  } else if (style.shape == 1) {
    shape = fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", x - r, y - r,
                        2 * r, 2 * r);
  } else if (style.shape == 2) {
    shape = fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}h{:.1f}z\"", x, y - r - 1, r + 1, 2 * r + 1,
                        -2 * r - 2);
  } else {
    shape = fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}z\"", x, y - r - 1,
                        r + 1, r + 1, -r - 1, r + 1, -r - 1, -r - 1);
  }
  shape += fmt::format(" fill=\"{}\" fill-opacity=\"0.75\"", style.colour);
  if (title.empty()) return shape + "/>\n";
  return shape + "><title>" + escaped(title) + "</title></" +
         (style.shape == 0   ? "circle"
          : style.shape == 1 ? "rect"
                             : "path") +
         ">\n";
}

/// Cycles to user units: the decades that hold every value.
class Axis {
 public:
  explicit Axis(const std::vector<compare::ValuePair>& pairs) {
    double least = 1e300, most = 1;
    for (const auto& pair : pairs) {
      least = std::min({least, pair.value, pair.reference});
      most = std::max({most, pair.value, pair.reference});
    }
    first_ = static_cast<int>(std::floor(std::log10(least)));
    last_ = std::max(first_ + 1, static_cast<int>(std::ceil(std::log10(most))));
  }
  int first() const { return first_; }
  int last() const { return last_; }
  /// Distance from the axis's start.
  double at(double cycles) const { return kPlot * (std::log10(cycles) - first_) / (last_ - first_); }
  double x(double cycles) const { return kLeft + at(cycles); }
  double y(double cycles) const { return kTop + kPlot - at(cycles); }

 private:
  int first_ = 0, last_ = 1;
};

std::string line(double x1, double y1, double x2, double y2, const char* look) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     look);
}

std::string text(double x, double y, const std::string& words, const char* look) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, look, escaped(words));
}

std::string grid(const Axis& axis) {
  std::string out = fmt::format(
      "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"none\" stroke=\"#888\"/>\n",
      kLeft, kTop, kPlot, kPlot);
  for (int decade = axis.first(); decade <= axis.last(); ++decade) {
    const double cycles = std::pow(10.0, decade);
    const std::string label = report::grouped(cycles, decade < 0 ? -decade : 0);
    if (decade > axis.first() && decade < axis.last()) {
      out += line(axis.x(cycles), kTop, axis.x(cycles), kTop + kPlot, "stroke=\"#ddd\"");
      out += line(kLeft, axis.y(cycles), kLeft + kPlot, axis.y(cycles), "stroke=\"#ddd\"");
    }
    out += text(axis.x(cycles), kTop + kPlot + 16, label, "text-anchor=\"middle\"");
    out += text(kLeft - 6, axis.y(cycles) + 4, label, "text-anchor=\"end\"");
  }
  const double low = std::pow(10.0, axis.first()), high = std::pow(10.0, axis.last());
  out += line(axis.x(low), axis.y(low), axis.x(high), axis.y(high), "stroke=\"#333\"");
  for (const double factor : {1.2, 1 / 1.2}) {
    const double from = factor < 1 ? low / factor : low, to = factor > 1 ? high / factor : high;
    out += line(axis.x(from), axis.y(from * factor), axis.x(to), axis.y(to * factor),
                "stroke=\"#999\" stroke-dasharray=\"4 3\"");
  }
  return out;
}

}  // namespace

std::string to_svg(const Validation& validation) {
  std::vector<compare::ValuePair> pairs;
  std::vector<const ValidatedLaunch*> drawn;
  for (const auto& launch : validation.launches) {
    const auto value = launch.value(kElapsed);
    const auto reference = launch.reference(kElapsed);
    if (!value || !reference || *value <= 0 || *reference <= 0) continue;
    pairs.push_back({*value, *reference});
    drawn.push_back(&launch);
  }
  if (pairs.empty()) pairs.push_back({1, 1});
  const Axis axis(pairs);
  constexpr const char* kHeldOut = "held-out kernels";
  const auto group = [&](const ValidatedLaunch& launch) {
    return launch.held_out && !validation.show_held_out ? std::string(kHeldOut) : launch.kernel_class;
  };
  std::map<std::string, Style> styles;
  for (const auto* launch : drawn) styles[group(*launch)];
  std::size_t index = 0;
  for (auto& [name, style] : styles) style = name == kHeldOut ? Style{"#777777", 0} : style_of(index++);

  const std::size_t columns = (styles.size() + kLegendRows - 1) / kLegendRows;
  const double width = kLegendLeft + kLegendColumn * static_cast<double>(std::max<std::size_t>(columns, 1));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, kTop + kPlot + 50);
  svg += text(kLeft, 24,
              fmt::format("{}: {} launches, {}", validation.arch, drawn.size(), validation.measured.device),
              "font-size=\"15\"");
  svg += text(kLeft, 40, fmt::format("{}; dashed: 20% to either side", kElapsed), "fill=\"#555\"");
  svg += grid(axis);
  svg += text(kLeft + kPlot / 2, kTop + kPlot + 36, "measured, cycles",
              "text-anchor=\"middle\" font-size=\"13\"");
  svg += fmt::format(
      "<text transform=\"translate(16 {:.0f}) rotate(-90)\" text-anchor=\"middle\" "
      "font-size=\"13\">predicted, "
      "cycles</text>\n",
      kTop + kPlot / 2);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const bool named = !drawn[i]->held_out || validation.show_held_out;
    svg += mark(axis.x(pairs[i].reference), axis.y(pairs[i].value), styles[group(*drawn[i])],
                named ? fmt::format("{}: {:.0f} predicted, {:.0f} measured", drawn[i]->predicted.name,
                                    pairs[i].value, pairs[i].reference)
                      : std::string());
  }
  std::size_t row = 0;
  for (const auto& [name, style] : styles) {
    const double x = kLegendLeft + kLegendColumn * static_cast<double>(row / kLegendRows);
    const double y = kTop + 8 + kLegendLine * static_cast<double>(row % kLegendRows);
    svg += mark(x, y, style, {}) + text(x + 10, y + 4, name, "fill=\"#222\"");
    ++row;
  }
  return svg + "</svg>\n";
}

}  // namespace foretrace::validate
