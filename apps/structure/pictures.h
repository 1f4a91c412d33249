/// @file
/// The pictures of a network and its history that the program structure writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace structure {

/// All of the network, and the place where it was at the start.
app::Picture network_picture(const Network& network, const Network& start, double strength);

/// The network and some room around it, into which it is pulled.
app::World world_of(const Network& network);

/// A chart of what is left after each step.
///
/// @param history    rows of two: springs and nodes
/// @param subtitle   what was simulated
app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle);

}  // namespace structure
