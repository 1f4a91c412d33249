#include "pictures.h"

#include <cstddef>

#include <app/history_chart.h>
#include <app/picture.h>
#include <dynasoar/program/format.h>
#include <fmt/format.h>

#include "colors.h"

namespace wa_tor {
namespace {

constexpr app::Rgb kFishLine = {13, 148, 136};
constexpr app::Rgb kSharkLine = {225, 78, 60};

}  // namespace

app::Picture ocean_picture(const std::vector<CellState>& ocean, const Parameters& parameters) {
  return app::picture_of_grid(parameters.width, parameters.height, [&](std::size_t c) { return color_of(ocean[c]); });
}

app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  return app::history_chart(history, "Fish and sharks on Wa-Tor",
                            app::size_and_seed(parameters.width, parameters.height, parameters.seed), "Population",
                            {{"Fish", kFishLine, app::column(0)}, {"Sharks", kSharkLine, app::column(1)}});
}

}  // namespace wa_tor
