/// @file
/// How a network and its history look: the pictures that the program structure writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace structure {

/// Writes a picture of the network that shows all of it and the place where it was at the start.
///
/// @throws std::runtime_error if the file cannot be written
void save_network(const Network& network, const Network& start, double strength, const std::string& path);

/// A chart of what is left after each step.
///
/// @param history    rows of two: springs and nodes
/// @param subtitle   what was simulated
app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle);

}  // namespace structure
