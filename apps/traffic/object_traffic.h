/// @file
/// ObjectTraffic: the host part of the DSL variants, which differ only in their classes (cells.cpp, cars.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/census_history.h>
#include <app/collect.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/step_log.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace traffic {

namespace totals = dynasoar::totals;

/// The slots that a number of objects of a class may need. Warps of a GPU that create objects at the same time use
/// separate blocks, at most one for each object.
inline std::size_t slots_for(std::size_t objects) {
  return objects + std::min(64 * objects, app::kSlotsInFlight);
}

/// A simulation with cars as objects of allocator type A.
///
/// @tparam Objects   the simulation, which owns all data except the objects, and submits the loops: `submit_step()`,
///                   `phase_names()`, `view()` with a device function `state(c)`, `heap_bytes(network)`, and the
///                   functions that app::ObjectSimulation requires: `add_arrays(items)`, `read_columns()`
template <class Objects, class A>
class ObjectTraffic : public app::ObjectSimulation<Objects, Simulation, A> {
 public:
  std::vector<Census> take_history() override {
    synchronize();
    return app::censuses_of<Census>(this->take_rows());
  }

  std::vector<CellState> cells() override {
    synchronize();
    const auto view = objects().view();
    return app::collect<CellState>(handle(), cells_, [=] __device__(std::uint32_t c) { return view.state(c); });
  }

  const app::SavedOptions& saved_options() const { return options_; }

  void set_places(const std::vector<Point>& places) override {
    places_ = dynasoar::DeviceArray<Point>(places.size());
    places_.upload(places);
  }

  static constexpr app::Rgb kBackground = kNight;

  void paint_on(const app::Canvas& canvas) {
    const auto view = objects().view();
    const Point* const places = places_.data();
    const SpeedColors speeds = kSpeeds;
    handle().parallel_for(places_.size(), [=] __device__(std::size_t c) {
      const CellState cell = view.state(static_cast<std::uint32_t>(c));
      const double share = static_cast<double>(cell.speed) / kMostSpeed;
      const app::Rgb color = cell.has_car != 0 ? app::ramp(speeds, share) : kAsphalt;
      const double radius = cell.has_car != 0 ? 1.5 : 0;
      canvas.dot(places[c].x, places[c].y, radius, color, cell.has_car != 0 ? cell.speed : 254);
    });
  }

 protected:
  using Base = app::ObjectSimulation<Objects, Simulation, A>;
  using Base::count_step, Base::handle, Base::now, Base::synchronize;

  ObjectTraffic(const Parameters& parameters, const Network& network)
      : Base(parameters, Objects::heap_bytes(checked(network)), "traffic", Objects::phase_names()),
        options_(options_of(parameters, network)),
        cells_(network.cells()),
        seed_{parameters.seed},
        chances_(Chances::of(parameters)) {}

  World world() const { return {seed_, chances_, now()}; }

  /// The columns of a census. @tparam Car   the class of cars
  template <class Car>
  void log_cars() {
    this->log().template add<Car>(totals::count("cars"), totals::count_if<&Car::speed_>("moving"),
                                  totals::sum<&Car::speed_>("speeds"));
  }

 private:
  Objects& objects() { return static_cast<Objects&>(*this); }

  static const Network& checked(const Network& network) {
    check_network(network);
    return network;
  }

  static app::SavedOptions options_of(const Parameters& parameters, const Network& network) {
    return app::SavedOptions()
        .add("--seed", parameters.seed)
        .add("--density", parameters.density)
        .add("--production", parameters.production)
        .add("--dawdling", parameters.dawdling)
        .add("--network, --intersections, and what a network is made with", sum_of(network));
  }

  /// A hash of the parts of a network that affect cars.
  static app::InputSum sum_of(const Network& network) {
    app::InputSum sum;
    for (const Intersection& intersection : network.intersections) sum.add(intersection.green);
    for (const Street& street : network.streets) {
      sum.add(street.from, street.to, street.cells, street.limit, street.phase);
      for (const std::uint32_t exit : street.exits) sum.add(exit);
    }
    for (const Place& place : network.producers) sum.add(place.street, place.cell);
    for (const Place& place : network.destinations) sum.add(place.street, place.cell);
    return sum;
  }

  app::SavedOptions options_;
  std::size_t cells_;
  Seed seed_;
  Chances chances_;
  dynasoar::DeviceArray<Point> places_;
};

}  // namespace traffic
