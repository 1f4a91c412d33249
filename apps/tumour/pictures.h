/// @file
/// The picture of a tumour, and the chart of its growth.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace tumour {

/// The tumour cut in half, seen along the z axis; each cell is a ball in the colour of its state.
app::Picture tumour_picture(const std::vector<CellState>& cells);

/// The radius of the tumour, and the expected radius.
///
/// @param rows   columns as in Census, a row per step; the expectation starts from the first row
app::Chart tumour_chart(const std::vector<app::Row>& rows, const Parameters& parameters, const std::string& subtitle);

}  // namespace tumour
