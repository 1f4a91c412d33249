#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>

#include <dynasoar/identity.h>
#include <dynasoar/random.h>

#include "rules.h"
#include "simulation.h"

namespace tumour {
namespace {

/// Cells per volume in a tumour.
constexpr double kDensity = 1.6;

double radius_of(double cells) {
  return std::cbrt(cells / kDensity * 3 / (4 * std::numbers::pi));
}

}  // namespace

std::uint64_t room_of(const Parameters& parameters) {
  return parameters.room > 0 ? parameters.room : room_for(parameters.initial.size());
}

std::vector<CellState> random_spheroid(std::uint32_t cells, std::uint64_t seed) {
  const auto radius = static_cast<float>(radius_of(cells - 1));
  std::vector<CellState> states(cells);
  for (std::uint32_t i = 0; i < cells; ++i) {
    dynasoar::random::Stream stream({seed}, Decision::initial, i, 0);
    const float size = dynasoar::random::unit(stream.word());
    Vector at;
    do {
      for (float* const coordinate : {&at.x, &at.y, &at.z}) {
        *coordinate = 2 * dynasoar::random::unit(stream.word()) - 1;
      }
    } while (!(squared_length(at) < 1));
    states[i] = {static_cast<std::uint64_t>(dynasoar::first_identity({seed}, i)),
                 radius * at.x,
                 radius * at.y,
                 radius * at.z,
                 kDaughterRadius + size * (kFullRadius - kDaughterRadius),
                 State::proliferating};
  }
  return states;
}

void check_room(std::uint64_t cells, std::uint64_t room) {
  if (cells <= room) return;
  std::string message = "there are more cells than there is room for, which is ";
  message += std::to_string(room);
  message += ": choose a larger --room, or fewer --steps";
  throw std::runtime_error(message);
}

double growth_rate(const Parameters& parameters) {
  const double growing = std::ceil((kFullRadius - kDaughterRadius) / parameters.growth);  // steps
  // A cell grows for `growing` steps, and then divides with the same probability in each step.
  const auto daughters = [&](double rate) {
    const double factor = std::exp(-rate);
    return 2 * std::pow(factor, growing) * parameters.division / (1 - (1 - parameters.division) * factor);
  };
  double least = 0, most = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (daughters(middle) > 1 ? least : most) = middle;
  }
  return least;
}

double rim_thickness(const Parameters& parameters, double radius) {
  const double loss = kDensity * parameters.uptake + parameters.supply;
  const double inside = std::sqrt(loss / parameters.diffusion);  // per length, like `outside`
  const double outside = std::sqrt(parameters.supply / parameters.diffusion) + 1 / radius;
  const double deep = parameters.supply / loss;  // oxygen
  const double surface = (outside + deep * inside) / (outside + inside);
  if (surface <= parameters.hypoxia) return 0;
  if (deep >= parameters.hypoxia) return radius;
  return std::log((surface - deep) / (parameters.hypoxia - deep)) / inside;
}

std::vector<double> expected_radius(const Parameters& parameters, double cells, std::size_t steps) {
  const double rate = growth_rate(parameters);
  std::vector<double> radii = {radius_of(cells)};
  for (std::size_t step = 0; step < steps; ++step) {
    const double radius = radii.back();
    const double inner = std::fmax(0, radius - rim_thickness(parameters, radius));
    const double growing = 1 - inner * inner * inner / (radius * radius * radius);  // share of the volume
    radii.push_back(radius + radius * rate * growing / 3);
  }
  return radii;
}

}  // namespace tumour
