#include <dynasoar/program/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace dynasoar::program {
namespace {

// Three significant digits for 1 <= value < 1024.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t position = text.size(); position > 3;) {
    position -= 3;
    text.insert(position, 1, ',');
  }
  return text;
}

std::string si(double value) {
  static constexpr std::array<const char*, 6> kPrefixes = {"", " k", " M", " G", " T", " P"};
  if (!std::isfinite(value)) return "-";
  if (std::abs(value) < 1) return fmt::format("{:.3g}", value);
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return three_digits(value) + kPrefixes[prefix];
}

std::string bytes(std::uint64_t value) {
  static constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (value < 1024) return fmt::format("{} B", value);
  double scaled = static_cast<double>(value) / 1024;
  std::size_t unit = 0;
  while (scaled >= 1023.5 && unit + 1 < kUnits.size()) {
    scaled /= 1024;
    ++unit;
  }
  return three_digits(scaled) + " " + kUnits[unit];
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string percent(double fraction) {
  return fmt::format("{:.1f}%", fraction * 100);
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : many);
}

std::string shown(std::string_view text, std::size_t most) {
  const bool is_cut = text.size() > most;
  if (is_cut) {
    constexpr std::size_t kContinuations = 3;  // of a character in UTF-8
    const std::size_t least = most - std::min(most, kContinuations);
    while (most > least && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    text = text.substr(0, most);
  }
  const std::string escaped = fmt::format("{:?}", text);  // in quotation marks, and with those within escaped
  std::string result;
  for (std::size_t i = 1; i + 1 < escaped.size(); ++i) {
    if (escaped[i] == '\\' && escaped[++i] != '"') result += '\\';
    result += escaped[i];
  }
  return result + (is_cut ? "..." : "");
}

}  // namespace dynasoar::program
