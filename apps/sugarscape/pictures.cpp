#include "pictures.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <app/format.h>
#include <app/picture.h>

namespace sugarscape {
namespace {

// Sugar goes from dark earth over brown to amber.
constexpr app::Rgb kBare = {24, 16, 14};
constexpr app::Rgb kSomeSugar = {122, 66, 18};
constexpr app::Rgb kMuchSugar = {255, 196, 84};
constexpr app::Rgb kMale = {56, 214, 255};
constexpr app::Rgb kFemale = {255, 84, 196};

constexpr double kMostSugar = 3500;

constexpr app::Rgb kMaleLine = {14, 133, 196};
constexpr app::Rgb kFemaleLine = {214, 51, 148};

// The square root shows differences among the many cells with little sugar.
app::Rgb sugar_color(double sugar) {
  const double position = 2 * std::sqrt(sugar / kMostSugar);
  return position < 1 ? app::mix(kBare, kSomeSugar, position) : app::mix(kSomeSugar, kMuchSugar, position - 1);
}

app::Rgb color_of(const CellState& cell) {
  switch (cell.kind) {
    case 1: return kMale;
    case 2: return kFemale;
    default: return sugar_color(cell.sugar);
  }
}

}  // namespace

void save_landscape(const std::vector<CellState>& landscape, const Parameters& parameters, const std::string& path) {
  const auto [magnify, sample] = app::PictureScale::for_grid(parameters.width, parameters.height);
  app::Picture picture((parameters.width - 1) / sample + 1, (parameters.height - 1) / sample + 1);
  for (int y = 0; y < picture.height(); ++y) {
    const CellState* const row =
        landscape.data() + static_cast<std::size_t>(y * sample) * static_cast<std::size_t>(parameters.width);
    for (int x = 0; x < picture.width(); ++x) picture.at(x, y) = color_of(row[x * sample]);
  }
  picture.save_png(path, magnify);
}

app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  app::Series males{"Males", kMaleLine, {}};
  app::Series females{"Females", kFemaleLine, {}};
  for (const app::Row& row : history) {
    males.values.push_back(row[1]);
    females.values.push_back(row[2]);
  }
  return {"Males and females on the Sugarscape",
          fmt::format("{} × {} cells, seed {}", app::grouped(static_cast<std::uint64_t>(parameters.width)),
                      app::grouped(static_cast<std::uint64_t>(parameters.height)), parameters.seed),
          "Step",
          "Population",
          {std::move(males), std::move(females)}};
}

}  // namespace sugarscape
