/// @file
/// How an ocean and its history look: the pictures that the program wa-tor writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace wa_tor {

app::Picture ocean_picture(const std::vector<CellState>& ocean, const Parameters& parameters);

/// A chart of the populations from step 0.
///
/// @param history   rows of two: fish and sharks
app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters);

}  // namespace wa_tor
