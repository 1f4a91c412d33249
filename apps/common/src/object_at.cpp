#include <app/object_at.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace app {
namespace {

std::string class_of(const dynasoar::Columns& objects, std::size_t row) {
  const dynasoar::Column* const classes = objects.find("class");
  return classes != nullptr ? classes->labels.at(classes->as<std::size_t>()[row]) : objects.name;
}

std::string value_of(const dynasoar::Column& column, std::size_t row) {
  std::string text;
  column.visit([&](auto values) {
    for (std::size_t c = 0; c < column.components; ++c) {
      text += fmt::format("{}{}", c > 0 ? ", " : "", values[row * column.components + c]);
    }
  });
  return text;
}

void describe(const dynasoar::Columns& objects, std::size_t row, std::vector<std::string>& lines) {
  lines.push_back(class_of(objects, row));
  for (const dynasoar::Column& column : objects.columns) {
    if (column.name == "class" || column.name == "x" || column.name == "y") continue;
    lines.push_back(fmt::format("  {} = {}", column.name, value_of(column, row)));
  }
}

}  // namespace

std::vector<std::string> describe_objects_at(const dynasoar::Columns& objects, const World& world, double x, double y,
                                             double reach) {
  const std::string axes = objects.find("x") != nullptr ? "" : "position_.";
  const auto xs = objects[axes + "x"].as<double>();
  const auto ys = objects[axes + "y"].as<double>();
  std::vector<std::string> lines;
  if (!world.y_up) {
    lines.push_back(fmt::format("cell ({:.0f}, {:.0f})", std::floor(x), std::floor(y)));
    for (std::size_t row = 0; row < objects.rows; ++row) {
      if (xs[row] == std::floor(x) && ys[row] == std::floor(y)) describe(objects, row, lines);
    }
  } else {
    lines.push_back(fmt::format("({:.6g}, {:.6g})", x, y));
    std::optional<std::size_t> nearest;
    double least = reach;
    for (std::size_t row = 0; row < objects.rows; ++row) {
      const double distance = std::hypot(xs[row] - x, ys[row] - y);
      if (distance <= least) {
        least = distance;
        nearest = row;
      }
    }
    if (nearest) describe(objects, *nearest, lines);
  }
  if (lines.size() == 1) lines.emplace_back("nothing here");
  return lines;
}

}  // namespace app
