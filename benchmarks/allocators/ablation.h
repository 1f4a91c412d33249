/// @file
/// The cases of ablation.cpp.
#pragma once

#include <vector>

#include "suite.h"

namespace benchmarks::allocators {

void add_ablation(std::vector<Case>& cases);

}  // namespace benchmarks::allocators
