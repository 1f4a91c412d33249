/// @file
/// DenseTraffic: the model as one writes it by hand for speed, without dynamic allocation: a car's state lies in the
/// cell where it is. The algorithm of both baselines; they differ in how a cell lies in memory (soa_baseline.cpp,
/// aos_baseline.cpp).
///
/// Cells of a street have consecutive numbers, so a car's plan fits in a byte: how far it goes, and after how many of
/// these cells it enters another street. Lights cost no loop: who comes to one computes its phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "census_history.h"
#include "rules.h"
#include "simulation.h"
#include "street_map.h"

namespace traffic {

/// The speed of a cell without a car.
inline constexpr std::uint8_t kNoCar = 0xFF;
/// The plan of a cell without a car that prepared one.
inline constexpr std::uint8_t kNoPlan = 0xFF;

/// Everything that a loop needs, passed to the device by value.
///
/// @tparam Layout   where a cell's state lies: `sign(c)`, `speed(c)`, `top_speed(c)`, `street(c)`, `plan(c)` and
///                  `entered(c)` return references
template <class Layout>
struct DenseStep {
  Layout cells;
  StreetView map;
  World world;
  const std::uint32_t* producers;

  // What look_ahead() wants to know.
  __device__ Sign sign(std::uint32_t c) const { return cells.sign(c); }
  __device__ std::uint32_t street(std::uint32_t c) const { return cells.street(c); }
  __device__ bool is_free(std::uint32_t c) const { return cells.speed(c) == kNoCar; }

  /// Writes all cells of a street.
  __device__ void init(std::uint32_t number, const Sign* signs) const {
    const StreetRecord& record = map.streets[number];
    for (std::uint32_t c = record.first; c < record.first + record.cells; ++c) {
      cells.sign(c) = signs[c];
      cells.street(c) = number;
      cells.plan(c) = kNoPlan;
      cells.speed(c) = kNoCar;
      const std::uint8_t top_speed = (signs[c] & kExit) == 0 ? car_at_start(world, c) : 0;
      if (top_speed > 0) put_car(c, 0, top_speed);
    }
  }

  __device__ void produce(std::size_t producer) const {
    const std::uint32_t c = producers[producer];
    if (!is_free(c)) return;
    const std::uint8_t top_speed = car_of_producer(world, c);
    if (top_speed > 0) put_car(c, 0, top_speed);
  }

  __device__ void prepare(std::uint32_t c) const {
    const std::uint8_t speed = cells.speed(c);
    if (speed == kNoCar) return;
    const Drive drive(world, c, speed, cells.top_speed(c));
    const Route route = look_ahead(*this, map, world, drive, c);
    cells.plan(c) = static_cast<std::uint8_t>(route.before << 4 | route.cells);
    if (!route.enters()) return;
    cells.entered(c) = route.street;
    map.claims[route.street].fetch_min(claim_of(world.step, route.before, c), dynasoar::Order::relaxed);
  }

  __device__ void move(std::uint32_t c) const {
    const std::uint8_t plan = cells.plan(c);
    if (plan == kNoPlan) return;
    cells.plan(c) = kNoPlan;
    Route route;
    route.cells = plan & 0xF;
    route.before = plan >> 4;
    if (route.enters()) {
      route.street = cells.entered(c);
      const std::uint64_t claim = map.claims[route.street].load(dynasoar::Order::relaxed);
      if (claim != claim_of(world.step, route.before, c)) route.stay_in_street();
    }
    if (route.cells == 0) {
      cells.speed(c) = 0;
      return;
    }
    const std::uint32_t to = route.target(map, c);
    cells.speed(c) = kNoCar;
    if ((cells.sign(to) & kExit) == 0) put_car(to, route.cells, cells.top_speed(c));
  }

  __device__ CellState state(std::uint32_t c) const {
    CellState state;
    state.limit = static_cast<std::uint8_t>(limit_now(*this, map, c, world.step));
    if (is_free(c)) return state;
    state.has_car = 1;
    state.speed = cells.speed(c);
    state.top_speed = cells.top_speed(c);
    return state;
  }

 private:
  __device__ void put_car(std::uint32_t c, std::uint8_t speed, std::uint8_t top_speed) const {
    cells.speed(c) = speed;
    cells.top_speed(c) = top_speed;
  }
};

/// Counts a cell's car.
template <class Layout>
struct CountDense {
  DenseStep<Layout> traffic;

  __device__ void operator()(std::size_t c, CarCounts& counts) const {
    const std::uint8_t speed = traffic.cells.speed(static_cast<std::uint32_t>(c));
    if (speed != kNoCar) count_car(counts, speed);
  }
};

/// A simulation whose cells lie in `Storage`.
///
/// @tparam Storage   owns the cells: constructible from their number; `layout()` is the device's view, a Layout as in
///                   DenseStep
template <class Storage>
class DenseTraffic final : public Simulation {
  using Layout = typename Storage::Layout;

 public:
  DenseTraffic(const Parameters& parameters, const Network& network)
      : world_{Seed{parameters.seed}, Chances::of(parameters), 0},
        executor_(parameters.threads),
        map_(executor_, network),
        cells_(map_.cells()),
        clock_(parameters.profile_every, {"new cars", "cars prepare", "cars move"}) {
    populate();
  }

  void step() override {
    ++world_.step;
    const auto now = view();
    clock_.begin_step(executor_);
    executor_.for_each_index(map_.producers().size(), [=] __device__(std::size_t p) { now.produce(p); });
    clock_.end_phase(executor_, 0);
    executor_.for_each_index(map_.cells(), [=] __device__(std::size_t c) { now.prepare(index(c)); });
    clock_.end_phase(executor_, 1);
    executor_.for_each_index(map_.cells(), [=] __device__(std::size_t c) { now.move(index(c)); });
    clock_.end_phase(executor_, 2);
  }

  void record() override { history_.record(executor_, map_.cells(), CountDense<Layout>{view()}); }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Census> take_history() override { return history_.take(executor_); }

  std::vector<CellState> cells() override {
    const dynasoar::DeviceArray<CellState> states(map_.cells());
    CellState* const out = states.data();
    const auto now = view();
    executor_.for_each_index(map_.cells(), [=] __device__(std::size_t c) { out[c] = now.state(index(c)); });
    executor_.synchronize();
    return states.download();
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  /// Makes the first cars. Public, like all that contains a device lambda: nvcc does not take it elsewhere.
  void populate() {
    const auto now = view();
    const Sign* const signs = map_.signs();
    executor_.for_each_index(map_.street_count(), [=] __device__(std::size_t s) { now.init(index(s), signs); });
  }

  /// Cell numbers have 32 bits, loop indices 64.
  __host__ __device__ static std::uint32_t index(std::size_t i) { return static_cast<std::uint32_t>(i); }

 private:
  DenseStep<Layout> view() const { return {cells_.layout(), map_.view(), world_, map_.producers().data()}; }

  World world_;
  dynasoar::Executor executor_;
  StreetMap map_;
  Storage cells_;
  CensusHistory history_;
  app::PhaseClock clock_;
};

}  // namespace traffic
