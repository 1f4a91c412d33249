/// @file
/// StreetMap: a network in device memory, as plain arrays, and the routes of cars on it. Used by the variant without
/// cell objects and by the baselines. The variants with cell objects make their objects from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "network.h"
#include "rules.h"

namespace traffic {

/// The byte that a cell shows to cars in front of it: its limit, and its special properties.
using Sign = std::uint8_t;
inline constexpr Sign kLimitBits = 0x0F;
inline constexpr Sign kCrossing = 0x10;  ///< the last cell of a street that has exits
inline constexpr Sign kExit = 0x20;      ///< cars that come here leave: a destination or a dead end
inline constexpr Sign kProducer = 0x40;  ///< cars appear here

/// A street on the device.
struct StreetRecord {
  std::uint32_t first;       ///< number of its first cell
  std::uint32_t cells;       ///< how many there are
  std::uint32_t first_exit;  ///< place of its first exit in the list of all exits
  std::uint32_t exits;       ///< how many there are
  std::uint32_t green;       ///< steps of a phase of the light at its end; 0: always green
  std::uint8_t phase;        ///< in which it is green
  std::uint8_t phases;       ///< of the light
};

/// The streets as the device sees them. Cells of a street have consecutive numbers.
struct StreetView {
  const StreetRecord* streets;
  const std::uint32_t* exits;
  Claims* claims;  ///< [streets]

  __device__ bool is_red(std::uint32_t street, std::uint32_t step) const {
    const StreetRecord& record = streets[street];
    return record.green > 0 && green_phase(step, record.green, record.phases) != record.phase;
  }

  /// The street into which a car turns. @pre there are exits
  __device__ std::uint32_t exit(std::uint32_t street, std::uint32_t turn) const {
    const StreetRecord& record = streets[street];
    return exits[record.first_exit + below(turn, record.exits)];
  }
};

/// The route of a car in a step: along its street and, at the end of the street, on into another one.
struct alignas(8) Route {
  static constexpr std::uint8_t kNone = 15;

  std::uint32_t street = 0;     ///< that it enters
  std::uint8_t cells = 0;       ///< that it goes in all
  std::uint8_t before = kNone;  ///< of them in its own street; kNone: all, it enters no other
  std::uint16_t padding = 0;    ///< explicit padding, so that no byte is uninitialized when a route is read as a whole

  __device__ bool enters() const { return before != kNone; }

  /// The car goes no farther than the end of its own street.
  __device__ void stay_in_street() {
    cells = before;
    before = kNone;
  }

  /// The cell where a car from `cell` is after the step.
  __device__ std::uint32_t target(const StreetView& map, std::uint32_t cell) const {
    return enters() ? map.streets[street].first + (cells - before - 1) : cell + cells;
  }
};

/// The limit at which a cell may be entered now.
///
/// @tparam Cells   `sign(c)` and `street(c)` of cell numbers
template <class Cells>
__device__ std::uint32_t limit_now(const Cells& cells, const StreetView& map, std::uint32_t cell, std::uint32_t step) {
  const Sign sign = cells.sign(cell);
  return (sign & kCrossing) != 0 && map.is_red(cells.street(cell), step) ? 0 : sign & kLimitBits;
}

/// The route of the car in `cell`, if it gets the right of way.
///
/// @tparam Cells   `sign(c)`, `street(c)` and `is_free(c)` of cell numbers
template <class Cells>
__device__ Route look_ahead(const Cells& cells, const StreetView& map, const World& world, const Drive& drive,
                            std::uint32_t cell) {
  Route route;
  std::uint32_t speed = drive.speed;
  Sign sign = cells.sign(cell);
  while (route.cells < speed) {
    if ((sign & kCrossing) != 0) {
      if (route.enters()) break;
      route.street = map.exit(cells.street(cell), drive.turn);
      route.before = route.cells;
      cell = map.streets[route.street].first;
    } else {
      ++cell;
    }
    if (!cells.is_free(cell)) break;
    sign = cells.sign(cell);
    speed = limited(speed, route.cells, limit_now(cells, map, cell, world.step));
    if (speed == route.cells) break;
    ++route.cells;
    if ((sign & kExit) != 0) break;
  }
  if (drive.dawdles && route.cells > 0) --route.cells;
  if (route.cells <= route.before) route.before = Route::kNone;  // the route does not reach the other street
  return route;
}

/// Writes `kNoClaim` to all claims.
struct ClearClaims {
  Claims* claims;
  __device__ void operator()(std::size_t i) const { claims[i].store(kNoClaim, dynasoar::Order::relaxed); }
};

/// Owns the arrays.
class StreetMap {
 public:
  /// @throws std::invalid_argument if the network is not one
  StreetMap(dynasoar::Executor& executor, const Network& network) {
    check_network(network);
    add_streets(network);
    add_signs(network);
    claims_ = dynasoar::DeviceArray<Claims>(network.streets.size());
    executor.for_each_index(claims_.size(), ClearClaims{claims_.data()});
  }

  StreetView view() const { return {streets_.data(), exits_.data(), claims_.data()}; }

  std::uint32_t cells() const { return static_cast<std::uint32_t>(signs_.size()); }
  std::uint32_t street_count() const { return static_cast<std::uint32_t>(streets_.size()); }

  /// [cells] what each cell shows.
  const Sign* signs() const { return signs_.data(); }
  std::vector<Sign> read_signs() const { return signs_.download(); }

  /// Numbers of the cells that produce cars.
  const dynasoar::DeviceArray<std::uint32_t>& producers() const { return producers_; }

 private:
  void add_streets(const Network& network) {
    const std::vector<std::uint32_t> first = network.first_cells();
    const std::vector<std::uint32_t> phases = network.phases();
    std::vector<StreetRecord> records;
    std::vector<std::uint32_t> exits;
    for (std::size_t s = 0; s < network.streets.size(); ++s) {
      const Street& street = network.streets[s];
      records.push_back({first[s], street.cells, static_cast<std::uint32_t>(exits.size()),
                         static_cast<std::uint32_t>(street.exits.size()), network.intersections[street.to].green,
                         static_cast<std::uint8_t>(street.phase), static_cast<std::uint8_t>(phases[street.to])});
      exits.insert(exits.end(), street.exits.begin(), street.exits.end());
    }
    streets_ = dynasoar::DeviceArray<StreetRecord>(records.size());
    streets_.upload(records);
    exits_ = dynasoar::DeviceArray<std::uint32_t>(exits.size());
    exits_.upload(exits);
  }

  void add_signs(const Network& network) {
    const std::vector<std::uint32_t> first = network.first_cells();
    std::vector<Sign> signs;
    for (const Street& street : network.streets) {
      signs.insert(signs.end(), street.cells, static_cast<Sign>(street.limit));
      signs.back() |= street.exits.empty() ? kExit : kCrossing;
    }
    for (const Place& place : network.destinations) signs[first[place.street] + place.cell] |= kExit;
    std::vector<std::uint32_t> producers;
    for (const Place& place : network.producers) {
      producers.push_back(first[place.street] + place.cell);
      signs[producers.back()] |= kProducer;
    }
    signs_ = dynasoar::DeviceArray<Sign>(signs.size());
    signs_.upload(signs);
    producers_ = dynasoar::DeviceArray<std::uint32_t>(producers.size());
    producers_.upload(producers);
  }

  dynasoar::DeviceArray<StreetRecord> streets_;
  dynasoar::DeviceArray<std::uint32_t> exits_;
  dynasoar::DeviceArray<Claims> claims_;
  dynasoar::DeviceArray<Sign> signs_;
  dynasoar::DeviceArray<std::uint32_t> producers_;
};

}  // namespace traffic
