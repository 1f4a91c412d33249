/// @file
/// The picture of an epidemic, and the chart of its history.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace epidemic {

/// Every person as a dot in the colour of the state, the infected in front.
app::Picture epidemic_picture(const std::vector<PersonState>& people, float side);

/// The numbers of people, and the number of infected people if they mixed well.
///
/// @param rows   columns as in Census, a row per step; the equations start from the first
app::Chart epidemic_chart(const std::vector<app::Row>& rows, const Parameters& parameters, const std::string& subtitle);

}  // namespace epidemic
