/// @file
/// Chart: lines over the steps of a run, such as populations, as a PNG file. history_chart: a chart of the rows of a
/// run's history.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <app/picture.h>
#include <app/simulation.h>
#include <dynasoar/program/program.h>

namespace app {

/// One line of a chart: a value, at least 0, for each step, from step 0.
struct Series {
  std::string name;
  Rgb color;
  std::vector<double> values;
};

struct Chart {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;

  /// @throws std::runtime_error if the file cannot be written
  void save_png(const std::string& path) const;
};

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

}  // namespace app
