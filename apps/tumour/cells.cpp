/// @file
/// The tumour with cells as objects. The class of a cell determines what it does. README.md defines the model.
///
/// A cell reads copies of its neighbours, and changes or deletes only itself. Pushes and uptake are sums of integers.
/// Therefore nothing depends on the order in which threads run.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/identity.h>
#include <dynasoar/lattice.h>
#include <dynasoar/substance.h>
#include <dynasoar/uniform_grid.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace tumour::cells {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Tissue;
class Proliferating;
class Hypoxic;
class Necrotic;
using AllocatorT = app::Allocator<Tissue, Proliferating, Hypoxic, Necrotic>;

/// A place of the tissue in which the tumour grows.
class Tissue : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  DYNASOAR_FIELDS(Tissue, (oxygen_, float), (vessels_, bool));

  __device__ Tissue() : oxygen_(1.0f), vessels_(true) {}

  /// Vessels without enough oxygen collapse, and never recover.
  __device__ void supply(Rules rules) {
    const float oxygen = oxygen_;
    if (oxygen < rules.hypoxia) {
      vessels_ = false;
    } else if (vessels_) {
      oxygen_ = rules.supplied(oxygen);
    }
  }
};
using Oxygen = dynasoar::Substance<&Tissue::oxygen_, Vector>;

class Cell;
using Neighbours = dynasoar::GridView<Cell, Sphere>;

DYNASOAR_METHOD(Live, live);

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (identity_, dynasoar::Identity), (position_, Vector), (radius_, float));

  __device__ Cell(dynasoar::Identity identity, Vector position, float radius)
      : identity_(identity), position_(position), radius_(radius) {}
  __device__ Cell(std::size_t i, const CellState* states)
      : Cell(dynasoar::Identity{states[i].number}, Vector{states[i].x, states[i].y, states[i].z}, states[i].radius) {}

  __device__ Sphere seen() { return {position_, radius_}; }
  /// The greatest distance of a point of the cell from the origin.
  __device__ float reach() { return std::sqrt(squared_length(position_)) + radius_; }
  __device__ std::uint64_t number() const { return static_cast<std::uint64_t>(identity_.get()); }

 protected:
  __device__ Cell() {}  // for `become`, which keeps the fields

  /// Moves as the others push it. @return the new position
  __device__ Vector move(const Neighbours& neighbours, const Rules& rules) {
    const Vector here = position_;
    const float radius = radius_;
    Push push;
    neighbours.for_each_neighbour(here, radius + kFullRadius, [&](const Neighbours::Neighbour& other) {
      push.add(rules.mobility, radius, other.offset, other.squared_distance, other.seen.radius);
    });
    position_ = push.moved(here);
    return position_;
  }

  /// Takes up oxygen. @return the concentration
  __device__ static float breathe(const Oxygen::View& oxygen, Vector position, const Rules& rules) {
    const float found = oxygen.sample(position);
    oxygen.deposit(position, -(rules.uptake * found));
    return found;
  }
};

class Proliferating : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Proliferating);
  using Cell::Cell;
  __device__ Proliferating() {}

  __device__ void live(Neighbours neighbours, Oxygen::View oxygen, Rules rules, std::uint32_t step);

 private:
  __device__ void divide(Vector position, const Rules& rules, std::uint32_t step);
};

class Hypoxic : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Hypoxic);
  using Cell::Cell;
  __device__ Hypoxic() {}

  __device__ void live(Neighbours neighbours, Oxygen::View oxygen, Rules rules, std::uint32_t step);
};

class Necrotic : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Necrotic);
  using Cell::Cell;
  __device__ Necrotic() {}

  /// Shrinks and disappears.
  __device__ void live(Neighbours neighbours, Oxygen::View, Rules rules, std::uint32_t) {
    move(neighbours, rules);
    radius_ -= rules.shrinking;
    if (radius_ < kLeastRadius) dynasoar::destroy(this);
  }
};

__device__ inline void Proliferating::live(Neighbours neighbours, Oxygen::View oxygen, Rules rules,
                                           std::uint32_t step) {
  const Vector position = move(neighbours, rules);
  if (breathe(oxygen, position, rules) < rules.hypoxia) {
    dynasoar::become<Hypoxic>(this);
    return;
  }
  const float radius = radius_ + rules.growth;
  if (radius < kFullRadius) {
    radius_ = radius;
  } else if (rules.happens(rules.division, number(), step)) {
    divide(position, rules, step);
  } else {
    radius_ = kFullRadius;
  }
}

__device__ inline void Proliferating::divide(Vector position, const Rules& rules, std::uint32_t step) {
  const Vector half = rules.half_way_to_daughter(number(), step);
  position_ = Vector{position.x - half.x, position.y - half.y, position.z - half.z};
  radius_ = kDaughterRadius;
  dynasoar::make_new<Proliferating>(dynasoar::child_identity(identity_, step),
                                    Vector{position.x + half.x, position.y + half.y, position.z + half.z},
                                    float{kDaughterRadius});
}

__device__ inline void Hypoxic::live(Neighbours neighbours, Oxygen::View oxygen, Rules rules, std::uint32_t step) {
  const float found = breathe(oxygen, move(neighbours, rules), rules);
  if (found >= rules.hypoxia) {
    dynasoar::become<Proliferating>(this);
  } else if (found < rules.necrosis && rules.happens(rules.death, number(), step)) {
    dynasoar::become<Necrotic>(this);
  }
}

__device__ inline State state_of(Cell* cell) {
  if (dynasoar::is_a<Proliferating>(cell)) return State::proliferating;
  return dynasoar::is_a<Hypoxic>(cell) ? State::hypoxic : State::necrotic;
}

class Objects final : public app::ObjectSimulation<Objects, Simulation, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectSimulation(parameters, needed_bytes(parameters), "tumour", {"sort", "live", "diffuse"}),
        rules_(Rules::of(parameters)),
        diffusion_(parameters.diffusion),
        room_(room_of(parameters)),
        tissue_(made([&] {
          const auto side = static_cast<std::size_t>(parameters.world);
          return dynasoar::Lattice<Tissue>(handle(), {side, side, side}, {.periodic = {false, false, false}});
        })),
        oxygen_(tissue_, {.lower = corner(parameters, -1), .upper = corner(parameters, 1), .border = 1}),
        // The grid's cells are as wide as the distance at which the largest cells touch. The grid has room for all
        // cells from the start, because a host that runs ahead of a GPU could make room too late.
        grid_(handle(), {.lower = corner(parameters, -1),
                         .upper = corner(parameters, 1),
                         .cell = 2 * kFullRadius,
                         .capacity = static_cast<std::size_t>(room_)}) {
    namespace totals = dynasoar::totals;
    log().add<Proliferating>(totals::count("proliferating"));
    log().add<Hypoxic>(totals::count("hypoxic"));
    log().add<Necrotic>(totals::count("necrotic"));
    log().add<Cell>(totals::maximum<&Cell::reach>("radius"));
    log().add<Tissue>(totals::minimum<&Tissue::oxygen_>("oxygen"));
    create<Proliferating>(parameters.initial, &CellState::state, State::proliferating);
    create<Hypoxic>(parameters.initial, &CellState::state, State::hypoxic);
    create<Necrotic>(parameters.initial, &CellState::state, State::necrotic);
  }

  void submit_step() override {
    count_step();
    grid_.rebuild<&Cell::seen>();  // in no order: the sums of pushes do not depend on one
    end_phase(0);
    grid_.parallel_do<Cell>(Live{}, oxygen_.view(), rules_, now());
    end_phase(1);
    handle().parallel_do<&Tissue::supply>(rules_);
    oxygen_.diffuse({.diffusion = diffusion_, .step = 1});
    end_phase(2);
  }

  std::vector<Census> take_history() override {
    std::vector<Census> history;
    for (const app::Row& row : take_rows()) {
      const auto number = [&](std::size_t column) { return static_cast<std::uint64_t>(row[column]); };
      const auto radius = std::isnan(row[3]) ? 0 : static_cast<float>(row[3]);  // NaN if there are no cells
      history.push_back({number(0), number(1), number(2), radius, static_cast<float>(row[4])});
      check_room(history.back().cells(), room_);
    }
    return history;
  }

  std::vector<CellState> cells() override {
    check_room(handle().count<Cell>(), room_);
    return states<Cell, CellState>([] __device__(Cell * cell) -> CellState {
      const auto [at, radius] = cell->seen();
      return {cell->number(), at.x, at.y, at.z, radius, state_of(cell)};
    });
  }

  std::vector<float> oxygen() override { return tissue_.raster_of<&Tissue::oxygen_>().values; }

  dynasoar::Columns read_columns() { return handle().all_columns<Cell>(); }

  static constexpr app::Rgb kBackground = kGround;

  /// The tumour cut in half, seen along the z axis.
  void paint_on(const app::Canvas& canvas) {
    handle().parallel_do<Cell>([=] __device__(Cell * cell) {
      const auto [at, radius] = cell->seen();
      if (at.z > 0) return;
      const auto depth = static_cast<std::uint32_t>(at.z < -63 ? 252 : -4 * at.z);
      canvas.dot(at.x, at.y, std::fmax(0.5, radius * canvas.viewport.scale), color_of(state_of(cell)), depth);
    });
  }

 private:
  static Vector corner(const Parameters& parameters, int direction) {
    const float half = static_cast<float>(direction * parameters.world) * (kSpacing / 2);
    return {half, half, half};
  }

  /// Enough for all cells that there is room for. Blocks of a class stay half empty when cells leave it, so each of the
  /// three classes may need blocks for all cells. In addition, each warp of a large GPU opens a block.
  static std::size_t needed_bytes(const Parameters& parameters) {
    const auto side = static_cast<std::size_t>(parameters.world);
    const auto room = static_cast<std::size_t>(room_of(parameters));
    return 3 * AllocatorT::heap_bytes_for<Proliferating>(room + app::kSlotsInFlight) +
           AllocatorT::heap_bytes_for<Tissue>(side * side * side);
  }

  Rules rules_;
  double diffusion_;
  std::uint64_t room_;
  dynasoar::Lattice<Tissue> tissue_;
  Oxygen oxygen_;
  dynasoar::UniformGrid<Cell, Sphere> grid_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace tumour::cells
