/// @file
/// The forest with trees as objects that are placed on a lattice: the host's side. The objects are in placed_trees.h.

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
#include "placed_trees.h"
#include "rules.h"
#include "simulation.h"

namespace forest_fire::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

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
