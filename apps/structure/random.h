/// @file
/// What the model's random numbers are for; all are drawn before the first step. Defined in README.md.
#pragma once

#include <cstdint>

namespace structure {

/// What a random number is for; its number is part of the key, so no two decisions share numbers.
enum class Decision : std::uint32_t {
  node = 0,      ///< kind and position of a node
  velocity = 1,  ///< of a pulled anchor
  ends = 2,      ///< which nodes a spring joins
  factor = 3,    ///< of a spring
};

}  // namespace structure
