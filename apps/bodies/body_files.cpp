#include "body_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <app/error.h>
#include <dynasoar/write_file.h>

namespace bodies {
namespace {

struct Column {
  std::string_view name;
  float BodyState::*member;
};
constexpr std::array<Column, 5> kColumns = {{{"x", &BodyState::x},
                                             {"y", &BodyState::y},
                                             {"vx", &BodyState::vx},
                                             {"vy", &BodyState::vy},
                                             {"mass", &BodyState::mass}}};

// Where something is wrong in a file.
struct Place {
  const std::string& path;
  std::size_t line;
  std::size_t column;

  [[noreturn]] void fail(const std::string& what) const {
    throw app::UsageError(fmt::format("{}:{}:{}: {}", path, line, column, what));
  }
};

struct Cell {
  std::string_view text;
  std::size_t column;  // of its first character, from 1
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t')) text.remove_suffix(1);
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

// Which column of the file holds which member.
std::vector<float BodyState::*> read_header(const std::string& path, std::string_view line) {
  std::vector<float BodyState::*> members;
  for (const Cell& cell : cells_of(line)) {
    const Place place{path, 1, cell.column};
    float BodyState::*member = nullptr;
    for (const Column& column : kColumns) {
      if (column.name == cell.text) member = column.member;
    }
    if (member == nullptr) {
      place.fail(
          fmt::format("'{}' is not a column of bodies; the first line must name x, y, vx, vy and mass", cell.text));
    }
    for (const auto known : members) {
      if (known == member) place.fail(fmt::format("the column {} is there twice", cell.text));
    }
    members.push_back(member);
  }
  if (members.size() != kColumns.size()) {
    Place{path, 1, 1}.fail("the first line must name x, y, vx, vy and mass, separated by commas");
  }
  return members;
}

float read_number(const Place& place, std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    place.fail(fmt::format("'{}' is not a number", text));
  }
  return value;
}

BodyState read_body(const std::string& path, std::size_t line, std::string_view text,
                    const std::vector<float BodyState::*>& members) {
  const std::vector<Cell> cells = cells_of(text);
  if (cells.size() != members.size()) {
    Place{path, line, 1}.fail(fmt::format("{} numbers are expected, but there are {}", members.size(), cells.size()));
  }
  BodyState body;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Place place{path, line, cells[i].column};
    body.*members[i] = read_number(place, cells[i].text);
    if (members[i] == &BodyState::mass && body.mass <= 0) place.fail("a mass must be greater than 0");
  }
  return body;
}

}  // namespace

std::vector<BodyState> read_bodies(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw app::UsageError(fmt::format("cannot read {}", path));
  std::string line;
  if (!std::getline(file, line)) Place{path, 1, 1}.fail("the file is empty; it must begin with a line x,y,vx,vy,mass");
  const std::vector<float BodyState::*> members = read_header(path, line);
  std::vector<BodyState> bodies;
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    if (trimmed(line).empty()) continue;
    bodies.push_back(read_body(path, number, line, members));
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
