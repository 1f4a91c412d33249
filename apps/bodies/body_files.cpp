#include "program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <app/text.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>

namespace bodies {
namespace {

// A column, and what is allowed in it.
struct Column {
  std::string_view name;
  float BodyState::*member;
  float least;
  float most;
};
constexpr std::array<Column, 5> kColumns = {{{"x", &BodyState::x, -kFarthestAtStart, kFarthestAtStart},
                                             {"y", &BodyState::y, -kFarthestAtStart, kFarthestAtStart},
                                             {"vx", &BodyState::vx, -kFastestAtStart, kFastestAtStart},
                                             {"vy", &BodyState::vy, -kFastestAtStart, kFastestAtStart},
                                             {"mass", &BodyState::mass, kLightest, kHeaviest}}};

// The position of an error in a file.
struct Place {
  const std::string& path;
  std::size_t line;
  std::size_t column;

  [[noreturn]] void fail(const std::string& what) const {
    throw app::UsageError(app::at_place(path, line, column, what));
  }
};

struct Cell {
  std::string_view text;
  std::size_t column;  // of its first character, from 1
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

std::vector<Cell> cells_of(std::string_view line) {
  std::vector<Cell> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const std::string_view text = trimmed(line.substr(begin, end - begin));
    cells.push_back({text, static_cast<std::size_t>(text.data() - line.data()) + 1});
    begin = end + 1;
  }
  return cells;
}

// The columns of the file, by the names in its first line.
std::vector<Column> read_header(const std::string& path, std::string_view line) {
  std::vector<Column> columns;
  for (const Cell& cell : cells_of(line)) {
    const Place place{path, 1, cell.column};
    const auto has_name = [&cell](const Column& column) { return column.name == cell.text; };
    const auto known = std::find_if(kColumns.begin(), kColumns.end(), has_name);
    if (known == kColumns.end()) {
      place.fail(fmt::format("'{}' is not a column of bodies; the first line must name x, y, vx, vy and mass",
                             app::shown(cell.text)));
    }
    if (std::any_of(columns.begin(), columns.end(), has_name)) {
      place.fail(fmt::format("the column {} is there twice", cell.text));
    }
    columns.push_back(*known);
  }
  if (columns.size() != kColumns.size()) {
    Place{path, 1, 1}.fail("the first line must name x, y, vx, vy and mass, separated by commas");
  }
  return columns;
}

float read_number(const Place& place, std::string_view text, const Column& column) {
  const std::optional<float> value = app::number<float>(text);
  if (!value) place.fail(fmt::format("'{}' is not a number, or too large", app::shown(text)));
  if (*value >= column.least && *value <= column.most) return *value;
  const std::string range = fmt::format("from {:g} to {:g}, not {}", column.least, column.most, app::shown(text));
  if (column.member == &BodyState::mass && *value <= 0) place.fail("a mass must be greater than 0: " + range);
  place.fail(fmt::format("{} must be {}", column.name, range));
}

BodyState read_body(const std::string& path, std::size_t line, std::string_view text,
                    const std::vector<Column>& columns) {
  const std::vector<Cell> cells = cells_of(text);
  if (cells.size() != columns.size()) {
    Place{path, line, 1}.fail(fmt::format("{} numbers are expected, but there are {}", columns.size(), cells.size()));
  }
  BodyState body;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    body.*columns[i].member = read_number({path, line, cells[i].column}, cells[i].text, columns[i]);
  }
  return body;
}

}  // namespace

std::vector<BodyState> read_bodies(const std::string& path) {
  const std::string text = app::read_text(path);
  std::string_view rest = text;
  std::string_view line;
  if (!app::take_line(rest, line)) {
    Place{path, 1, 1}.fail("the file is empty; it must begin with a line x,y,vx,vy,mass");
  }
  const std::vector<Column> columns = read_header(path, line);
  std::vector<BodyState> bodies;
  for (std::size_t number = 2; app::take_line(rest, line); ++number) {
    if (trimmed(line).empty()) continue;
    bodies.push_back(read_body(path, number, line, columns));
    if (bodies.size() > std::numeric_limits<int>::max()) Place{path, number, 1}.fail("more than 2^31 - 1 bodies");
    bodies.back().number = static_cast<std::uint32_t>(bodies.size() - 1);
  }
  if (bodies.empty()) Place{path, 2, 1}.fail("there are no bodies");
  return bodies;
}

void write_bodies(const std::vector<BodyState>& bodies, const std::string& path) {
  std::string text = "x,y,vx,vy,mass\n";
  for (const BodyState& body : bodies) {
    text += fmt::format("{},{},{},{},{}\n", body.x, body.y, body.vx, body.vy, body.mass);
  }
  dynasoar::write_file(path, text);
}

}  // namespace bodies
