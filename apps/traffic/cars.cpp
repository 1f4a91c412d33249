/// @file
/// Traffic with cars as objects; the network is plain arrays. README.md defines the model.
///
/// First, producers make cars. Then, cars *prepare*: they look ahead, and claim the right of way if they want to turn
/// into another street. Finally, cars *move*, as far as they have the right of way. A loop reads values that earlier
/// loops have written. Only one car writes to a cell in a loop: the car that leaves it, or the car that has the right
/// to enter it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <dynasoar/dynasoar.h>

#include "object_traffic.h"
#include "rules.h"
#include "simulation.h"
#include "street_map.h"

namespace traffic::cars {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Car;
using AllocatorT = app::Allocator<Car>;

/// The streets and cells, as the device sees them.
struct Roads {
  World world;
  StreetView map;
  const Sign* signs;             ///< [cells] what each cell shows
  const std::uint32_t* streets;  ///< [cells] the street where it is
  Car** cars;                    ///< [cells] the car that is there, or null

  __device__ Sign sign(std::uint32_t c) const { return signs[c]; }
  __device__ std::uint32_t street(std::uint32_t c) const { return streets[c]; }
  __device__ bool is_free(std::uint32_t c) const { return cars[c] == nullptr; }
  __device__ CellState state(std::uint32_t c) const;
};

class Car : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Car, (cell_, std::uint32_t),                         //
                  (speed_, std::uint8_t), (top_speed_, std::uint8_t),  // cells a step
                  (route_, Route));                                    // where it wants to go in this step

  __device__ Car(std::uint32_t cell, std::uint8_t top_speed) : cell_(cell), speed_(0), top_speed_(top_speed) {}

  /// Looks ahead, and claims the right of way if the route leads into another street.
  __device__ void prepare(Roads roads) {
    const Drive drive(roads.world, cell_, speed_, top_speed_);
    const Route route = look_ahead(roads, roads.map, roads.world, drive, cell_);
    route_ = route;
    if (route.enters()) roads.map.claims[route.street].fetch_min(claim(roads, route), dynasoar::Order::relaxed);
  }

  /// Goes as far as it has the right of way. On a destination, it leaves the network.
  __device__ void move(Roads roads) {
    Route route = route_;
    if (route.enters() && !has_right_of_way(roads, route)) route.stay_in_street();
    speed_ = route.cells;
    if (route.cells == 0) return;
    const std::uint32_t to = route.target(roads.map, cell_);
    roads.cars[cell_] = nullptr;
    if ((roads.sign(to) & kExit) != 0) {
      dynasoar::destroy(this);
      return;
    }
    roads.cars[to] = this;
    cell_ = to;
  }

  __device__ std::uint8_t speed() const { return speed_; }
  __device__ std::uint8_t top_speed() const { return top_speed_; }

 private:
  __device__ std::uint64_t claim(const Roads& roads, const Route& route) const {
    return claim_of(roads.world.step, route.before, cell_);
  }

  __device__ bool has_right_of_way(const Roads& roads, const Route& route) const {
    return roads.map.claims[route.street].load(dynasoar::Order::relaxed) == claim(roads, route);
  }
};

__device__ inline CellState Roads::state(std::uint32_t c) const {
  return state_of(limit_now(*this, map, c, world.step), cars[c]);
}

/// Stores in the cells of a street which street this is.
struct NumberCells {
  StreetView map;
  std::uint32_t* streets;

  __device__ void operator()(std::size_t number) const {
    const StreetRecord& record = map.streets[number];
    for (std::uint32_t i = 0; i < record.cells; ++i) streets[record.first + i] = static_cast<std::uint32_t>(number);
  }
};

/// Makes the first car of a cell, or none.
struct Populate {
  Roads roads;

  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint8_t top_speed = (roads.sign(c) & kExit) == 0 ? car_at_start(roads.world, c) : 0;
    roads.cars[c] = top_speed > 0 ? dynasoar::make_new<Car>(c, top_speed) : nullptr;
  }
};

/// A producer makes a car, if it is free.
struct Produce {
  Roads roads;
  const std::uint32_t* producers;

  __device__ void operator()(std::size_t producer) const {
    const std::uint32_t c = producers[producer];
    if (!roads.is_free(c)) return;
    if (const std::uint8_t top_speed = car_of_producer(roads.world, c)) {
      roads.cars[c] = dynasoar::make_new<Car>(c, top_speed);
    }
  }
};

class Objects final : public ObjectTraffic<Objects, AllocatorT> {
 public:
  Objects(const Parameters& parameters, const Network& network)
      : ObjectTraffic(parameters, network),
        map_(handle().executor(), network),
        streets_(map_.cells()),
        cars_(map_.cells()) {
    log_cars<Car>();
    handle().executor().for_each_index(map_.street_count(), NumberCells{map_.view(), streets_.data()});
    handle().parallel_for(map_.cells(), Populate{view()});
    synchronize();
  }

  /// A sufficient heap: every cell could have a car, and half of the slots of the cars' blocks may be free.
  static std::size_t heap_bytes(const Network& network) {
    return AllocatorT::heap_bytes_for<Car>(slots_for(2 * network.cells())) + AllocatorT::least_heap_bytes();
  }

  /// Lights need no loop: a car that comes to a light computes its phase.
  static app::PhaseNames phase_names() { return {"new cars", "cars prepare", "cars move"}; }

  Roads view() const { return {world(), map_.view(), map_.signs(), streets_.data(), cars_.data()}; }

  void add_arrays(dynasoar::CheckpointItems& items) const {  // claims are valid only in their step
    items.add(dynasoar::array("cars", cars_));
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cars = handle().all_columns<Car>();
    app::add_cells(cars, "cell_");
    return cars;
  }

  void submit_step() override {
    count_step();
    const Roads roads = view();
    handle().parallel_for(map_.producers().size(), Produce{roads, map_.producers().data()});
    end_phase(0);
    const auto kept = handle().keep_lists();  // no car leaves before they move
    handle().parallel_do<&Car::prepare>(roads);
    end_phase(1);
    handle().parallel_do<&Car::move>(roads);
    end_phase(2);
  }

 private:
  StreetMap map_;
  dynasoar::DeviceArray<std::uint32_t> streets_;
  dynasoar::DeviceArray<Car*> cars_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters, const Network& network) {
  return std::make_unique<Objects>(parameters, network);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace traffic::cars
