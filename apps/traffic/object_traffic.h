/// @file
/// ObjectTraffic: the host's side of the DSL variants, which differ only in their classes (cells.cpp, cars.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/census_history.h>
#include <app/collect.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/program/object_heap.h>
#include <dynasoar/program/saved_options.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace traffic {

/// Slots for so many objects of a class. Warps of a GPU that create objects at the same time fill blocks of their own,
/// at most one for each object.
inline std::size_t slots_for(std::size_t objects) {
  return objects + std::min(64 * objects, app::kSlotsInFlight);
}

/// A simulation whose cars are objects of allocator type A.
///
/// @tparam Model   owns what lies beside the objects and submits the loops: `Model(handle, network, world)`,
///                 `step(world, clock)`, `phases()` with the names of its phases, `add_arrays(items)`, which adds
///                 with what a checkpoint needs beside the objects, `read_columns()`, `count_cars(sums)`,
///                 `view(world)` with a device function `state(c)`, `heap_bytes(network)`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectTraffic final : public app::ObjectSimulation<ObjectTraffic<Model, A>, Simulation, A> {
 public:
  ObjectTraffic(const Parameters& parameters, const Network& network)
      : Base(parameters, Model::heap_bytes(checked(network)), "traffic", Model::phases()),
        options_(options_of(parameters, network)),
        cells_(network.cells()),
        start_{Seed{parameters.seed}, Chances::of(parameters), 0},
        model_(handle(), network, start_) {
    synchronize();
  }

  void step() override {
    begin_step();
    model_.step(world(), clock());
  }

  void record() override { model_.count_cars(history_.next(handle().executor())); }

  std::vector<Census> take_history() override {
    synchronize();
    return history_.take(handle().executor());
  }

  std::vector<CellState> cells() override {
    synchronize();
    const auto view = model_.view(world());
    return app::collect<CellState>(handle(), cells_, [=] __device__(std::uint32_t c) { return view.state(c); });
  }

  const app::SavedOptions& saved_options() const { return options_; }

  void add_arrays(dynasoar::CheckpointItems& items) const { model_.add_arrays(items); }

  dynasoar::Columns read_columns() { return model_.read_columns(); }

  void set_places(const std::vector<Point>& places) override {
    places_ = dynasoar::DeviceArray<Point>(places.size());
    places_.upload(places);
  }

  static constexpr app::Rgb kBackground = kNight;

  void paint_on(const app::Canvas& canvas) {
    const auto view = model_.view(world());
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

 private:
  using Base = app::ObjectSimulation<ObjectTraffic, Simulation, A>;
  using Base::begin_step, Base::clock, Base::handle, Base::steps, Base::synchronize;

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

  /// Of what cars take notice of.
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

  World world() const { return {start_.seed, start_.chances, steps()}; }

  app::SavedOptions options_;
  std::size_t cells_;
  World start_;
  Model model_;
  app::CensusHistory<Census> history_;
  dynasoar::DeviceArray<Point> places_;
};

}  // namespace traffic
