/// @file
/// The hand-written baselines, without dynamic allocation: the state of a car is stored in its cell. The two baselines
/// differ only in their layout: a structure of arrays or an array of structures.
///
/// Cells of a street have consecutive numbers, so a car's plan fits in a byte: how far it goes, and after how many of
/// these cells it enters another street. Lights need no loop: a car that comes to a light computes its phase.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/census_history.h>
#include <app/dense_simulation.h>
#include <app/layout.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"
#include "street_map.h"

namespace traffic {
namespace {

/// The speed of a cell without a car.
constexpr std::uint8_t kNoCar = 0xFF;
/// The plan of a cell whose car has not prepared one, or that has no car.
constexpr std::uint8_t kNoPlan = 0xFF;

struct Cell {
  std::uint32_t street;
  std::uint32_t entered;
  Sign sign;
  std::uint8_t speed;
  std::uint8_t top_speed;
  std::uint8_t plan;
};

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct Cells : View {
  __device__ Sign& sign(std::uint32_t c) const { return this->template at<&Cell::sign>(c); }
  __device__ std::uint8_t& speed(std::uint32_t c) const { return this->template at<&Cell::speed>(c); }
  __device__ std::uint8_t& top_speed(std::uint32_t c) const { return this->template at<&Cell::top_speed>(c); }
  __device__ std::uint8_t& plan(std::uint32_t c) const { return this->template at<&Cell::plan>(c); }
  __device__ std::uint32_t& street(std::uint32_t c) const { return this->template at<&Cell::street>(c); }
  __device__ std::uint32_t& entered(std::uint32_t c) const { return this->template at<&Cell::entered>(c); }
};

/// The data of all loops, passed to the device by value.
template <class View>
struct DenseStep {
  Cells<View> cells;
  StreetView map;
  World world;
  const std::uint32_t* producers;

  // For look_ahead().
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
template <class View>
struct CountDense {
  DenseStep<View> traffic;

  __device__ void operator()(std::size_t c, CarCounts& counts) const {
    const std::uint8_t speed = traffic.cells.speed(static_cast<std::uint32_t>(c));
    if (speed != kNoCar) count_car(counts, speed);
  }
};

/// @tparam Storage   app::StructureOfArrays or app::ArrayOfStructures of cells
template <class Storage>
class DenseTraffic final : public app::DenseSimulation<Simulation> {
 public:
  DenseTraffic(const Parameters& parameters, const Network& network)
      : DenseSimulation(parameters, {"new cars", "cars prepare", "cars move"}),
        seed_{parameters.seed},
        chances_(Chances::of(parameters)),
        map_(executor(), network),
        cells_(map_.cells()) {
    populate();
  }

  void submit_step() override {
    count_step();
    const auto now = view();
    run_phase(0, map_.producers().size(), [=] __device__(std::uint32_t p) { now.produce(p); });
    run_phase(1, map_.cells(), [=] __device__(std::uint32_t c) { now.prepare(c); });
    run_phase(2, map_.cells(), [=] __device__(std::uint32_t c) { now.move(c); });
  }

  void record() override { history_.record(executor(), map_.cells(), CountDense{view()}); }

  std::vector<Census> take_history() override { return history_.take(executor()); }

  std::vector<CellState> cells() override {
    const auto now = view();
    return app::collect<CellState>(executor(), map_.cells(), [=] __device__(std::uint32_t c) { return now.state(c); });
  }

  /// Makes the first cars. Public, because nvcc requires this of functions that contain a device lambda.
  void populate() {
    const auto now = view();
    const Sign* const signs = map_.signs();
    for_each(map_.street_count(), [=] __device__(std::uint32_t s) { now.init(s, signs); });
  }

 private:
  DenseStep<typename Storage::View> view() const {
    return {{cells_.view()}, map_.view(), {seed_, chances_, now()}, map_.producers().data()};
  }

  Seed seed_;
  Chances chances_;
  StreetMap map_;
  Storage cells_;
  app::CensusHistory<Census> history_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters, const Network& network) {
  using Storage =
      app::StructureOfArrays<&Cell::sign, &Cell::speed, &Cell::top_speed, &Cell::plan, &Cell::street, &Cell::entered>;
  return std::make_unique<DenseTraffic<Storage>>(parameters, network);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters, const Network& network) {
  return std::make_unique<DenseTraffic<app::ArrayOfStructures<Cell>>>(parameters, network);
}

}  // namespace traffic
