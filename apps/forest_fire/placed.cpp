/// @file
/// The forest with trees as objects that are placed on a lattice: the host's side. The objects are in placed_trees.h.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <app/allocator.h>
#include <app/lattice_on_ranks.h>
#include <app/object_simulation.h>
#include <app/on_grid.h>
#include <dynasoar/dynasoar.h>

#include "colors.h"
#include "placed_trees.h"
#include "rules.h"
#include "simulation.h"

namespace forest_fire::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Forest final : public app::OnGrid<app::ObjectSimulation<Forest, Simulation, AllocatorT>> {
 public:
  explicit Forest(const Parameters& parameters)
      : OnGrid(parameters, needed_bytes(parameters.number_of_cells()), "forest", app::PhaseNames{"grow and burn"}),
        land_(ranks(), handle(),
              {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)},
              {.halo = kHalo}) {
    set_own_cells(land_.own_cells());
    land_.parallel_new<Tree>(Settle{Chance::of(parameters)});
    synchronize();
  }

  void submit_step() override {
    count_step();
    land_.update(kHalo);
    land_.parallel_for_blocks({.reads = 1}, GrowAndBurn{Chance::of(parameters()), now()});
    end_phase(0);
  }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees the changes of the last loop
    count_cells(CountTrees{View{}});
  }

  std::vector<Ground> cells() override { return states_of(View{}); }

  dynasoar::Columns read_columns() { return land_.all_columns<Plant>(); }

  void save_objects(const std::string& path, const dynasoar::CheckpointItems& items) { land_.save(path, items); }
  void load_objects(const std::string& path, const dynasoar::CheckpointItems& items) { land_.load(path, items); }

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    paint_cells_of(canvas, View{});
  }

 private:
  /// A sufficient heap. Placed objects of a SoaAllocator are not in it.
  static std::size_t needed_bytes(std::size_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Tree>(cells + app::kSlotsInFlight);
  }

  /// The loop of a step reads one row away. With a larger halo, ranks would exchange rows less often, but compute more
  /// rows twice.
  static constexpr int kHalo = 1;

  app::LatticeOnRanks<Tree, BurningTree> land_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Forest>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace forest_fire::placed
