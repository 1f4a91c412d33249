/// @file
/// Life and Generations with objects that are placed on a lattice: the host's side. The objects are in placed_cells.h.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <app/allocator.h>
#include <app/neighbor_counts.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "census.h"
#include "lattice.h"
#include "object_life.h"
#include "placed_cells.h"
#include "simulation.h"
#include "start.h"

namespace life::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

/// Counts the cells of a block for the census.
struct CountBlock {
  bool has_dying;
  __device__ void operator()(std::size_t i, Tally& tally) const {
    const PlaceBlock block = dynasoar::lattice_of<Alive>().block_of(Place(64 * i));
    const Word alive = dynasoar::where<Alive>(block);
    const Word dying = has_dying ? dynasoar::where<Dying>(block) : 0;
    const Word candidates = NeighborCounts(NeighborSets::of<Alive>(block)).any() & ~alive & ~dying;
    tally.of[kAliveCells] += static_cast<std::uint64_t>(dynasoar::detail::popcount(alive));
    tally.of[kDyingCells] += static_cast<std::uint64_t>(dynasoar::detail::popcount(dying));
    tally.of[kCandidates] += static_cast<std::uint64_t>(dynasoar::detail::popcount(candidates));
  }
};

class Model {
 public:
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;
  static constexpr std::size_t kKindsOfSteps = 1;

  Model(Handle& handle, Lattice frame, Rule rule, StartView start)
      : handle_(handle), rule_(rule), alive_(handle, {frame.width, frame.height}, edges(frame)) {
    if (rule.states > 2) dying_.emplace(handle, std::vector<std::size_t>{frame.width, frame.height}, edges(frame));
    alive_.parallel_for(Populate{start});
  }

  /// A heap that is enough: of a SoaAllocator, placed objects are not in it.
  static std::size_t heap_bytes(std::uint32_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Dying>(cells + app::kSlotsInFlight);
  }

  static app::PhaseNames phases(const Rule& rule) {
    return rule.states > 2 ? app::PhaseNames{"births and deaths", "dying"} : app::PhaseNames{"births and deaths"};
  }

  void submit_step(app::PhaseClock& clock, std::uint32_t) {
    if (!dying_) {
      alive_.parallel_for_blocks(Live{rule_});
      clock.end_phase(handle_.executor(), 0);
      return;
    }
    alive_.parallel_for_blocks(LiveAndBeginToDie{rule_});
    clock.end_phase(handle_.executor(), 0);
    handle_.parallel_do<&Dying::grow_older>(rule_);
    clock.end_phase(handle_.executor(), 1);
  }

  template <class F>
  void for_each_cell(const F& f, std::uint32_t) {
    handle_.parallel_do<Alive>(f);
    if (dying_) handle_.parallel_do<Dying>(f);
  }

  void record(app::CensusHistory<Population>& census, std::uint32_t) {
    handle_.device_pointer();  // the kernel that counts sees what the last loop has changed
    census.record(handle_.executor(), alive_.shape().words(), CountBlock{dying_.has_value()});
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cells = dying_ ? handle_.all_columns<Cell>() : handle_.columns<Alive>();
    app::add_cells(cells, "place");
    return cells;
  }

 private:
  static dynasoar::LatticeOptions edges(Lattice frame) { return {.periodic = {frame.torus, frame.torus, false}}; }

  Handle& handle_;
  Rule rule_;
  dynasoar::Lattice<Alive> alive_;
  std::optional<dynasoar::Lattice<Dying>> dying_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<ObjectLife<Model, AllocatorT>>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace life::placed
