/// @file
/// numbers_of: the result of n-body and collision. Used by the variants.
#pragma once

#include <vector>

#include "bodies/physics.h"

namespace benchmarks::polymorphism {

/// @param seen     all bodies, in the order of their numbers; those that have merged into another one without mass
/// @param merges   whether they may do so: in collision
inline std::vector<double> numbers_of(const std::vector<bodies::Attraction>& seen, bool merges) {
  std::vector<double> numbers;
  for (const bodies::Attraction& body : seen) {
    if (merges) {
      numbers.push_back(body.mass);
    } else {
      numbers.push_back(body.position.x);
      numbers.push_back(body.position.y);
    }
  }
  return numbers;
}

}  // namespace benchmarks::polymorphism
