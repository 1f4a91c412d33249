/// @file
/// require_finite: ends a run if its numbers are no longer finite. For models in floating point.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace app {

/// @param step     after which these are the totals
/// @param totals   names and values
/// @throws std::runtime_error if one of them is infinite or not a number
inline void require_finite(std::uint64_t step, std::initializer_list<std::pair<const char*, double>> totals) {
  for (const auto& [name, value] : totals) {
    if (std::isfinite(value)) continue;
    throw std::runtime_error("after step " + std::to_string(step) + " the " + name + " is " +
                             (std::isnan(value) ? "not a number" : "infinite") +
                             ": numbers have become too large for the model's arithmetic");
  }
}

}  // namespace app
