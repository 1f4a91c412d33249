#include "pictures.h"

#include <cstddef>

#include <app/history_chart.h>
#include <app/picture.h>
#include <dynasoar/program/format.h>
#include <fmt/format.h>

#include "colors.h"

namespace schelling {
namespace {

constexpr app::Rgb kSimilarLine = {13, 148, 136};
constexpr app::Rgb kUnhappyLine = {225, 78, 60};

}  // namespace

app::Picture city_picture(const std::vector<CellState>& city, const Parameters& parameters) {
  return app::picture_of_grid(parameters.width, parameters.height,
                              [&](std::size_t c) { return color_of(city[c].group); });
}

app::Chart segregation_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  const auto unhappy_share = [](const app::Row& row) {
    const double agents = row[0] + row[1];
    return agents > 0 ? row[2] / agents : 0;
  };
  return app::history_chart(history, "Similar neighbours and unhappy agents",
                            app::size_and_seed(parameters.width, parameters.height, parameters.seed), "Share",
                            {{"Similar", kSimilarLine, app::column(3)}, {"Unhappy", kUnhappyLine, unhappy_share}});
}

}  // namespace schelling
