/// @file
/// Traffic with cells and cars as objects that are placed on a lattice of one dimension: the cells of all streets, one
/// street after the other. README.md defines the model. The loops are those of cars.cpp: producers make cars, cars
/// prepare, and cars move.
///
/// Streets are objects that are not placed. A street with exits has another object, which is placed at the street's
/// last cell and points to the street.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "object_traffic.h"
#include "rules.h"
#include "simulation.h"
#include "street_map.h"

namespace traffic::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using dynasoar::Place;

class Cell;
class Producer;
class StreetEnd;
class Street;
class Car;
using AllocatorT = app::Allocator<Cell, Producer, StreetEnd, Car, Street>;

class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  DYNASOAR_FIELDS(Cell, (sign_, Sign));

  __device__ Cell() : sign_(0) {}

  __device__ Sign sign() const { return sign_; }
  __device__ void set_sign(Sign sign) { sign_ = sign; }
};

/// A place where cars appear.
class Producer final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Producer);

  __device__ void produce(World world);
};

/// The last cell of a street that has exits.
class StreetEnd final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(StreetEnd, (street_, Street*));

  __device__ explicit StreetEnd(Street* street) : street_(street) {}

  __device__ Street* street() const { return street_; }
};

/// A street and its exits. In each step, at most one car turns into it.
class Street final : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Exits = std::array<Street*, kMostExits>;
  DYNASOAR_FIELDS(Street, (first_, Place), (claims_, Claims),  //
                  (green_, std::uint32_t),                     // steps of a phase of the light; 0: none
                  (phase_, std::uint8_t),
                  (phases_, std::uint8_t),  // the phase in which it is green, and the number of phases
                  (exits_, Exits), (exit_count_, std::uint8_t));

  /// Street `index`. It stores itself in the table of all streets.
  __device__ Street(std::size_t index, StreetView map, dynasoar::LatticeShape land, Street** table) {
    const StreetRecord& record = map.streets[index];
    first_ = land.place_of_number(record.first);
    claims_->store(std::uint64_t{kNoClaim}, dynasoar::Order::relaxed);
    green_ = record.green;
    phase_ = record.phase;
    phases_ = record.phases;
    exits_.fill(nullptr);
    exit_count_ = static_cast<std::uint8_t>(record.exits);
    table[index] = this;
  }

  __device__ void connect(const std::uint32_t* exits, Street* const* table) {
    for (std::uint32_t e = 0; e < exit_count_; ++e) exits_[e] = table[exits[e]];
  }

  __device__ Place first() const { return first_; }
  __device__ bool is_red(std::uint32_t step) const {
    return green_ > 0 && green_phase(step, green_, phases_) != phase_;
  }

  /// The street into which a car turns.
  __device__ Street* exit(std::uint32_t turn) const { return exits_[below(turn, exit_count_)]; }

  __device__ void claim_right_of_way(std::uint64_t claim) { claims_->fetch_min(claim, dynasoar::Order::relaxed); }
  __device__ bool grants_right_of_way(std::uint64_t claim) const {
    return claims_->load(dynasoar::Order::relaxed) == claim;
  }
};

__device__ const dynasoar::LatticeShape& land() {
  return dynasoar::lattice_of<Cell>();
}

__device__ std::uint32_t number_of(Place place) {
  return static_cast<std::uint32_t>(land().number(place));
}

/// The street that ends at a place.
__device__ Street* street_to(Place place) {
  return dynasoar::at<StreetEnd>(place)->street();
}

/// The limit at which a place may be entered now.
__device__ std::uint32_t limit_at(Place place, Sign sign, std::uint32_t step) {
  return (sign & kCrossing) != 0 && street_to(place)->is_red(step) ? 0 : sign & kLimitBits;
}

/// The path of a car: along its street and, at the end of the street, on into another one.
struct Path {
  Street* street = nullptr;  ///< that it enters, or null
  std::uint8_t cells = 0;    ///< that it goes in all
  std::uint8_t before = 0;   ///< of them in its own street, if it enters another one

  /// The path of the car at a place, if it gets the right of way.
  __device__ static Path of(Place place, const Drive& drive, std::uint32_t step) {
    Path path;
    std::uint32_t speed = drive.speed;
    Sign sign = dynasoar::at<Cell>(place)->sign();
    while (path.cells < speed) {
      if ((sign & kCrossing) == 0) {
        place = land().right(place);
      } else {
        if (path.street != nullptr) break;
        path.street = street_to(place)->exit(drive.turn);
        path.before = path.cells;
        place = path.street->first();
      }
      if (!dynasoar::is_free<Car>(place)) break;
      sign = dynasoar::at<Cell>(place)->sign();
      speed = limited(speed, path.cells, limit_at(place, sign, step));
      if (speed == path.cells) break;
      ++path.cells;
      if ((sign & kExit) != 0) break;
    }
    if (drive.dawdles && path.cells > 0) --path.cells;
    if (path.cells <= path.before) path.street = nullptr;  // the path does not reach the other street
    return path;
  }
};

class Car final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Car, (speed_, std::uint8_t), (top_speed_, std::uint8_t),               // cells a step
                  (street_, Street*), (cells_, std::uint8_t), (before_, std::uint8_t));  // its path in this step

  __device__ explicit Car(std::uint8_t top_speed)
      : speed_(0), top_speed_(top_speed), street_(nullptr), cells_(0), before_(0) {}

  /// Looks ahead, and claims the right of way if the path leads into another street.
  __device__ void prepare(World world) {
    const Place here = dynasoar::place_of(this);
    const Path path = Path::of(here, Drive(world, number_of(here), speed_, top_speed_), world.step);
    street_ = path.street;
    cells_ = path.cells;
    before_ = path.before;
    if (path.street != nullptr) path.street->claim_right_of_way(claim(world));
  }

  /// Goes as far as it has the right of way. On a destination, it leaves the network.
  __device__ void move(World world) {
    Street* const street = street_;
    const bool enters = street != nullptr && street->grants_right_of_way(claim(world));
    const std::uint8_t cells = street != nullptr && !enters ? before_ : cells_;
    speed_ = cells;
    if (cells == 0) return;
    const Place to = enters ? land().neighbour(street->first(), {cells - before_ - 1})
                            : land().neighbour(dynasoar::place_of(this), {cells});
    if ((dynasoar::at<Cell>(to)->sign() & kExit) != 0) {
      dynasoar::destroy(this);
    } else {
      dynasoar::move_to(this, to);
    }
  }

  __device__ std::uint8_t speed() const { return speed_; }
  __device__ std::uint8_t top_speed() const { return top_speed_; }

 private:
  __device__ std::uint64_t claim(const World& world) const {
    return claim_of(world.step, before_, number_of(dynasoar::place_of(this)));
  }
};

__device__ inline void Producer::produce(World world) {
  const Place here = dynasoar::place_of(this);
  if (!dynasoar::is_free<Car>(here)) return;
  const std::uint8_t top_speed = car_of_producer(world, number_of(here));
  if (top_speed > 0) dynasoar::make_new_at<Car>(here, top_speed);
}

/// Prepares a cell, and creates its producer or street end, and its first car, if it has them.
struct Populate {
  World world;
  const Sign* signs;

  __device__ void operator()(Place place) const {
    const std::uint32_t c = number_of(place);
    const Sign sign = signs[c];
    dynasoar::at<Cell>(place)->set_sign(sign);
    if ((sign & kProducer) != 0) dynasoar::make_new_at<Producer>(place);
    const std::uint8_t top_speed = (sign & kExit) == 0 ? car_at_start(world, c) : 0;
    if (top_speed > 0) dynasoar::make_new_at<Car>(place, top_speed);
  }
};

/// Connects a street with its exits.
struct ConnectStreet {
  StreetView map;
  Street* const* streets;

  __device__ void operator()(std::size_t number) const {
    const StreetRecord& record = map.streets[number];
    if (record.exits == 0) return;
    streets[number]->connect(map.exits + record.first_exit, streets);
    const Place last = land().place_of_number(record.first + record.cells - 1);
    dynasoar::make_new_at<StreetEnd>(last, streets[number]);
  }
};

/// All cells in their order, for pictures.
struct View {
  app::StepNumber step;

  __device__ CellState state(std::uint32_t c) const {
    const Place place = land().place_of_number(c);
    CellState state;
    state.limit = static_cast<std::uint8_t>(limit_at(place, dynasoar::at<Cell>(place)->sign(), step));
    if (const Car* const car = dynasoar::at<Car>(place)) {
      state.has_car = 1;
      state.speed = car->speed();
      state.top_speed = car->top_speed();
    }
    return state;
  }
};

class Objects final : public ObjectTraffic<Objects, AllocatorT> {
 public:
  Objects(const Parameters& parameters, const Network& network)
      : ObjectTraffic(parameters, network), lattice_(made([&] {
          return Lattice(handle(), {std::max(network.cells(), std::size_t{1})}, {.periodic = {false}});
        })) {
    log_cars<Car>();
    const StreetMap map(handle().executor(), network);
    if (map.cells() > 0) lattice_.parallel_for(Populate{world(), map.signs()});
    const dynasoar::DeviceArray<Street*> streets(map.street_count());
    handle().parallel_new<Street>(streets.size(), map.view(), lattice_.shape(), streets.data());
    handle().parallel_for(streets.size(), ConnectStreet{map.view(), streets.data()});
    synchronize();  // the arrays are freed now
  }

  /// A sufficient heap. With a SoaAllocator, it contains only streets.
  static std::size_t heap_bytes(const Network& network) {
    const std::size_t cells = network.cells();
    return AllocatorT::heap_bytes_for<Street>(slots_for(network.streets.size())) + AllocatorT::least_heap_bytes() +
           AllocatorT::heap_bytes_for<Cell>(cells) + AllocatorT::heap_bytes_for<Car>(cells + app::kSlotsInFlight);
  }

  /// Lights need no loop: a car that comes to a light computes its phase.
  static app::PhaseNames phase_names() { return {"new cars", "cars prepare", "cars move"}; }

  View view() const { return {now()}; }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cars = handle().columns<Car>();
    app::add_cells(cars, "place");
    return cars;
  }

  void step() override {
    keep_lists<Street>();
    ObjectTraffic::step();
  }

  void submit_step() override {
    count_step();
    dynasoar::Executor& executor = handle().executor();
    handle().parallel_do<&Producer::produce>(world());
    clock().end_phase(executor, 0);
    handle().parallel_do<&Car::prepare>(world());
    clock().end_phase(executor, 1);
    handle().parallel_do<&Car::move>(world());
    clock().end_phase(executor, 2);
  }

 private:
  using Lattice = dynasoar::Lattice<Cell, Producer, StreetEnd, Car>;

  Lattice lattice_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters, const Network& network) {
  return std::make_unique<Objects>(parameters, network);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace traffic::placed
