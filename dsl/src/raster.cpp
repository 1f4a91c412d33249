#include <dynasoar/raster.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <dynasoar/detail/placed_classes.h>
#include <dynasoar/detail/raster_calls.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

/// Removes the text before the first separator, and the separator, and returns the text.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

}  // namespace

void check_values(std::size_t width, std::size_t height, std::size_t values) {
  const bool has_all = width == 0 ? values == 0 : values / width == height && values % width == 0;  // without overflow
  if (has_all) return;
  throw Error("dynasoar: a Raster of " + std::to_string(width) + " x " + std::to_string(height) + " has " +
              std::to_string(width * height) + " values, but this one has " + std::to_string(values));
}

std::string read_file(const std::string& path) {
  const InputFile file(path);
  std::string contents(static_cast<std::size_t>(file.size()), '\0');
  if (!file.read_at(0, contents.data(), contents.size()))
    throw Error("dynasoar: " + path + " became shorter while it was read");
  return contents;
}

void check_fits(std::size_t width, std::size_t height, std::size_t values, const LatticeShape& shape) {
  check_values(width, height, values);
  const auto has_width = static_cast<std::size_t>(shape.width());
  const auto has_height = static_cast<std::size_t>(shape.height()) * static_cast<std::size_t>(shape.depth());
  if (width == has_width && height == has_height) return;
  const std::string needed = std::to_string(has_width) + " x " + std::to_string(has_height);
  throw Error("dynasoar: a raster of " + std::to_string(width) + " x " + std::to_string(height) +
              " values does not fit a lattice of " + text_of(shape) + ", which needs one of " + needed);
}

CellCounts read_cells(const std::string& path, const std::string& kind,
                      const std::function<bool(std::string_view)>& take) {
  constexpr std::size_t kLongestShown = 40;
  const std::string text = read_file(path);
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // a byte order mark
  while (!rest.empty() && (is_space(rest.back()) || rest.back() == '\n')) rest.remove_suffix(1);
  CellCounts counts;
  while (!rest.empty()) {
    const std::string where = "dynasoar: " + path + ", line " + std::to_string(++counts.lines);
    std::string_view line = take_until(rest, '\n');
    std::size_t cells = 0;
    for (bool is_last = false; !is_last; ++cells) {
      is_last = line.find(',') == std::string_view::npos;
      const std::string_view cell = trimmed(take_until(line, ','));
      if (!take(cell)) {
        throw Error(where + ": '" + std::string(cell.substr(0, kLongestShown)) + "' is not " + kind +
                    "; a raster is lines of numbers with commas between them, without a line of names");
      }
    }
    if (counts.lines == 1) counts.of_line = cells;
    if (cells != counts.of_line) {
      throw Error(where + " has " + std::to_string(cells) + " numbers, but those above have " +
                  std::to_string(counts.of_line));
    }
  }
  if (counts.lines == 0)
    throw Error("dynasoar: " + path + " is empty; a raster is lines of numbers with commas between them");
  return counts;
}

}  // namespace dynasoar::detail
