/// @file
/// Street networks: their data, random networks, and checks. Plain C++ on the host: all implementations get the same
/// network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace traffic {

/// The greatest speed limit of a cell and the greatest speed of a car, in cells per step.
inline constexpr std::uint32_t kMostSpeed = 9;
/// The most exits of a street.
inline constexpr std::uint32_t kMostExits = 8;
/// A network has fewer cells than this.
inline constexpr std::uint64_t kCellLimit = std::uint64_t{1} << 28;
/// The most cells of a street, phases of a light and steps of one green phase.
inline constexpr std::uint32_t kMostCells = 1000000;
inline constexpr std::uint32_t kMostPhases = 255;
inline constexpr std::uint32_t kMostGreen = 1000000;

/// A place on the map, y upwards.
struct Point {
  double x = 0;
  double y = 0;

  bool operator==(const Point&) const = default;
};

struct Intersection {
  Point at;
  std::uint32_t green = 0;  ///< steps for which each phase of the light is green; 0: there is no light

  bool operator==(const Intersection&) const = default;
};

/// A one-way chain of cells from one intersection to another. A lane, where streets have several.
struct Street {
  std::uint32_t from = 0;                 ///< number of the intersection where the street begins
  std::uint32_t to = 0;                   ///< number of the intersection where it ends
  std::uint32_t cells = 1;                ///< at least 1
  std::uint32_t limit = kMostSpeed;       ///< cells a step, from 1
  std::uint32_t phase = 0;                ///< of the light at its end in which it is green
  std::vector<Point> bends = {};          ///< points on the map between its ends, which do not affect cars
  std::vector<std::uint32_t> exits = {};  ///< streets into which cars can turn at its end; empty: a dead end

  bool operator==(const Street&) const = default;
};

/// A cell, named by its street and its position there, from 0.
struct Place {
  std::uint32_t street = 0;
  std::uint32_t cell = 0;

  auto operator<=>(const Place&) const = default;
};

struct Network {
  std::vector<Intersection> intersections;
  std::vector<Street> streets;
  std::vector<Place> producers;     ///< where cars appear, ascending
  std::vector<Place> destinations;  ///< where cars leave, ascending, beside the dead ends

  /// Number of cells. Cells are numbered street by street.
  std::size_t cells() const;

  /// The number of each street's first cell.
  std::vector<std::uint32_t> first_cells() const;

  /// For each intersection, the number of phases of its light: one more than the highest of the streets that end there.
  std::vector<std::uint32_t> phases() const;

  bool operator==(const Network&) const = default;
};

/// The fractions of cells that produce cars, and of cells that are their destinations; the cells are drawn at random.
/// @pre fractions >= 0, of sum <= 1
struct Sources {
  double producers = 0.02;      ///< fraction of the cells
  double destinations = 0.003;  ///< fraction of the cells
  std::uint64_t seed = 42;
};

/// Draws producers and destinations among all cells but the last ones of streets. @pre the network has none
void place_sources(Network& network, const Sources& sources);

/// A random network in the unit square.
///
/// @param green   steps for which each street is green at its end; 0: no lights
/// @throws std::invalid_argument if it would have too many cells
Network random_network(std::uint32_t intersections, std::uint32_t green, const Sources& sources);

/// The error in a street or a place of a network; nothing if there is none. Reads only the parts before it.
std::optional<std::string> problem_of_exit(const Network& network, std::uint32_t street, std::uint32_t exit);
std::optional<std::string> problem_of_place(const Network& network, Place place);

/// @throws std::invalid_argument if the network is invalid: numbers out of range, exits that do not begin where the
///         street ends, or producers and destinations in places that do not exist, are not allowed or do not ascend
void check_network(const Network& network);

}  // namespace traffic
