/// @file
/// Wa-Tor with fish and sharks as objects that are placed on a lattice: the host's side. The objects are in
/// placed_agents.h.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <app/allocator.h>
#include <app/lattice_on_ranks.h>
#include <dynasoar/dynasoar.h>

#include "object_ocean.h"
#include "placed_agents.h"
#include "rules.h"
#include "simulation.h"

namespace wa_tor::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Objects final : public ObjectOcean<Objects, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectOcean(parameters, {"fish ask", "fish move", "sharks ask", "sharks move"}),
        seed_{parameters.seed},
        lattice_(ranks(), handle(),
                 {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)},
                 {.halo = kHalo}) {
    set_own_cells(lattice_.own_cells());
    lattice_.parallel_for({}, Populate{seed_, Thresholds::of(parameters.fish, parameters.sharks)});
    synchronize();
  }

  /// A sufficient heap. Placed objects of a SoaAllocator are not in it.
  static std::size_t heap_bytes(std::size_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Shark>(cells + kSlotsInFlight);
  }

  Ocean view() const { return {seed_, now()}; }

  void submit_step() override {
    count_step();
    const Ocean ocean = view();
    dynasoar::Executor& executor = handle().executor();
    lattice_.update(kHalo);
    lattice_.parallel_do<&Fish::ask>({.reads = 1}, ocean);
    clock().end_phase(executor, 0);
    lattice_.parallel_for_free_if({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Fish, &Fish::choice_>{},
                                  Take<Fish>{ocean, Decision::fish_accept});
    clock().end_phase(executor, 1);
    lattice_.parallel_do<&Shark::ask>({.reads = 1}, ocean);
    clock().end_phase(executor, 2);
    lattice_.parallel_for_free_if<Shark>({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Shark, &Shark::choice_>{},
                                         Take<Shark>{ocean, Decision::shark_accept});
    clock().end_phase(executor, 3);
  }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees the changes of the last loop
    ObjectOcean::record();
  }

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    ObjectOcean::paint_on(canvas);
  }

  dynasoar::Columns read_columns() { return lattice_.all_columns<Agent>(); }

  void save_objects(const std::string& path, const dynasoar::CheckpointItems& items) { lattice_.save(path, items); }
  void load_objects(const std::string& path, const dynasoar::CheckpointItems& items) { lattice_.load(path, items); }

 private:
  /// The loops of a step reach 1, 2, 1 and 2 rows away. With a halo of the sum, ranks exchange rows once per step. They
  /// wait for each other half as often as with a halo of 3, and copy the same number of rows.
  static constexpr int kHalo = 6;

  Seed seed_;
  app::LatticeOnRanks<Fish, Shark> lattice_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace wa_tor::placed
