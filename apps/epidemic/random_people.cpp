#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>

#include <dynasoar/identity.h>
#include <dynasoar/random.h>

#include "rules.h"
#include "simulation.h"

namespace epidemic {

std::uint64_t room_of(const Parameters& parameters) {
  return parameters.room > 0 ? parameters.room : room_for(parameters.initial.size());
}

float side_for(std::uint32_t people, double contacts) {
  const double area = people * std::numbers::pi * kContact * kContact / contacts;
  return std::fmax(kLeastSide, static_cast<float>(std::sqrt(area)));
}

std::vector<PersonState> random_people(std::uint32_t people, std::uint32_t patients, float side, std::uint64_t seed) {
  std::vector<PersonState> states(people);
  for (std::uint32_t i = 0; i < people; ++i) {
    const Words words = dynasoar::random::words(dynasoar::random::Seed{seed}, Decision::initial, i, 0);
    // Below `side`, though the product may round up to it.
    const auto coordinate = [&](std::uint32_t word) {
      return std::fmin(side * dynasoar::random::unit(words[word]), std::nextafter(side, 0.0f));
    };
    states[i] = {static_cast<std::uint64_t>(dynasoar::first_identity({seed}, i)), coordinate(0), coordinate(1),
                 i < patients ? State::infected : State::susceptible};
  }
  return states;
}

void check_room(std::uint64_t people, std::uint64_t room) {
  if (people <= room) return;
  std::string message = "there are more people than there is room for, which is ";
  message += std::to_string(room);
  message += ": choose a larger --room, or fewer --births";
  throw std::runtime_error(message);
}

}  // namespace epidemic
