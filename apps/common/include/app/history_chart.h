/// @file
/// history_chart: a chart of a run, from the rows of its history. Used by the models' pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <app/chart.h>
#include <app/program.h>
#include <dynasoar/program/format.h>

namespace app {

/// A line of a chart.
struct Line {
  std::string name;
  Rgb color;
  std::function<double(const Row&)> value;  ///< after a step, from that step's row
};

/// @param history   a row per step, from step 0
inline Chart history_chart(const std::vector<Row>& history, std::string title, std::string subtitle,
                           std::string y_label, const std::vector<Line>& lines) {
  Chart chart{std::move(title), std::move(subtitle), "Step", std::move(y_label), {}};
  for (const Line& line : lines) {
    Series series{line.name, line.color, {}};
    for (const Row& row : history) series.values.push_back(line.value(row));
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// The value in this column of the history.
inline std::function<double(const Row&)> column(std::size_t index) {
  return [index](const Row& row) { return row[index]; };
}

/// "1,024 × 512 cells, seed 42", for the subtitle.
inline std::string size_and_seed(int width, int height, std::uint64_t seed) {
  return fmt::format("{} × {} cells, seed {}", grouped(static_cast<std::uint64_t>(width)),
                     grouped(static_cast<std::uint64_t>(height)), seed);
}

}  // namespace app
