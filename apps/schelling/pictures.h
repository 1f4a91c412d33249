/// @file
/// The chart of a city's history.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <dynasoar/program/program.h>

namespace schelling {

/// A chart, from step 0, of the share of neighbours that are of the same group, and of the agents that are unhappy.
///
/// @param history   rows of red, blue, unhappy, similar
app::Chart segregation_chart(const std::vector<app::Row>& history, const std::string& subtitle);

}  // namespace schelling
