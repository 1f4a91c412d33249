/// @file
/// Wa-Tor with fish and sharks as objects that are placed on a lattice: the host's side. The objects are in
/// placed_agents.h.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

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
        lattice_(handle(), {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)}) {
    lattice_.parallel_for(Populate{seed_, Thresholds::of(parameters.fish, parameters.sharks)});
    synchronize();
  }

  /// A heap that is enough: of a SoaAllocator, placed objects are not in it.
  static std::size_t heap_bytes(std::uint32_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Shark>(cells + kSlotsInFlight);
  }

  Ocean view() const { return {seed_, now()}; }

  void submit_step() override {
    count_step();
    const Ocean ocean = view();
    dynasoar::Executor& executor = handle().executor();
    handle().parallel_do<&Fish::ask>(ocean);
    clock().end_phase(executor, 0);
    lattice_.parallel_for_free_if(dynasoar::AskedFrom<Fish, &Fish::choice_>{},
                                  Take<Fish>{ocean, Decision::fish_accept});
    clock().end_phase(executor, 1);
    handle().parallel_do<&Shark::ask>(ocean);
    clock().end_phase(executor, 2);
    lattice_.parallel_for_free_if<Shark>(dynasoar::AskedFrom<Shark, &Shark::choice_>{},
                                         Take<Shark>{ocean, Decision::shark_accept});
    clock().end_phase(executor, 3);
  }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees what the last loop has changed
    ObjectOcean::record();
  }

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    ObjectOcean::paint_on(canvas);
  }

  dynasoar::Columns read_columns() { return handle().all_columns<Agent>(); }

 private:
  Seed seed_;
  dynasoar::Lattice<Fish, Shark> lattice_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace wa_tor::placed
