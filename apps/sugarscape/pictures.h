/// @file
/// How a landscape and its history look: the pictures that the program sugarscape writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace sugarscape {

app::Picture landscape_picture(const std::vector<CellState>& landscape, const Parameters& parameters);

/// A chart of the populations from step 0.
///
/// @param history   rows of four: agents, males, females and sugar
app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters);

}  // namespace sugarscape
