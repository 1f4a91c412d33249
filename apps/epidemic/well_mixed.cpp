/// @file
/// The limit of the model for many people who mix well: ordinary differential equations, see README.md.

#include <numbers>

#include "simulation.h"

namespace epidemic {
namespace {

Population operator+(const Population& a, const Population& b) {
  return {a.susceptible + b.susceptible, a.infected + b.infected, a.recovered + b.recovered};
}

Population operator*(double factor, const Population& a) {
  return {factor * a.susceptible, factor * a.infected, factor * a.recovered};
}

}  // namespace

std::vector<Population> well_mixed(const Parameters& parameters, const Population& start, std::size_t steps) {
  const double area = double{parameters.side} * parameters.side;
  const double meetings = parameters.infection * std::numbers::pi / area;  // of two people, in a step
  const auto change = [&](const Population& now) {
    const double infections = meetings * now.susceptible * now.infected;
    const double births = parameters.births * (now.susceptible + now.infected + now.recovered);
    const double recoveries = parameters.recovery * (1 - parameters.fatality) * now.infected;
    return Population{births - infections, infections - parameters.recovery * now.infected, recoveries} +
           -parameters.deaths * now;
  };
  std::vector<Population> solution = {start};
  for (std::size_t step = 0; step < steps; ++step) {
    Population now = solution.back();
    constexpr int kParts = 4;  // of a step, each one of the classical Runge-Kutta method
    constexpr double kLength = 1.0 / kParts;
    for (int part = 0; part < kParts; ++part) {
      const Population k1 = change(now);
      const Population k2 = change(now + kLength / 2 * k1);
      const Population k3 = change(now + kLength / 2 * k2);
      const Population k4 = change(now + kLength * k3);
      now = now + kLength / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    solution.push_back(now);
  }
  return solution;
}

}  // namespace epidemic
