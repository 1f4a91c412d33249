/// @file
/// How a forest and its history look: the pictures that the program forest-fire writes.
#pragma once

#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace forest_fire {

app::Picture forest_picture(const std::vector<Ground>& forest, const Parameters& parameters);

/// A chart of the trees from step 0.
///
/// @param history   rows of two: trees that do not burn, and trees that do
app::Chart tree_chart(const std::vector<app::Row>& history, const Parameters& parameters);

}  // namespace forest_fire
