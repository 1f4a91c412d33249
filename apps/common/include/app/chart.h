/// @file
/// Chart: lines over the steps of a run, such as populations, as a PNG that can be shown as it is.
#pragma once

#include <string>
#include <vector>

#include <app/picture.h>

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

}  // namespace app
