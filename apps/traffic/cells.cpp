/// @file
/// Traffic with cells, streets, traffic lights and cars as objects. README.md defines the model. The loops are those of
/// cars.cpp: producers make cars, cars prepare, and cars move.
///
/// Cells have pointers to the next cell, so the code does not use cell numbers. The class of a cell says whether it is
/// special, and a pointer contains the class, so that a car need not read the cell.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <dynasoar/dynasoar.h>

#include "object_traffic.h"
#include "rules.h"
#include "simulation.h"
#include "street_map.h"

namespace traffic::cells {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Cell;
class ProducerCell;
class DestinationCell;
class StopCell;
class Street;
class TrafficLight;
class Car;
using AllocatorT = app::Allocator<Cell, ProducerCell, DestinationCell, StopCell, Street, TrafficLight, Car>;

/// The data from which a light is made.
struct LightSeed {
  std::uint32_t green;
  std::uint8_t phases;
};

/// The light of an intersection: it is green for the streets in turn, by phases.
class TrafficLight : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(TrafficLight, (green_, std::uint32_t),  // steps of a phase
                  (phases_, std::uint8_t), (phase_, std::uint8_t));

  /// Light `index`. It stores itself in the table of all lights.
  __device__ TrafficLight(std::size_t index, const LightSeed* seeds, TrafficLight** table)
      : green_(seeds[index].green), phases_(seeds[index].phases), phase_(0) {
    table[index] = this;
  }

  __device__ void advance(World world) { phase_ = static_cast<std::uint8_t>(green_phase(world.step, green_, phases_)); }

  __device__ bool is_green(std::uint8_t phase) const { return phase_ == phase; }
};

/// The values of a cell, in one field. Cars follow pointers from cell to cell and read all of these values, which would
/// be far apart in memory in several fields.
struct Sight {
  Cell* next = nullptr;  ///< in the street; null at its end
  Car* car = nullptr;    ///< the car that is here, or null
  std::uint32_t number;
  std::uint8_t limit;
};

/// A cell of a street.
class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (sight_, Sight));

  /// Cell `numbers[index]`. It stores itself in the table of all cells.
  __device__ Cell(std::size_t index, const std::uint32_t* numbers, const Sign* signs, Cell** table)
      : sight_(
            Sight{.number = numbers[index], .limit = static_cast<std::uint8_t>(signs[numbers[index]] & kLimitBits)}) {
    table[numbers[index]] = this;
  }

  __device__ void connect(Cell* next) { sight_->next = next; }

  /// All values at once. A car that read one after the other would wait for each.
  __device__ Sight look() const { return sight_; }

  __device__ bool is_free() const { return sight_->car == nullptr; }
  __device__ std::uint32_t number() const { return sight_->number; }

  /// The speed limit for cars that enter now: 0 if the light is red.
  __device__ std::uint8_t limit_now(const Sight& sight) const;

  /// Sets the car that is here; null: none.
  __device__ void put(Car* car) { sight_->car = car; }

  __device__ void populate(World world);

  __device__ CellState state() const;

 protected:
  /// Makes a car, unless `top_speed` is 0.
  __device__ void make_car(std::uint8_t top_speed) {
    if (top_speed > 0) put(dynasoar::make_new<Car>(this, top_speed));
  }
};

/// A cell where cars appear.
class ProducerCell : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(ProducerCell);

  using Cell::Cell;

  __device__ void produce(World world) {
    if (is_free()) make_car(car_of_producer(world, number()));
  }
};

/// A cell where cars leave the network: a destination or a dead end.
class DestinationCell : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(DestinationCell);

  using Cell::Cell;
};

/// The last cell of a street, from which cars turn into other streets.
class StopCell : public Cell {
 public:
  using BaseClass = Cell;
  using Exits = std::array<Street*, kMostExits>;
  DYNASOAR_FIELDS(StopCell, (exits_, Exits), (exit_count_, std::uint8_t), (light_, TrafficLight*),  // or null
                  (phase_, std::uint8_t));  // in which this street is green

  using Cell::Cell;

  __device__ void connect_light(TrafficLight* light, std::uint8_t phase) {
    light_ = light;
    phase_ = phase;
  }

  __device__ void connect_exits(const std::uint32_t* exits, std::uint32_t count, Street* const* table) {
    exit_count_ = static_cast<std::uint8_t>(count);
    for (std::uint32_t e = 0; e < count; ++e) exits_[e] = table[exits[e]];
  }

  __device__ bool is_red() const { return light_ != nullptr && !light_->is_green(phase_); }

  /// The street into which a car turns.
  __device__ Street* exit(std::uint32_t turn) const { return exits_[below(turn, exit_count_)]; }
};

/// A street. In each step, at most one car turns into it.
class Street : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Street, (first_, Cell*), (claims_, Claims));

  /// Street `index`. It stores itself in the table of all streets.
  __device__ Street(std::size_t index, StreetView map, Cell* const* cells, Street** table)
      : first_(cells[map.streets[index].first]) {
    claims_->store(std::uint64_t{kNoClaim}, dynasoar::Order::relaxed);
    table[index] = this;
  }

  __device__ Cell* first() const { return first_; }

  __device__ void claim_right_of_way(std::uint64_t claim) { claims_->fetch_min(claim, dynasoar::Order::relaxed); }
  __device__ bool grants_right_of_way(std::uint64_t claim) const {
    return claims_->load(dynasoar::Order::relaxed) == claim;
  }
};

/// The free cells ahead through which a car goes in a step.
struct Path {
  Cell* end;                   ///< where the car is then
  Cell* behind_end;            ///< the next cell in the street
  Cell* before_end = nullptr;  ///< the cell before that
  std::uint8_t cells = 0;      ///< from the car to the end
  Street* street = nullptr;    ///< that it enters on the way, or null
  Cell* stop = nullptr;        ///< the last cell before that
  std::uint8_t before = 0;     ///< cells from the car to there

  __device__ Path(Cell* start, const Sight& sight) : end(start), behind_end(sight.next) {}

  /// The cell after the end; null if it is beyond a second intersection.
  __device__ Cell* next(std::uint32_t turn) {
    const StopCell* const stop_cell = dynasoar::cast<StopCell>(end);
    if (stop_cell == nullptr) return behind_end;
    if (street != nullptr) return nullptr;
    street = stop_cell->exit(turn);
    stop = end;
    before = cells;
    return street->first();
  }

  __device__ void extend_to(Cell* cell, const Sight& sight) {
    before_end = end;
    end = cell;
    behind_end = sight.next;
    ++cells;
  }

  __device__ void shorten() {
    if (cells == 0) return;
    end = before_end;
    --cells;
  }

  /// Removes a street that the path does not reach.
  __device__ void finish() {
    if (cells <= before) street = nullptr;
  }
};

class Car : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Car, (cell_, Cell*), (speed_, std::uint8_t), (top_speed_, std::uint8_t),  //
                  (target_, Cell*),           // where it wants to go in this step
                  (distance_, std::uint8_t),  // how far that is
                  (street_, Street*),         // that it enters on the way, or null
                  (stop_, Cell*),             // where it stops if it has no right of way there
                  (to_stop_, std::uint8_t));  // how far that is

  __device__ Car(Cell* cell, std::uint8_t top_speed) : cell_(cell), speed_(0), top_speed_(top_speed) {}

  /// Looks ahead, and claims the right of way if the path leads into another street.
  __device__ void prepare(World world) {
    Cell* const cell = cell_;
    const Sight sight = cell->look();
    const Path path = look_ahead(Path(cell, sight), Drive(world, sight.number, speed_, top_speed_));
    target_ = path.end;
    distance_ = path.cells;
    street_ = path.street;
    if (path.street == nullptr) return;
    stop_ = path.stop;
    to_stop_ = path.before;
    path.street->claim_right_of_way(claim(world));
  }

  /// Goes as far as it has the right of way. On a destination, it leaves the network.
  __device__ void move(World world) {
    const bool must_stop = street_ != nullptr && !street_->grants_right_of_way(claim(world));
    speed_ = must_stop ? to_stop_ : distance_;
    if (speed_ == 0) return;
    Cell* const target = must_stop ? stop_ : target_;
    cell_->put(nullptr);
    if (dynasoar::is_a<DestinationCell>(target)) {
      dynasoar::destroy(this);
      return;
    }
    target->put(this);
    cell_ = target;
  }

  __device__ std::uint8_t speed() const { return speed_; }
  __device__ std::uint8_t top_speed() const { return top_speed_; }

 private:
  __device__ static Path look_ahead(Path path, const Drive& drive) {
    std::uint32_t speed = drive.speed;
    while (path.cells < speed) {
      Cell* const next = path.next(drive.turn);
      if (next == nullptr) break;
      const Sight sight = next->look();
      if (sight.car != nullptr) break;
      speed = limited(speed, path.cells, next->limit_now(sight));
      if (speed == path.cells) break;
      path.extend_to(next, sight);
      if (dynasoar::is_a<DestinationCell>(next)) break;
    }
    if (drive.dawdles) path.shorten();
    path.finish();
    return path;
  }

  __device__ std::uint64_t claim(const World& world) const { return claim_of(world.step, to_stop_, cell_->number()); }
};

__device__ inline std::uint8_t Cell::limit_now(const Sight& sight) const {
  const bool is_red = dynasoar::is_a<StopCell>(this) && static_cast<const StopCell*>(this)->is_red();
  return is_red ? std::uint8_t{0} : sight.limit;
}

__device__ inline void Cell::populate(World world) {
  if (!dynasoar::is_a<DestinationCell>(this)) make_car(car_at_start(world, number()));
}

__device__ inline CellState Cell::state() const {
  const Sight sight = look();
  return state_of(limit_now(sight), sight.car);
}

/// Numbers of the cells of each class.
struct CellsByClass {
  std::vector<std::uint32_t> stops, destinations, producers, others;

  explicit CellsByClass(const std::vector<Sign>& signs) {
    for (std::uint32_t number = 0; number < signs.size(); ++number) {
      const Sign sign = signs[number];
      const bool is_stop = (sign & kCrossing) != 0;
      const bool is_destination = (sign & kExit) != 0;
      const bool is_producer = (sign & kProducer) != 0;
      (is_stop ? stops : is_destination ? destinations : is_producer ? producers : others).push_back(number);
    }
  }
};

/// Connects the cells of a street, and the last one with its light and the streets that begin there.
struct ConnectStreet {
  StreetView map;
  Cell* const* cells;
  Street* const* streets;
  TrafficLight* const* lights;
  const std::uint32_t* light_of;  ///< [streets] number of the light, or kNoLight

  static constexpr std::uint32_t kNoLight = 0xFFFFFFFF;

  __device__ void operator()(std::size_t number) const {
    const StreetRecord& record = map.streets[number];
    const std::uint32_t last = record.first + record.cells - 1;
    for (std::uint32_t c = record.first; c < last; ++c) cells[c]->connect(cells[c + 1]);
    StopCell* const stop = dynasoar::cast<StopCell>(cells[last]);
    if (stop == nullptr) return;
    stop->connect_exits(map.exits + record.first_exit, record.exits, streets);
    stop->connect_light(light_of[number] == kNoLight ? nullptr : lights[light_of[number]], record.phase);
  }
};

/// All cells in their order, for pictures.
struct View {
  Cell* const* table;

  __device__ CellState state(std::uint32_t c) const { return table[c]->state(); }
};

class Objects final : public ObjectTraffic<Objects, AllocatorT> {
 public:
  Objects(const Parameters& parameters, const Network& network)
      : ObjectTraffic(parameters, network), table_(network.cells()) {
    log_cars<Car>();
    const StreetMap map(handle().executor(), network);
    // One class after the other, so that the objects of a class are contiguous.
    const CellsByClass cells(map.read_signs());
    make_cells<StopCell>(cells.stops, map);
    make_cells<DestinationCell>(cells.destinations, map);
    make_cells<ProducerCell>(cells.producers, map);
    make_cells<Cell>(cells.others, map);
    connect(map, network);
    handle().parallel_do<Cell, &Cell::populate>(world());
    synchronize();
  }

  /// A sufficient heap: every cell could have a car, and half of the slots of the cars' blocks may be free.
  static std::size_t heap_bytes(const Network& network) {
    const std::size_t stops = network.streets.size();
    return AllocatorT::heap_bytes_for<Cell>(slots_for(network.cells())) +
           AllocatorT::heap_bytes_for<ProducerCell>(slots_for(network.producers.size())) +
           AllocatorT::heap_bytes_for<DestinationCell>(slots_for(network.destinations.size() + stops)) +
           AllocatorT::heap_bytes_for<StopCell>(slots_for(stops)) +
           AllocatorT::heap_bytes_for<Street>(slots_for(network.streets.size())) +
           AllocatorT::heap_bytes_for<TrafficLight>(slots_for(network.intersections.size())) +
           AllocatorT::heap_bytes_for<Car>(slots_for(2 * network.cells())) + AllocatorT::least_heap_bytes();
  }

  static app::PhaseNames phase_names() { return {"lights", "new cars", "cars prepare", "cars move"}; }

  View view() const { return {table_.data()}; }

  void add_arrays(dynasoar::CheckpointItems& items) const { items.add(dynasoar::array("table", table_)); }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cars = handle().all_columns<Car>();
    app::add_cells(cars, "cell_", handle().columns<Cell>(), "sight_.number");
    return cars;
  }

  void submit_step() override {
    count_step();
    const World world = this->world();
    {
      const auto kept = handle().keep_lists<TrafficLight, ProducerCell>();  // no loop over cars here
      handle().parallel_do<&TrafficLight::advance>(world);
      end_phase(0);
      handle().parallel_do<&ProducerCell::produce>(world);
      end_phase(1);
    }
    const auto kept = handle().keep_lists<Car>();  // no car leaves before the cars move
    handle().parallel_do<&Car::prepare>(world);
    end_phase(2);
    handle().parallel_do<&Car::move>(world);
    end_phase(3);
  }

 private:
  template <class C>
  void make_cells(const std::vector<std::uint32_t>& numbers, const StreetMap& map) {
    dynasoar::DeviceArray<std::uint32_t> on_device(numbers.size());
    on_device.upload(numbers);
    handle().parallel_new<C>(numbers.size(), static_cast<const std::uint32_t*>(on_device.data()), map.signs(),
                             table_.data());
    handle().synchronize();  // the array is freed now
  }

  void connect(const StreetMap& map, const Network& network) {
    std::vector<LightSeed> seeds;
    const std::vector<std::uint32_t> light_of = place_lights(network, seeds);
    dynasoar::DeviceArray<LightSeed> light_seeds(seeds.size());
    light_seeds.upload(seeds);
    dynasoar::DeviceArray<std::uint32_t> lights_of_streets(light_of.size());
    lights_of_streets.upload(light_of);
    const dynasoar::DeviceArray<TrafficLight*> lights(seeds.size());
    const dynasoar::DeviceArray<Street*> streets(map.street_count());
    handle().parallel_new<TrafficLight>(seeds.size(), static_cast<const LightSeed*>(light_seeds.data()), lights.data());
    handle().synchronize();  // all cells and lights must exist before streets are made and connected
    handle().parallel_new<Street>(streets.size(), map.view(), static_cast<Cell* const*>(table_.data()), streets.data());
    handle().synchronize();
    handle().parallel_for(streets.size(), ConnectStreet{map.view(), table_.data(), streets.data(), lights.data(),
                                                        lights_of_streets.data()});
    handle().synchronize();  // the arrays are freed now
  }

  /// Lights for the intersections that have them. @return the number of each street's light
  static std::vector<std::uint32_t> place_lights(const Network& network, std::vector<LightSeed>& seeds) {
    const std::vector<std::uint32_t> phases = network.phases();
    std::vector<std::uint32_t> light_at(network.intersections.size(), ConnectStreet::kNoLight);
    for (std::size_t i = 0; i < light_at.size(); ++i) {
      if (network.intersections[i].green == 0 || phases[i] == 0) continue;
      light_at[i] = static_cast<std::uint32_t>(seeds.size());
      seeds.push_back({network.intersections[i].green, static_cast<std::uint8_t>(phases[i])});
    }
    std::vector<std::uint32_t> light_of;
    for (const traffic::Street& street : network.streets) light_of.push_back(light_at[street.to]);
    return light_of;
  }

  dynasoar::DeviceArray<Cell*> table_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters, const Network& network) {
  return std::make_unique<Objects>(parameters, network);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace traffic::cells
