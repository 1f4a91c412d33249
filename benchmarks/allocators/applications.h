/// @file
/// Experiments that are applications, with each allocator that these were compiled for. Plain C++.
#pragma once

#include <string>
#include <vector>

#include "suite.h"

namespace benchmarks::allocators {

/// The time of all steps of each application. In applications.cpp.
void add_applications(std::vector<Case>& cases);

/// Likewise, of the variants whose objects are placed on a lattice. In applications.cpp.
void add_placed_applications(std::vector<Case>& cases);

/// What Wa-Tor does to its heap over time, and how large an ocean fits into one. In oceans.cpp.
void add_oceans(std::vector<Case>& cases);

/// A list of names with a space between two of them, as CMake gives them.
std::vector<std::string> names_in(const std::string& list);

}  // namespace benchmarks::allocators
