#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/identity.h>
#include <dynasoar/random.h>

#include "rules.h"
#include "simulation.h"

namespace ants {

namespace {

/// Puts food into all cells whose centre is in a disc and outside the nest.
void add_food(World& world, const Disc& source, std::uint32_t portions) {
  const auto contains = [](const Disc& disc, Vector at) {
    return app::squared_length(at - Vector{disc.x, disc.y}) <= disc.radius * disc.radius;
  };
  for (std::uint32_t cell = 0; cell < world.side * world.side; ++cell) {
    const Vector centre = {static_cast<float>(cell % world.side) + 0.5f, static_cast<float>(cell / world.side) + 0.5f};
    if (contains(source, centre) && !contains(world.nest, centre)) world.food[cell] = portions;
  }
}

/// An empty world. @param nest   in fractions of the side
World world_with(std::uint32_t side, const Disc& nest) {
  const auto length = static_cast<float>(side);
  World world;
  world.side = side;
  world.nest = {length * nest.x, length * nest.y, length * nest.radius};
  world.food.resize(std::size_t{side} * side);
  return world;
}

Disc scaled(float length, const Disc& disc) {
  return {length * disc.x, length * disc.y, length * disc.radius};
}

/// A box whose edges are rounded to borders of cells.
Box scaled(float length, const Box& box) {
  return {std::round(length * box.left), std::round(length * box.top), std::round(length * box.right),
          std::round(length * box.bottom)};
}

bool is_in_wall(const World& world, Vector at) {
  return std::any_of(world.walls.begin(), world.walls.end(), [&](const Box& wall) {
    return at.x >= wall.left && at.x <= wall.right && at.y >= wall.top && at.y <= wall.bottom;
  });
}

/// @param place   callable with the index of an ant and random words; returns the ant's position
template <class Place>
std::vector<AntState> random_ants(std::uint32_t count, std::uint32_t lifetime, std::uint64_t seed, const Place& place) {
  std::vector<AntState> states(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Words words = dynasoar::random::words(dynasoar::random::Seed{seed}, Decision::initial, i, 0);
    const Vector at = place(i, words);
    const Vector heading = Rules::heading_from(words[2]);
    states[i] = {static_cast<std::uint64_t>(dynasoar::first_identity({seed}, i)),
                 at.x,
                 at.y,
                 heading.x,
                 heading.y,
                 1,
                 1 + dynasoar::random::below(words[3], lifetime),
                 false};
  }
  return states;
}

}  // namespace

std::uint64_t room_of(const Parameters& parameters) {
  return parameters.room > 0 ? parameters.room : room_for(parameters.initial.size());
}

std::vector<AntState> ants_in_nest(std::uint32_t ants, const World& world, std::uint32_t lifetime, std::uint64_t seed) {
  const Disc& nest = world.nest;
  return random_ants(ants, lifetime, seed, [&](std::uint32_t, const Words& words) {
    const auto offset = [&](std::uint32_t word) { return nest.radius * (dynasoar::random::unit(words[word]) - 0.5f); };
    return Vector{nest.x + offset(0), nest.y + offset(1)};
  });
}

std::vector<AntState> ants_anywhere(std::uint32_t ants, const World& world, std::uint32_t lifetime,
                                    std::uint64_t seed) {
  const auto side = static_cast<float>(world.side);
  return random_ants(ants, lifetime, seed, [&](std::uint32_t i, Words words) {
    for (std::uint32_t draw = 1;; ++draw) {
      // The middle of one of 2^12 parts of the side, so that no ant is on a border or on the edge of a wall.
      const auto coordinate = [&](std::uint32_t word) {
        return side * (static_cast<float>(words[word] >> 20) + 0.5f) * 0x1p-12f;
      };
      const Vector at = {coordinate(0), coordinate(1)};
      if (!is_in_wall(world, at)) return at;
      words = dynasoar::random::words(dynasoar::random::Seed{seed}, Decision::initial, i, 0, draw);
    }
  });
}

World garden(std::uint32_t side, std::uint32_t portions) {
  World world = world_with(side, {0.18f, 0.48f, 0.035f});
  const auto length = static_cast<float>(side);
  for (const Box& wall : {Box{0.42f, 0.3f, 0.45f, 0.64f}, Box{0.56f, 0.24f, 0.78f, 0.27f}}) {
    world.walls.push_back(scaled(length, wall));
  }
  for (const Disc& source : {Disc{0.8f, 0.52f, 0.05f}, Disc{0.66f, 0.13f, 0.035f}, Disc{0.52f, 0.87f, 0.035f}}) {
    add_food(world, scaled(length, source), portions);
  }
  world.gates = {scaled(length, Box{0.42f, 0, 0.45f, 0.3f}), scaled(length, Box{0.42f, 0.64f, 0.45f, 1})};
  return world;
}

World double_bridge(std::uint32_t side, std::uint32_t portions) {
  World world = world_with(side, {0.1f, 0.5f, 0.035f});
  const auto length = static_cast<float>(side);
  const Box walls[] = {{0.22f, 0, 0.78f, 0.42f},                                // above the short branch
                       {0.22f, 0.48f, 0.78f, 0.52f},                            // between the branches
                       {0.42f, 0.52f, 0.58f, 0.84f},                            // in the bend of the long one
                       {0.22f, 0.58f, 0.36f, 1},                                // left and right of the bend
                       {0.64f, 0.58f, 0.78f, 1},     {0.36f, 0.9f, 0.64f, 1}};  // below it
  for (const Box& wall : walls) world.walls.push_back(scaled(length, wall));
  add_food(world, scaled(length, Disc{0.9f, 0.5f, 0.05f}), portions);
  world.gates = {scaled(length, Box{0.24f, 0.42f, 0.34f, 0.48f}), scaled(length, Box{0.24f, 0.52f, 0.34f, 0.58f})};
  return world;
}

void check_room(std::uint64_t ants, std::uint64_t room) {
  if (ants <= room) return;
  std::string message = "there are more ants than there is room for, which is ";
  message += std::to_string(room);
  message += ": choose a larger --room, or fewer --births";
  throw std::runtime_error(message);
}

}  // namespace ants
