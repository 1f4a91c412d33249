/// @file
/// Sugarscape with cells, males and females as objects that are placed on a lattice: the host's side. The objects are
/// in placed_agents.h.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <app/allocator.h>
#include <app/lattice_on_ranks.h>
#include <dynasoar/dynasoar.h>

#include "object_landscape.h"
#include "placed_agents.h"
#include "rules.h"
#include "simulation.h"

namespace sugarscape::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Objects final : public ObjectLandscape<Objects, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectLandscape(parameters, {"sugar grows", "sugar spreads", "agents live", "agents ask", "agents move",
                                     "males propose", "fathers ask", "births"}),
        seed_{parameters.seed},
        lattice_(made([&] {
          const auto width = static_cast<std::size_t>(parameters.width);
          const auto height = static_cast<std::size_t>(parameters.height);
          return Lattice(ranks(), handle(), {width, height}, {.periodic = {false, false}, .halo = kHalo});
        })) {
    set_own_cells(lattice_.own_cells());
    lattice_.parallel_for({}, Populate{seed_, Thresholds::of(parameters.males, parameters.females)});
    synchronize();
  }

  /// A sufficient heap. Placed objects of a SoaAllocator are not in it.
  static std::size_t heap_bytes(std::uint32_t cells) {
    const std::size_t agents = cells + kSlotsInFlight;
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Cell>(cells) +
           std::max(AllocatorT::heap_bytes_for<Male>(agents), AllocatorT::heap_bytes_for<Female>(agents));
  }

  Landscape view() const { return {seed_, now()}; }

  dynasoar::Columns read_columns() { return lattice_.all_columns<Agent>(); }

  void save_objects(const std::string& path, const dynasoar::CheckpointItems& items) { lattice_.save(path, items); }
  void load_objects(const std::string& path, const dynasoar::CheckpointItems& items) { lattice_.load(path, items); }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees the changes of the last loop
    ObjectLandscape::record();
  }

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    ObjectLandscape::paint_on(canvas);
  }

  void submit_step() override {
    count_step();
    const Landscape land = view();
    dynasoar::Executor& executor = handle().executor();
    lattice_.update(kHalo);
    lattice_.parallel_do<&Cell::grow>({});
    clock().end_phase(executor, 0);
    lattice_.parallel_do<&Cell::receive>({.reads = 2});
    clock().end_phase(executor, 1);
    lattice_.parallel_do<Agent, &Agent::live>({});
    clock().end_phase(executor, 2);
    lattice_.parallel_do<Agent, &Agent::ask>({.reads = 2, .writes = 2}, land);
    clock().end_phase(executor, 3);
    lattice_.parallel_do<Agent>({.reads = 2, .writes = 2}, Move{}, land);
    clock().end_phase(executor, 4);
    lattice_.parallel_do<&Male::propose>({.reads = 2, .writes = 2});
    clock().end_phase(executor, 5);
    lattice_.parallel_do<&Male::ask_for_cradle>({.reads = 2, .writes = 2}, land);
    clock().end_phase(executor, 6);
    lattice_.parallel_do<&Male::have_child>({.reads = 2, .writes = 2}, land);
    clock().end_phase(executor, 7);
  }

 private:
  using Lattice = app::LatticeOnRanks<Cell, Male, Female>;

  /// "Sugar spreads" reaches 2 rows away. Each of the five loops in which agents look and then change objects in sight
  /// reaches 4: changes in a row are complete only if the loop has visited all agents that might make them. With a halo
  /// of the sum, ranks exchange rows once per step. With two exchanges, one of them before "males propose", a halo of
  /// 12 would be enough, but ranks would wait for each other twice as often, and copy more rows.
  static constexpr int kHalo = 22;

  Seed seed_;
  Lattice lattice_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace sugarscape::placed
