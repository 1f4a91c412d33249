/// @file
/// The forest with trees as objects; the cells are an array of pointers to them. The model itself is in README.md.
///
/// A step is three loops. Trees *look* whether they catch fire. On empty ground trees *grow*; those that burn down in
/// this step are still there, so nothing grows in their place. Then trees *burn*: those on fire are deleted, and those
/// that catch fire are on fire. A loop reads what the loop before it wrote, and every location has one writer in a
/// loop, so nothing depends on the order in which threads run.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <app/census_history.h>
#include <app/collect.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/program/object_heap.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace forest_fire::trees {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Tree;
using AllocatorT = app::Allocator<Tree>;

/// The cells, as the device sees them.
struct Land {
  app::Torus torus;
  Chance chance;
  app::StepNumber step;
  Tree** trees;  ///< [cells] the tree there, or null

  __device__ bool burns(std::uint32_t c) const;
  __device__ Ground ground(std::uint32_t c) const;
  __device__ void plant(std::uint32_t c) const;
};

class Tree : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Tree, (position_, std::uint32_t), (burns_, bool), (catches_fire_, bool));

  __device__ explicit Tree(std::uint32_t position) : position_(position), burns_(false), catches_fire_(false) {}

  __device__ bool burns() const { return burns_; }

  __device__ void look(Land land) {
    if (burns_) return;
    const std::uint32_t c = position_;
    catches_fire_ = land.burns(land.torus.left(c)) || land.burns(land.torus.up(c)) || land.burns(land.torus.right(c)) ||
                    land.burns(land.torus.down(c)) || land.chance.strikes(c, land.step);
  }

  __device__ void burn(Land land) {
    if (burns_) {
      land.trees[position_] = nullptr;
      dynasoar::destroy(this);
    } else if (catches_fire_) {
      burns_ = true;
    }
  }
};

__device__ inline bool Land::burns(std::uint32_t c) const {
  const Tree* const tree = trees[c];
  return tree != nullptr && tree->burns();
}

__device__ inline Ground Land::ground(std::uint32_t c) const {
  const Tree* const tree = trees[c];
  if (tree == nullptr) return Ground::empty;
  return tree->burns() ? Ground::fire : Ground::tree;
}

__device__ inline void Land::plant(std::uint32_t c) const {
  trees[c] = dynasoar::make_new<Tree>(c);
}

/// Loops over cells.
struct Settle {
  Land land;
  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    land.trees[c] = nullptr;
    if (land.chance.starts_with_tree(c)) land.plant(c);
  }
};
struct Grow {
  Land land;
  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    if (land.trees[c] == nullptr && land.chance.grows(c, land.step)) land.plant(c);
  }
};
struct GroundOf {
  Land land;
  __device__ Ground operator()(std::uint32_t c) const { return land.ground(c); }
};

class Forest final : public app::ObjectSimulation<Forest, Simulation, AllocatorT> {
 public:
  explicit Forest(const Parameters& parameters)
      : ObjectSimulation(parameters, needed_bytes(torus_of(parameters).cells), "forest", {"look", "grow", "burn"}),
        parameters_(parameters),
        torus_(torus_of(parameters)),
        trees_(torus_.cells) {
    handle().parallel_for(torus_.cells, Settle{land()});
    synchronize();
  }

  void submit_step() override {
    count_step();
    const Land now = land();
    dynasoar::Executor& executor = handle().executor();
    handle().parallel_do<&Tree::look>(now);
    clock().end_phase(executor, 0);
    handle().parallel_for(torus_.cells, Grow{now});
    clock().end_phase(executor, 1);
    handle().parallel_do<&Tree::burn>(now);
    clock().end_phase(executor, 2);
  }

  void record() override { history_.record(handle().executor(), torus_.cells, CountTrees{GroundOf{land()}}); }

  std::vector<Census> take_history() override {
    synchronize();
    return history_.take(handle().executor());
  }

  std::vector<Ground> forest() override {
    synchronize();
    return app::collect<Ground>(handle(), torus_.cells, GroundOf{land()});
  }

  app::SavedOptions saved_options() const { return options_of(parameters_); }

  void add_arrays(dynasoar::CheckpointItems& items) const { items.add(dynasoar::array("trees", trees_)); }

  dynasoar::Columns read_columns() {
    dynasoar::Columns trees = handle().columns<Tree>();
    app::add_cells(trees, "position_");
    return trees;
  }

  static constexpr app::Rgb kBackground = {0, 0, 0};

  void paint_on(const app::Canvas& canvas) {
    app::paint_cells(handle().executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                     [now = land()] __device__(std::uint32_t c) { return color_of(now.ground(c)); });
  }

 private:
  /// A heap that is enough: every cell could hold a tree, and half of the slots of their blocks may be free.
  static std::size_t needed_bytes(std::uint32_t cells) {
    return AllocatorT::heap_bytes_for<Tree>(2 * std::size_t{cells} + app::kSlotsInFlight);
  }

  Land land() const { return {torus_, Chance::of(parameters_), now(), trees_.data()}; }

  Parameters parameters_;
  app::Torus torus_;
  dynasoar::DeviceArray<Tree*> trees_;
  app::CensusHistory<Census> history_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Forest>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace forest_fire::trees
