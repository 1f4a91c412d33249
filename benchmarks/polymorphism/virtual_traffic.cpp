// Traffic with virtual functions: cells of four classes, which say where a car goes from there and how fast it may
// come, and cars. All cars are made before the first step and wait in a pool, so that a step creates nothing: the
// toolkit's `malloc` would be measured instead. Loops visit producers and the cars on the road, as those of the model
// do, which is described in apps/traffic/README.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <app/collect.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/step_value.h>

#include "traffic/rules.h"
#include "traffic/street_map.h"
#include "variant.h"
#include "virtual_objects.h"

namespace benchmarks::polymorphism {
namespace virtual_traffic {

using traffic::World;
constexpr auto kRelaxed = dynasoar::Order::relaxed;

class Cell;
class Car;

/// Cars that are not on the road. Within a loop, cars are either taken or put back.
struct Pool {
  ListView<Car> cars;
  Counter* is_short;  ///< 1 if there were too few

  __device__ Car* take() const {
    const auto before = static_cast<std::int32_t>(cars.counter->fetch_sub(1, kRelaxed));
    if (before > 0) return cars[static_cast<std::uint32_t>(before) - 1];
    cars.counter->fetch_add(1, kRelaxed);  // otherwise the next car that is put back would go before the array
    is_short->store(1, kRelaxed);
    return nullptr;
  }
  __device__ void put_back(Car* car) const { cars.add(car); }
};

/// What all cells and cars know.
struct City {
  Pool pool;
  ListView<Car> driving;
  World world;
};

/// What cars turn into, one at a time.
struct Street {
  Cell* first;
  traffic::Claims claims;
};

/// The free cells ahead of a car, as far as it goes.
struct Path {
  Cell* end;
  Cell* before_end;
  Street* street = nullptr;  ///< that the car enters on the way
  Cell* stop = nullptr;      ///< the last cell before that
  std::uint8_t cells = 0;
  std::uint8_t before = 0;  ///< cells up to `stop`
};

class Cell {
 public:
  __device__ Cell(std::uint32_t number, std::uint8_t limit) : number_(number), limit_(limit) {}
  __device__ virtual ~Cell() {}

  /// Where a path that ends here goes on; null if nowhere.
  __device__ virtual Cell* next(Path&, std::uint32_t) { return next_; }
  __device__ virtual std::uint8_t limit_now(const City&) const { return limit_; }
  __device__ virtual bool is_destination() const { return false; }
  __device__ virtual void produce(const City&) {}
  __device__ virtual void populate(const City& city) { add(city, traffic::car_at_start(city.world, number_)); }

  __device__ void connect(Cell* next) { next_ = next; }
  __device__ std::uint32_t number() const { return number_; }
  __device__ Car* car() const { return car_; }
  __device__ void put(Car* car) { car_ = car; }

 protected:
  __device__ void add(const City& city, std::uint8_t top_speed);

  std::uint32_t number_;
  std::uint8_t limit_;
  Cell* next_ = nullptr;  // in the street; null at its end
  Car* car_ = nullptr;
};

class ProducerCell : public Cell {
 public:
  using Cell::Cell;
  __device__ void produce(const City& city) override {
    if (car_ == nullptr) add(city, traffic::car_of_producer(city.world, number_));
  }
};

class DestinationCell : public Cell {
 public:
  using Cell::Cell;
  __device__ bool is_destination() const override { return true; }
  __device__ void populate(const City&) override {}
};

/// The last cell of a street, from which one turns into others.
class StopCell : public Cell {
 public:
  __device__ StopCell(std::uint32_t number, std::uint8_t limit, traffic::StreetView map, std::uint32_t street,
                      Street* streets)
      : Cell(number, limit), record_(&map.streets[street]), exit_count_(static_cast<std::uint8_t>(record_->exits)) {
    for (std::uint32_t e = 0; e < exit_count_; ++e) exits_[e] = &streets[map.exits[record_->first_exit + e]];
  }
  __device__ Cell* next(Path& path, std::uint32_t turn) override {
    if (path.street != nullptr) return nullptr;
    path.street = exits_[traffic::below(turn, exit_count_)];
    path.stop = this;
    path.before = path.cells;
    return path.street->first;
  }
  __device__ std::uint8_t limit_now(const City& city) const override {
    const bool is_red =
        record_->green > 0 && traffic::green_phase(city.world.step, record_->green, record_->phases) != record_->phase;
    return is_red ? std::uint8_t{0} : limit_;
  }

 private:
  const traffic::StreetRecord* record_;  // of the street that ends here
  Street* exits_[traffic::kMostExits];
  std::uint8_t exit_count_;
};

/// What moves through the city.
class Vehicle {
 public:
  __device__ virtual ~Vehicle() {}
  __device__ virtual void prepare(const City& city) = 0;
  __device__ virtual void move(const City& city) = 0;
};

class Car : public Vehicle {
 public:
  __device__ void begin(Cell* cell, std::uint8_t top_speed) {
    cell_ = cell;
    speed_ = 0;
    top_speed_ = top_speed;
  }

  /// Looks ahead, and claims the right of way if the path leads into another street.
  __device__ void prepare(const City& city) override {
    path_ = look_ahead(city, traffic::Drive(city.world, cell_->number(), speed_, top_speed_));
    if (path_.street != nullptr) path_.street->claims.fetch_min(claim(city), kRelaxed);
  }

  /// Goes as far as it has the right of way; leaves at a destination.
  __device__ void move(const City& city) override {
    const bool must_stop = path_.street != nullptr && path_.street->claims.load(kRelaxed) != claim(city);
    speed_ = must_stop ? path_.before : path_.cells;
    if (speed_ == 0) return;
    cell_->put(nullptr);
    cell_ = must_stop ? path_.stop : path_.end;
    if (cell_->is_destination()) {
      cell_ = nullptr;
      city.pool.put_back(this);
    } else {
      cell_->put(this);
    }
  }

  __device__ bool is_driving() const { return cell_ != nullptr; }

  __device__ std::uint8_t speed() const { return speed_; }
  __device__ std::uint8_t top_speed() const { return top_speed_; }

 private:
  __device__ Path look_ahead(const City& city, const traffic::Drive& drive) const {
    Path path{.end = cell_, .before_end = cell_};
    std::uint32_t speed = drive.speed;
    while (path.cells < speed) {
      Cell* const next = path.end->next(path, drive.turn);
      if (next == nullptr || next->car() != nullptr) break;
      speed = traffic::limited(speed, path.cells, next->limit_now(city));
      if (speed == path.cells) break;
      path.before_end = path.end;
      path.end = next;
      ++path.cells;
      if (next->is_destination()) break;
    }
    if (drive.dawdles && path.cells > 0) {
      path.end = path.before_end;
      --path.cells;
    }
    if (path.cells <= path.before) path.street = nullptr;  // it does not get as far as there
    return path;
  }

  __device__ std::uint64_t claim(const City& city) const {
    return traffic::claim_of(city.world.step, path_.before, cell_->number());
  }

  Cell* cell_ = nullptr;  // null: in the pool
  std::uint8_t speed_ = 0;
  std::uint8_t top_speed_ = 0;
  Path path_{};
};

__device__ inline void Cell::add(const City& city, std::uint8_t top_speed) {
  if (top_speed == 0) return;
  Car* const car = city.pool.take();
  if (car == nullptr) return;
  car->begin(this, top_speed);
  put(car);
  city.driving.add(car);
}

struct MakeCell {
  const traffic::Sign* signs;
  const std::uint32_t* street_of;  ///< [cells]
  traffic::StreetView map;
  Street* streets;
  __device__ Cell* operator()(void* place, std::size_t i) const {
    const auto number = static_cast<std::uint32_t>(i);
    const traffic::Sign sign = signs[i];
    const auto limit = static_cast<std::uint8_t>(sign & traffic::kLimitBits);
    if ((sign & traffic::kCrossing) != 0) return make_at<StopCell>(place, number, limit, map, street_of[i], streets);
    if ((sign & traffic::kExit) != 0) return make_at<DestinationCell>(place, number, limit);
    if ((sign & traffic::kProducer) != 0) return make_at<ProducerCell>(place, number, limit);
    return make_at<Cell>(place, number, limit);
  }
};

struct MakeCar {
  __device__ Vehicle* operator()(void* place, std::size_t) const { return make_at<Car>(place); }
};

class Traffic final : public Variant {
 public:
  Traffic(const traffic::Parameters& parameters, const traffic::Network& network)
      : seed_{parameters.seed},
        chances_(traffic::Chances::of(parameters)),
        now_(executor_, 0),
        map_(executor_, network),
        street_of_(map_.cells()),
        streets_(map_.street_count()),
        cells_(executor_, map_.cells(),
               MakeCell{map_.signs(), uploaded_streets(network), map_.view(), streets_.data()}),
        cars_(executor_, map_.cells() / 2, MakeCar{}),
        producers_(map_.producers().size()),
        pool_(executor_, cars_.size()),
        driving_(executor_, cars_.size()),
        is_short_(1) {
    begin();
  }

  bool restart() override {
    cells_.restart();
    cars_.restart();
    begin();
    return true;
  }

  void step() override {
    recorded_.run(driving_.turn(), [this] { submit_step(); });
    driving_.take_turns();
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<double> result() override {
    synchronize();
    if (is_short_.download()[0].load(kRelaxed) != 0) throw std::runtime_error("polymorphism: too few cars in the pool");
    std::vector<double> numbers;
    for (const traffic::CellState& state : states()) numbers.push_back(number_of(state));
    return numbers;
  }

  // Public, like all that contains a device lambda: nvcc does not take it elsewhere.

  void submit_step() {
    now_.add(1);
    const City city = this->city();
    Cell* const* const producers = producers_.data();
    executor_.for_each_index(producers_.size(), [=] __device__(std::size_t i) { producers[i]->produce(city); });
    driving_.for_each([=] __device__(Vehicle * car) { car->prepare(city); });
    driving_.for_each([=] __device__(Vehicle * car) { car->move(city); });
    driving_.copy_if([] __device__(const Car* car) { return car->is_driving(); });
  }

  void begin() {
    now_.set(0);
    executor_.fill_bytes(is_short_.data(), 0, is_short_.bytes());
    connect();
    fill_pool();
    driving_.clear();
    const City city = this->city();
    cells_.for_each([=] __device__(Cell * cell) { cell->populate(city); });
  }

  void connect() {
    const traffic::StreetView map = map_.view();
    Cell* const* const cells = cells_.data();
    Street* const streets = streets_.data();
    executor_.for_each_index(streets_.size(), [=] __device__(std::size_t s) {
      const traffic::StreetRecord& record = map.streets[s];
      streets[s].first = cells[record.first];
      streets[s].claims.store(traffic::kNoClaim, kRelaxed);
      const std::uint32_t last = record.first + record.cells - 1;
      for (std::uint32_t c = record.first; c < last; ++c) cells[c]->connect(cells[c + 1]);
    });
    const std::uint32_t* const numbers = map_.producers().data();
    Cell** const producers = producers_.data();
    executor_.for_each_index(producers_.size(), [=] __device__(std::size_t i) { producers[i] = cells[numbers[i]]; });
  }

  void fill_pool() {
    const ListView<Car> pool = pool_.view();
    Vehicle* const* const cars = cars_.data();
    const auto count = static_cast<std::uint32_t>(cars_.size());
    executor_.for_each_index(count, [=] __device__(std::size_t i) {
      pool.objects[i] = static_cast<Car*>(cars[i]);
      if (i == 0) pool.counter->store(count, kRelaxed);
    });
  }

  std::vector<traffic::CellState> states() {
    const City city = this->city();
    Cell* const* const cells = cells_.data();
    return app::collect<traffic::CellState>(executor_, cells_.size(), [=] __device__(std::uint32_t i) {
      return traffic::state_of(cells[i]->limit_now(city), cells[i]->car());
    });
  }

 private:
  City city() const { return {{pool_.view(), is_short_.data()}, driving_.view(), {seed_, chances_, now_.view()}}; }

  /// The number of the street of each cell.
  const std::uint32_t* uploaded_streets(const traffic::Network& network) {
    std::vector<std::uint32_t> street_of;
    for (std::uint32_t s = 0; s < network.streets.size(); ++s) {
      street_of.insert(street_of.end(), network.streets[s].cells, s);
    }
    street_of_.upload(street_of);
    return street_of_.data();
  }

  dynasoar::Executor executor_;
  traffic::Seed seed_;
  traffic::Chances chances_;
  dynasoar::StepValue<std::uint32_t> now_;
  traffic::StreetMap map_;
  dynasoar::DeviceArray<std::uint32_t> street_of_;
  dynasoar::DeviceArray<Street> streets_;
  VirtualObjects<Cell> cells_;
  VirtualObjects<Vehicle> cars_;
  dynasoar::DeviceArray<Cell*> producers_;
  ObjectList<Car> pool_, driving_;
  dynasoar::DeviceArray<Counter> is_short_;
  RecordedLoops recorded_{executor_};
};

}  // namespace virtual_traffic

std::unique_ptr<Variant> make_virtual_traffic(const traffic::Parameters& parameters, const traffic::Network& network) {
  return std::make_unique<virtual_traffic::Traffic>(parameters, network);
}

}  // namespace benchmarks::polymorphism
