/// @file
/// The pictures of a network and its history that the program structure writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace structure {

/// The network, and its positions at the start.
app::Picture network_picture(const Network& network, const Network& start, double strength);

/// The network, and room around it for the nodes that are pulled away.
app::World world_of(const Network& network);

/// A chart of the springs and nodes after each step.
///
/// @param history    rows of two: springs and nodes
/// @param subtitle   what was simulated
app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle);

}  // namespace structure
