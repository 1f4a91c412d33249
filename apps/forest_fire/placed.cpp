/// @file
/// The forest with trees as objects that are placed on a lattice. The model itself is in README.md.
///
/// Trees and burning trees are two classes without fields: a place says all that there is to know of them. A step is
/// one loop over blocks of 64 places, which sees what is where as of its beginning, so nothing depends on the order of
/// threads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/object_simulation.h>
#include <app/on_grid.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace forest_fire::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using dynasoar::Direction;
using dynasoar::Place;
using dynasoar::PlaceBlock;

class Plant;
class Tree;
class BurningTree;
using AllocatorT = app::Allocator<Plant, Tree, BurningTree>;

class Plant : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Plant);
};

class Tree final : public Plant {
 public:
  using BaseClass = Plant;
  DYNASOAR_FIELDS(Tree);
};

class BurningTree final : public Plant {
 public:
  using BaseClass = Plant;
  DYNASOAR_FIELDS(BurningTree);
};

/// A cell's number, for random numbers.
__device__ std::uint32_t number(Place place) {
  return static_cast<std::uint32_t>(dynasoar::lattice_of<Tree>().number(place));
}

/// Loops over places.
struct Settle {
  Chance chance;
  __device__ bool operator()(Place place) const { return chance.starts_with_tree(number(place)); }
};

/// What happens at 64 places in a step.
struct GrowAndBurn {
  Chance chance;
  app::StepNumber now;

  __device__ void operator()(PlaceBlock block) const {
    const std::uint64_t trees = dynasoar::where<Tree>(block);
    const std::uint64_t fires = dynasoar::where<BurningTree>(block);
    const std::uint64_t near_fire =
        dynasoar::where<BurningTree>(block, Direction::left) | dynasoar::where<BurningTree>(block, Direction::up) |
        dynasoar::where<BurningTree>(block, Direction::right) | dynasoar::where<BurningTree>(block, Direction::down);
    // The trees that are struck, and the places without a tree where one may grow.
    const std::uint64_t drawn = dynasoar::map_places(
        trees, [dice = chance, first = number(block.place(0)), step = std::uint32_t{now}](
                   std::uint32_t i, bool has_tree) { return dice.strikes_or_grows(has_tree, first + i, step); });
    const std::uint64_t ignite = trees & (drawn | near_fire);
    dynasoar::create_where<Tree>(block, drawn & ~trees & ~fires);
    dynasoar::destroy_where<Tree>(block, ignite);
    dynasoar::create_where<BurningTree>(block, ignite);
    dynasoar::destroy_where<BurningTree>(block, fires);
  }
};

/// What cells hold, by their numbers.
struct View {
  __device__ Ground state(std::uint32_t c) const {
    const Place place = dynasoar::lattice_of<Tree>().place_of_number(c);
    if (dynasoar::at<BurningTree>(place) != nullptr) return Ground::fire;
    return dynasoar::at<Tree>(place) != nullptr ? Ground::tree : Ground::empty;
  }
};

class Forest final : public app::OnGrid<app::ObjectSimulation<Forest, Simulation, AllocatorT>> {
 public:
  explicit Forest(const Parameters& parameters)
      : OnGrid(parameters, needed_bytes(parameters.cells()), "forest", app::PhaseNames{"grow and burn"}),
        land_(handle(), {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)}) {
    land_.parallel_new<Tree>(Settle{Chance::of(parameters)});
    synchronize();
  }

  void submit_step() override {
    count_step();
    land_.parallel_for_blocks(GrowAndBurn{Chance::of(parameters()), now()});
    end_phase(0);
  }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees what the last loop has changed
    count_cells(CountTrees{View{}});
  }

  std::vector<Ground> cells() override { return states_of(View{}); }

  dynasoar::Columns read_columns() { return handle().all_columns<Plant>(); }

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    paint_cells_of(canvas, View{});
  }

 private:
  /// A heap that is enough: of a SoaAllocator, placed objects are not in it.
  static std::size_t needed_bytes(std::uint32_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Tree>(cells + app::kSlotsInFlight);
  }

  dynasoar::Lattice<Tree, BurningTree> land_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Forest>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace forest_fire::placed
