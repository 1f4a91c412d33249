/// @file
/// The pictures of a frame and its history that the programs game-of-life and generation write.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "rule.h"
#include "simulation.h"

namespace life {

/// All cells of a frame.
app::Picture frame_picture(const Frame& frame, const Rule& rule);

/// A chart of the populations from step 0.
///
/// @param history   rows of two: alive cells, and dying ones or candidates
/// @param second    the meaning of the second column
app::Chart population_chart(const std::vector<app::Row>& history, const std::string& second, const std::string& title,
                            const std::string& subtitle);

}  // namespace life
