/// @file
/// Rgb: colours in sRGB. They are constant expressions, so that device code can use them, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace app {

struct Rgb {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;

  bool operator==(const Rgb&) const = default;
};

/// The colour at `position` (0 to 1, clamped) between two colours.
constexpr Rgb mix(Rgb from, Rgb to, double position) {
  const double p = position > 0 ? (position < 1 ? position : 1) : 0;
  const auto channel = [p](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a + (b - a) * p + 0.5); };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

/// The colour at `position` (0 to 1, clamped) of a ramp from the first to the last colour.
template <std::size_t n>
constexpr Rgb ramp(const std::array<Rgb, n>& colors, double position) {
  static_assert(n >= 2);
  const double place = (position > 0 ? (position < 1 ? position : 1) : 0) * (n - 1);
  const std::size_t from = place < n - 1 ? static_cast<std::size_t>(place) : n - 2;
  return mix(colors[from], colors[from + 1], place - static_cast<double>(from));
}

/// As a word, 0x00RRGGBB: cairo's and SDL's pixels.
constexpr std::uint32_t word_of(Rgb color) {
  return std::uint32_t{color.red} << 16 | std::uint32_t{color.green} << 8 | color.blue;
}

constexpr Rgb color_of_word(std::uint32_t word) {
  return {static_cast<std::uint8_t>(word >> 16), static_cast<std::uint8_t>(word >> 8), static_cast<std::uint8_t>(word)};
}

}  // namespace app
