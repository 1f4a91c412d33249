/// @file
/// Svg: a picture as an SVG file. Used by the pictures of inspect.h.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <dynasoar/platform/error.h>
#include <dynasoar/xml_text.h>

namespace dynasoar::detail {

/// Colours that people with any colour vision tell apart (Okabe and Ito).
inline constexpr std::array<const char*, 8> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                        "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"};

/// An SVG picture that grows downwards.
class Svg {
 public:
  static constexpr int kWidth = 1000, kMargin = 20, kInner = kWidth - 2 * kMargin;

  /// What a field or a class is filled with: each number has its own. First the colours, then each with stripes of
  /// another, and then such stripes in other directions and widths.
  std::string fill(std::size_t number) {
    constexpr std::size_t kAll = kColours.size(), kOthers = kAll - 1;
    if (number < kAll) return kColours[number];
    const std::string name = "stripes" + std::to_string(number);
    if (patterns_.insert(number).second) {
      const std::size_t ground = number % kAll, round = number / kAll - 1;
      const std::size_t stripe = (ground + 1 + round % kOthers) % kAll;
      const std::size_t turn = 45 + 45 * (round / kOthers % 4), width = 2 + round / kOthers / 4;
      definitions_ << "<pattern id=\"" << name << "\" patternUnits=\"userSpaceOnUse\" width=\"" << 3 * width
                   << "\" height=\"10\" patternTransform=\"rotate(" << turn << ")\"><path fill=\"" << kColours[ground]
                   << "\" d=\"M0 0h" << 3 * width << "v10H0z\"/><path fill=\"" << kColours[stripe] << "\" d=\"M0 0h"
                   << width << "v10H0z\"/></pattern>\n";
    }
    return "url(#" + name + ")";
  }

  void rectangle(double x, double y, double width, double height, const std::string& fill, double opacity,
                 const std::string& title) {
    body_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height << "\" fill=\""
          << fill << '"';
    if (opacity < 1) body_ << " fill-opacity=\"" << opacity << '"';
    body_ << "><title>" << xml_text(title) << "</title></rect>\n";
  }
  void text(double x, double y, int size, const std::string& text, const char* attributes = "") {
    body_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\" " << attributes << '>'
          << xml_text(text) << "</text>\n";
  }

  /// @throws Error if the file cannot be written
  void write(const std::string& path, double height) const {
    errno = 0;
    std::ofstream file(path, std::ios::trunc);
    file << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kWidth << "\" height=\"" << height
         << "\" viewBox=\"0 0 " << kWidth << ' ' << height << "\" font-family=\"sans-serif\">\n"
         << (patterns_.empty() ? "" : "<defs>\n" + definitions_.str() + "</defs>\n")
         << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
         << body_.str() << "</svg>\n";
    file.close();
    if (file.fail()) {
      throw Error("dynasoar: cannot write the picture '" + path + "': " + std::strerror(errno) +
                  "; name a file in a folder that exists and may be written to");
    }
  }

 private:
  std::ostringstream body_, definitions_;
  std::set<std::size_t> patterns_;  // those defined
};

}  // namespace dynasoar::detail
