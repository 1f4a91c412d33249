#include "option_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <exception>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>

namespace dynasoar::program {

std::optional<std::uint64_t> parse_size(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, int>, 5> kUnits = {
      {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view unit = std::string_view(text).substr(digits);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  std::uint64_t count = 0;
  if (std::from_chars(text.data(), text.data() + digits, count).ec != std::errc()) return std::nullopt;
  for (const auto& [name, shift] : kUnits) {
    if (unit != name) continue;
    return count <= std::numeric_limits<std::uint64_t>::max() >> shift ? std::optional(count << shift) : std::nullopt;
  }
  return std::nullopt;
}

void require_writable_file(const std::string& path) {
  try {
    dynasoar::check_output_path(path);
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

}  // namespace dynasoar::program
