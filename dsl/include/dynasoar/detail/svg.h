/// @file
/// Svg: a picture as an SVG file. Used by layout_svg and heap_svg.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <set>
#include <string>

#include <dynasoar/base/number_text.h>
#include <dynasoar/detail/escaped_text.h>
#include <dynasoar/write_file.h>

namespace dynasoar::detail {

/// Colours that people with any colour vision tell apart (Okabe and Ito).
inline constexpr std::array<const char*, 8> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                        "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"};

/// An SVG picture that grows downwards.
class Svg {
 public:
  static constexpr int kWidth = 1000, kMargin = 20, kInner = kWidth - 2 * kMargin;

  /// The fill of a field or class. Each number has its own: first plain colours, then stripes of two colours, and then
  /// such stripes in other directions and widths.
  std::string fill(std::size_t number) {
    constexpr std::size_t kAll = kColours.size(), kOthers = kAll - 1;
    if (number < kAll) return kColours[number];
    const std::string name = "stripes" + std::to_string(number);
    if (patterns_.insert(number).second) {
      const std::size_t ground = number % kAll, round = number / kAll - 1;
      const std::size_t stripe = (ground + 1 + round % kOthers) % kAll;
      const std::size_t turn = 45 + 45 * (round / kOthers % 4), width = 2 + round / kOthers / 4;
      definitions_ += "<pattern id=\"" + name + "\" patternUnits=\"userSpaceOnUse\" width=\"" + number_text(3 * width) +
                      "\" height=\"10\" patternTransform=\"rotate(" + number_text(turn) + ")\"><path fill=\"" +
                      kColours[ground] + "\" d=\"M0 0h" + number_text(3 * width) + "v10H0z\"/><path fill=\"" +
                      kColours[stripe] + "\" d=\"M0 0h" + number_text(width) + "v10H0z\"/></pattern>\n";
    }
    return "url(#" + name + ")";
  }

  void rectangle(double x, double y, double width, double height, const std::string& fill, double opacity,
                 const std::string& title) {
    body_ += "<rect x=\"" + text_of(x) + "\" y=\"" + text_of(y) + "\" width=\"" + text_of(width) + "\" height=\"" +
             text_of(height) + "\" fill=\"" + fill + '"';
    if (opacity < 1) body_ += " fill-opacity=\"" + text_of(opacity) + '"';
    body_ += "><title>" + xml_text(title) + "</title></rect>\n";
  }
  void text(double x, double y, int size, const std::string& text, const char* attributes = "") {
    body_ += "<text x=\"" + text_of(x) + "\" y=\"" + text_of(y) + "\" font-size=\"" + number_text(size) + "\" " +
             attributes + '>' + xml_text(text) + "</text>\n";
  }

  /// @throws Error if the file cannot be written
  void write(const std::string& path, double height) const {
    const std::string width = number_text(kWidth);
    write_file(path, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + text_of(height) +
                         "\" viewBox=\"0 0 " + width + ' ' + text_of(height) + "\" font-family=\"sans-serif\">\n" +
                         (patterns_.empty() ? "" : "<defs>\n" + definitions_ + "</defs>\n") +
                         "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + body_ + "</svg>\n");
  }

 private:
  /// Exact to a thousandth of a pixel or better.
  static std::string text_of(double length) { return number_text(length, std::chars_format::general, 9); }

  std::string body_, definitions_;
  std::set<std::size_t> patterns_;  // those that are defined
};

}  // namespace dynasoar::detail
