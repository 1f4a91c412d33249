/// @file
/// The hand-written baselines, without an allocator: cells are in the slots of a SlotPool. Both baselines run the same
/// algorithm. One stores cells as a structure of arrays, the other as an array of structures.
///
/// A counting sort sorts positions and radii by box, so that a search reads a few short pieces of memory. The loop for
/// the first part of a step also counts the cells of each box for the next sort.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <app/layout.h>
#include <app/slot_pool.h>
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

  __device__ void operator()(std::uint32_t i) const {
    if (i >= work.pool.used() || work.cells.slot(i) == Slot::free) return;
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

  __device__ void operator()(std::uint32_t place) const {
    if (place >= work.starts[work.boxes.count()]) return;
    const std::uint32_t i = work.slots[place];
    Sphere sphere = work.spheres[place];
    sphere.position = pushed(sphere).moved(sphere.position);
    if (!lives(i, sphere)) {
      work.cells.slot(i) = Slot::free;
      work.pool.release(i);
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
    work.pool.add_birth({static_cast<std::uint64_t>(daughter), {at.x + half.x, at.y + half.y, at.z + half.z}});
    sphere = {{at.x - half.x, at.y - half.y, at.z - half.z}, kDaughterRadius};
  }
};

template <class CellsT>
struct Unpack {
  Work<CellsT> work;
  const CellState* states;
  __device__ void operator()(std::uint32_t i) const {
    const CellState& state = states[i];
    const Vector position = {state.x, state.y, state.z};
    work.cells.put(i, state.number, position, state.radius, static_cast<Slot>(static_cast<int>(state.state) + 1));
    work.count(position);
  }
};

/// The cell of a slot, with the number 0 if the slot is free.
template <class CellsT>
struct StateOfCell {
  CellsT cells;
  __device__ CellState operator()(std::uint32_t i) const {
    const Slot slot = cells.slot(i);
    const Vector at = cells.position(i);
    return {slot == Slot::free ? 0 : cells.number(i),
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
        pool_(room_of(parameters), parameters.initial.size()),
        cells_(pool_.capacity()),
        counts_(boxes_.count() + 1),
        starts_(boxes_.count() + 1),
        spheres_(pool_.capacity()),
        slots_(pool_.capacity()),
        starts_of_boxes_(boxes_.count() + 1),
        now_(places()),
        half_way_(places()),
        uptake_(places()),
        vessels_(places()) {
    dynasoar::DeviceArray<CellState> states(parameters.initial.size());
    states.upload(parameters.initial);
    counts_.fill_bytes(0);
    for_each(parameters.initial.size(), Unpack<CellsT>{work(), states.data()});
    executor().for_each_index(places(), FillOxygen{oxygen_field()});
    executor().synchronize();
  }

  void submit_step() override {
    count_step();
    const Work<CellsT> work = this->work();
    starts_of_boxes_.run(executor(), reinterpret_cast<const std::uint32_t*>(counts_.data()), starts_.data());
    run_phase(0, pool_.capacity(), Place<CellsT>{work});
    for_each(pool_.capacity(), Live<CellsT>{work});
    pool_.place_births(executor(), [work] __device__(std::uint32_t slot, const Birth& birth) {
      work.cells.put(slot, birth.number, birth.position, kDaughterRadius, Slot::proliferating);
      work.count(birth.position);
    });
    end_phase(1);
    executor().for_each_index(places(), Diffuse<true>{work.oxygen, rules_});
    executor().for_each_index(places(), Diffuse<false>{work.oxygen, rules_});
    end_phase(2);
  }

  void record() override { history_.record(executor(), work()); }

  std::vector<Census> take_history() override {
    check_room(pool_.peak(executor()), pool_.limit());
    return history_.take(executor());
  }

  std::vector<CellState> cells() override {
    check_room(pool_.peak(executor()), pool_.limit());
    return pool_.template states<CellState>(executor(), StateOfCell<CellsT>{{cells_.view()}});
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
    return {rules_,          boxes_,         oxygen_field(), now(),           pool_.view(),
            {cells_.view()}, counts_.data(), starts_.data(), spheres_.data(), slots_.data()};
  }

  Rules rules_;
  Boxes boxes_;
  std::int32_t world_;
  float rate_;
  app::SlotPool<Birth> pool_;
  Storage cells_;
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
