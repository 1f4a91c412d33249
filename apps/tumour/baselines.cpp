/// @file
/// The hand-written baselines, without an allocator: cells are in slots, and a list contains the free slots. Both
/// baselines run the same algorithm. One stores cells as a structure of arrays, the other as an array of structures.
///
/// A counting sort sorts positions and radii by box, so that a search reads a few short pieces of memory. The loop in
/// which cells live also counts the cells of each box for the next sort. It only notes daughters. They get their slots
/// in the next loop, so that no thread reads a slot while another fills it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <app/layout.h>
#include <dynasoar/identity.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/scan.h>

#include "history.h"
#include "oxygen_field.h"
#include "rules.h"
#include "simulation.h"
#include "slots.h"

namespace tumour {
namespace baselines {

/// Copies the position and radius of a cell to its place in the sorted arrays.
template <class CellsT>
struct Place {
  Work<CellsT> work;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= Counters::value(work.counters->used) || work.cells.slot(i) == Slot::free) return;
    const Vector position = work.cells.position(i);
    const std::uint32_t box = work.boxes.box(position);
    const std::uint32_t place = work.starts[box] + work.counts[box].fetch_sub(1, Order::relaxed) - 1;
    work.spheres[place] = {position, work.cells.radius(i)};
    work.slots[place] = i;
  }
};

/// Moves every cell, and lets it act according to its state. Visits cells in the order of the boxes.
template <class CellsT>
struct Live {
  Work<CellsT> work;

  __device__ void operator()(std::size_t index) const {
    const auto place = static_cast<std::uint32_t>(index);
    if (place >= work.starts[work.boxes.count()]) return;
    const std::uint32_t i = work.slots[place];
    Sphere sphere = work.spheres[place];
    sphere.position = pushed(sphere).moved(sphere.position);
    if (!lives(i, sphere)) {
      work.cells.slot(i) = Slot::free;
      work.free[work.counters->free.fetch_add(1, Order::relaxed)] = i;
      return;
    }
    work.cells.position(i) = sphere.position;
    work.cells.radius(i) = sphere.radius;
    work.count(sphere.position);
  }

 private:
  __device__ Push pushed(const Sphere& me) const {
    const Boxes& boxes = work.boxes;
    const float reach = me.radius + kFullRadius;
    const std::int32_t x = boxes.along(me.position.x - reach), x_end = boxes.along(me.position.x + reach) + 1;
    const std::int32_t y = boxes.along(me.position.y - reach), y_last = boxes.along(me.position.y + reach);
    const std::int32_t z = boxes.along(me.position.z - reach), z_last = boxes.along(me.position.z + reach);
    Push push;
    for (std::int32_t k = z; k <= z_last; ++k) {
      for (std::int32_t j = y; j <= y_last; ++j) {
        const std::uint32_t end = work.starts[boxes.box(x_end, j, k)];
        for (std::uint32_t i = work.starts[boxes.box(x, j, k)]; i < end; ++i) {
          const Sphere other = work.spheres[i];
          const Vector offset = {other.position.x - me.position.x, other.position.y - me.position.y,
                                 other.position.z - me.position.z};
          const float squared = squared_length(offset);
          if (squared <= reach * reach) push.add(work.rules.mobility, me.radius, offset, squared, other.radius);
        }
      }
    }
    return push;
  }

  /// @return whether the cell still exists
  __device__ bool lives(std::uint32_t i, Sphere& sphere) const {
    const Rules& rules = work.rules;
    const Slot slot = work.cells.slot(i);
    if (slot == Slot::necrotic) {
      sphere.radius -= rules.shrinking;
      return !(sphere.radius < kLeastRadius);
    }
    const float found = work.oxygen.breathe(sphere.position, rules.uptake);
    if (slot == Slot::hypoxic) {
      if (found >= rules.hypoxia) {
        work.cells.slot(i) = Slot::proliferating;
      } else if (found < rules.necrosis && rules.happens(rules.death, work.cells.number(i), work.step)) {
        work.cells.slot(i) = Slot::necrotic;
      }
    } else if (found < rules.hypoxia) {
      work.cells.slot(i) = Slot::hypoxic;
    } else {
      grow(i, sphere);
    }
    return true;
  }

  __device__ void grow(std::uint32_t i, Sphere& sphere) const {
    const Rules& rules = work.rules;
    sphere.radius += rules.growth;
    if (sphere.radius < kFullRadius) return;
    sphere.radius = kFullRadius;
    const std::uint64_t number = work.cells.number(i);
    if (!rules.happens(rules.division, number, work.step)) return;
    const Vector half = rules.half_way_to_daughter(number, work.step);
    const Vector at = sphere.position;
    const dynasoar::Identity daughter = dynasoar::child_identity(dynasoar::Identity{number}, work.step);
    work.births[work.counters->births.fetch_add(1, Order::relaxed)] = {static_cast<std::uint64_t>(daughter),
                                                                       {at.x + half.x, at.y + half.y, at.z + half.z}};
    sphere = {{at.x - half.x, at.y - half.y, at.z - half.z}, kDaughterRadius};
  }
};

/// Gives slots to daughters: free slots from the end of the list first, and then new ones.
template <class CellsT>
struct GiveBirth {
  static constexpr std::uint32_t kThreads = 1 << 14;

  Work<CellsT> work;

  __device__ void operator()(std::size_t index) const {
    const std::uint32_t births = Counters::value(work.counters->births);
    const std::uint32_t free = Counters::value(work.counters->free);
    const std::uint32_t used = Counters::value(work.counters->used);
    for (auto b = static_cast<std::uint32_t>(index); b < births; b += kThreads) {
      const std::uint32_t slot = b < free ? work.free[free - 1 - b] : used + (b - free);
      if (slot < work.room) {
        const Birth& birth = work.births[b];
        work.cells.put(slot, birth.number, birth.position, kDaughterRadius, Slot::proliferating);
        work.count(birth.position);
      } else {
        work.counters->homeless.add(1, Order::relaxed);
      }
    }
  }
};

/// Updates the counters after the births of a step.
struct CountBirths {
  Counters* counters;
  std::uint32_t room;

  __device__ void operator()(std::size_t) const {
    const std::uint32_t births = Counters::value(counters->births);
    const std::uint32_t free = Counters::value(counters->free);
    const std::uint32_t used = Counters::value(counters->used) + (births < free ? 0 : births - free);
    counters->used.store(used < room ? used : room, Order::relaxed);
    counters->free.store(births < free ? free - births : 0, Order::relaxed);
    counters->births.store(0, Order::relaxed);
  }
};

template <class CellsT>
struct Unpack {
  Work<CellsT> work;
  const CellState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    const CellState& state = states[i];
    const Vector position = {state.x, state.y, state.z};
    work.cells.put(i, state.number, position, state.radius, static_cast<Slot>(static_cast<int>(state.state) + 1));
    work.count(position);
  }
};

/// Writes the cell of a slot, with the number 0 if the slot is free.
template <class CellsT>
struct Pack {
  CellsT cells;
  CellState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    const Slot slot = cells.slot(i);
    const Vector at = cells.position(i);
    states[i] = {slot == Slot::free ? 0 : cells.number(i),
                 at.x,
                 at.y,
                 at.z,
                 cells.radius(i),
                 static_cast<State>(static_cast<int>(slot) - (slot == Slot::free ? 0 : 1))};
  }
};

struct FillOxygen {
  OxygenField field;
  __device__ void operator()(std::size_t i) const {
    field.now[i] = 1;
    field.vessels[i] = 1;
    field.uptake[i].store(0, Order::relaxed);
  }
};

/// @tparam Storage   app::StructureOfArrays or app::ArrayOfStructures of cells
template <class Storage>
class DenseTumour final : public app::DenseSimulation<Simulation> {
 public:
  using CellsT = Cells<typename Storage::View>;

  explicit DenseTumour(const Parameters& parameters)
      : DenseSimulation(parameters, {"sort", "live", "diffuse"}),
        rules_(Rules::of(parameters)),
        boxes_(parameters.world),
        world_(parameters.world),
        rate_(static_cast<float>(parameters.diffusion / 2 / (kSpacing * kSpacing))),
        limit_(room_of(parameters)),
        room_(static_cast<std::uint32_t>(std::max<std::uint64_t>(limit_, parameters.initial.size()))),
        cells_(room_),
        counters_(1),
        free_(room_),
        births_(room_),
        counts_(boxes_.count() + 1),
        starts_(boxes_.count() + 1),
        spheres_(room_),
        slots_(room_),
        starts_of_boxes_(boxes_.count() + 1),
        now_(places()),
        half_way_(places()),
        uptake_(places()),
        vessels_(places()) {
    dynasoar::DeviceArray<CellState> states(parameters.initial.size());
    states.upload(parameters.initial);
    counts_.fill_bytes(0);
    Counters counters{};
    counters.used.store(static_cast<std::uint32_t>(parameters.initial.size()), Order::relaxed);
    counters_.upload(std::vector{counters});
    executor().for_each_index(parameters.initial.size(), Unpack<CellsT>{work(), states.data()});
    executor().for_each_index(places(), FillOxygen{oxygen_field()});
    executor().synchronize();
  }

  void submit_step() override {
    count_step();
    const Work<CellsT> work = this->work();
    starts_of_boxes_.run(executor(), reinterpret_cast<const std::uint32_t*>(counts_.data()), starts_.data());
    executor().for_each_index(room_, Place<CellsT>{work});
    end_phase(0);
    executor().for_each_index(room_, Live<CellsT>{work});
    executor().for_each_index(GiveBirth<CellsT>::kThreads, GiveBirth<CellsT>{work});
    executor().for_each_index(1, CountBirths{counters_.data(), room_});
    end_phase(1);
    executor().for_each_index(places(), Diffuse<true>{work.oxygen, rules_});
    executor().for_each_index(places(), Diffuse<false>{work.oxygen, rules_});
    end_phase(2);
  }

  void record() override { history_.record(executor(), work()); }

  std::vector<Census> take_history() override { return history_.take(executor(), limit_); }

  std::vector<CellState> cells() override {
    const Counters counters = (executor().synchronize(), counters_.download()[0]);
    const std::uint32_t used = counters.used.load(Order::relaxed);
    const dynasoar::DeviceArray<CellState> states(used);
    executor().for_each_index(used, Pack<CellsT>{{cells_.view()}, states.data()});
    executor().synchronize();
    std::vector<CellState> cells = states.download();
    std::erase_if(cells, [](const CellState& cell) { return cell.number == 0; });
    const bool is_complete = counters.homeless.load(Order::relaxed) == 0;
    check_room(cells.size() + (is_complete ? 0 : room_), limit_);
    std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return cells;
  }

  std::vector<float> oxygen() override {
    executor().synchronize();
    return now_.download();
  }

 private:
  std::size_t places() const {
    const auto side = static_cast<std::size_t>(world_);
    return side * side * side;
  }
  OxygenField oxygen_field() const {
    return {world_, rate_, now_.data(), half_way_.data(), uptake_.data(), vessels_.data()};
  }
  Work<CellsT> work() const {
    return {rules_,          boxes_,           oxygen_field(), now(),          room_,
            {cells_.view()}, counters_.data(), free_.data(),   births_.data(), counts_.data(),
            starts_.data(),  spheres_.data(),  slots_.data()};
  }

  Rules rules_;
  Boxes boxes_;
  std::int32_t world_;
  float rate_;
  std::uint64_t limit_;
  std::uint32_t room_;
  Storage cells_;
  dynasoar::DeviceArray<Counters> counters_;
  dynasoar::DeviceArray<std::uint32_t> free_;
  dynasoar::DeviceArray<Birth> births_;
  dynasoar::DeviceArray<Word> counts_;
  dynasoar::DeviceArray<std::uint32_t> starts_;
  dynasoar::DeviceArray<Sphere> spheres_;
  dynasoar::DeviceArray<std::uint32_t> slots_;
  dynasoar::detail::PrefixSums starts_of_boxes_;
  dynasoar::DeviceArray<float> now_, half_way_;
  dynasoar::DeviceArray<OxygenField::Units> uptake_;
  dynasoar::DeviceArray<std::uint8_t> vessels_;
  History history_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  using baselines::Cell;
  using Storage = app::StructureOfArrays<&Cell::number, &Cell::position, &Cell::radius, &Cell::slot>;
  return std::make_unique<baselines::DenseTumour<Storage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::DenseTumour<app::ArrayOfStructures<baselines::Cell>>>(parameters);
}

}  // namespace tumour
