#include "pictures.h"

#include <cstddef>

#include <app/history_chart.h>
#include <app/picture.h>
#include <dynasoar/program/format.h>
#include <fmt/format.h>

#include "colors.h"

namespace forest_fire {
namespace {

constexpr app::Rgb kTreeLine = {22, 128, 61};
constexpr app::Rgb kFireLine = {234, 88, 12};

}  // namespace

app::Picture forest_picture(const std::vector<Ground>& forest, const Parameters& parameters) {
  return app::picture_of_grid(parameters.width, parameters.height, [&](std::size_t c) { return color_of(forest[c]); });
}

app::Chart tree_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  return app::history_chart(history, "Trees of the forest",
                            app::size_and_seed(parameters.width, parameters.height, parameters.seed), "Trees",
                            {{"Trees", kTreeLine, app::column(0)}, {"On fire", kFireLine, app::column(1)}});
}

}  // namespace forest_fire
