/// @file
/// The forest with trees as objects that are placed on a lattice. The model itself is in README.md.
///
/// A step is one loop over all places. Who has a tree is as of the beginning of the loop, and whether a tree burns is
/// one flag after even steps and another one after odd steps. So a loop reads what the loop before it wrote, every
/// location has one writer in a loop, and nothing depends on the order in which threads run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/canvas.h>
#include <app/census_history.h>
#include <app/collect.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace forest_fire {
namespace placed {

class Tree;
using AllocatorT = dynasoar::SoaAllocator<Tree>;

class Tree final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  using Flags = std::array<bool, 2>;
  DYNASOAR_FIELDS(Tree, (burns_, Flags));  // after even and odd steps

  __device__ Tree() { burns_.fill(false); }

  __device__ bool burns_after(std::uint32_t step) const { return burns_[step % 2]; }
  __device__ void set_burns(std::uint32_t step, bool burns) { burns_[step % 2] = burns; }
};

/// What a place holds after a step.
__device__ Ground ground_at(dynasoar::Place place, std::uint32_t step) {
  const Tree* const tree = dynasoar::at<Tree>(place);
  if (tree == nullptr) return Ground::empty;
  return tree->burns_after(step) ? Ground::fire : Ground::tree;
}

/// Loops over places.
struct Settle {
  Chance chance;
  __device__ bool operator()(dynasoar::Place place) const {
    return chance.starts_with_tree(static_cast<std::uint32_t>(dynasoar::lattice_of<Tree>().number(place)));
  }
};

struct GrowAndBurn {
  Chance chance;
  app::StepNumber now;

  __device__ void operator()(dynasoar::Place place) const {
    const std::uint32_t step = now;
    Tree* const tree = dynasoar::at<Tree>(place);
    if (tree != nullptr && tree->burns_after(step - 1)) {
      dynasoar::destroy(tree);
      return;
    }
    const auto number = static_cast<std::uint32_t>(dynasoar::lattice_of<Tree>().number(place));
    const bool happens = chance.strikes_or_grows(tree != nullptr, number, step);
    if (tree != nullptr) {
      tree->set_burns(step, happens || has_burning_neighbour(place, step - 1));
    } else if (happens) {
      dynasoar::make_new_at<Tree>(place);
    }
  }

 private:
  __device__ static bool has_burning_neighbour(dynasoar::Place place, std::uint32_t step) {
    const dynasoar::LatticeShape& land = dynasoar::lattice_of<Tree>();
    const auto burnt = [step](dynasoar::Place next) { return ground_at(next, step) == Ground::fire; };
    return burnt(land.left(place)) || burnt(land.up(place)) || burnt(land.right(place)) || burnt(land.down(place));
  }
};

/// What a cell holds, by its number.
struct GroundOf {
  std::uint32_t step;
  __device__ Ground operator()(std::uint32_t c) const {
    return ground_at(dynasoar::lattice_of<Tree>().place_of_number(c), step);
  }
};

class Forest final : public app::ObjectSimulation<Forest, Simulation, AllocatorT> {
 public:
  explicit Forest(const Parameters& parameters)
      : ObjectSimulation(parameters, AllocatorT::least_heap_bytes(), "forest", {"grow and burn"}),
        parameters_(parameters),
        land_(handle(), {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)}) {
    land_.parallel_new<Tree>(Settle{Chance::of(parameters)});
    synchronize();
  }

  void submit_step() override {
    count_step();
    land_.parallel_for(GrowAndBurn{Chance::of(parameters_), now()});
    clock().end_phase(handle().executor(), 0);
  }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees what the last loop has changed
    history_.record(handle().executor(), cells(), CountTrees{GroundOf{steps()}});
  }

  std::vector<Census> take_history() override {
    synchronize();
    return history_.take(handle().executor());
  }

  std::vector<Ground> forest() override {
    synchronize();
    return app::collect<Ground>(handle(), cells(), GroundOf{steps()});
  }

  app::SavedOptions saved_options() const { return options_of(parameters_); }

  dynasoar::Columns read_columns() { return handle().columns<Tree>(); }

  static constexpr app::Rgb kBackground = {0, 0, 0};

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    app::paint_cells(handle().executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                     [ground = GroundOf{steps()}] __device__(std::uint32_t c) { return color_of(ground(c)); });
  }

 private:
  std::uint32_t cells() const { return static_cast<std::uint32_t>(land_.shape().size()); }

  Parameters parameters_;
  dynasoar::Lattice<Tree> land_;
  app::CensusHistory<Census> history_;
};

}  // namespace placed

std::unique_ptr<Simulation> make_placed(const Parameters& parameters) {
  return std::make_unique<placed::Forest>(parameters);
}

}  // namespace forest_fire
