/// @file
/// Life and Generations with objects that are placed on a lattice: the host's side. The objects are in placed_cells.h.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <app/allocator.h>
#include <app/lattice_on_ranks.h>
#include <app/neighbor_counts.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/place.h>

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
  std::size_t first;
  bool has_dying;
  __device__ void operator()(std::size_t i, Tally& tally) const {
    const PlaceBlock block = dynasoar::lattice_of<Alive>().block_of(Place(64 * (first + i)));
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

  Model(app::Ranks* ranks, Handle& handle, Lattice frame, Rule rule, StartView start)
      : handle_(handle), rule_(rule), alive_(ranks, handle, {frame.width, frame.height}, options(frame)) {
    const std::vector<std::size_t> sizes = {frame.width, frame.height};
    if (rule.states > 2) dying_.emplace(ranks, handle, sizes, options(frame));
    alive_.parallel_for({}, Populate{start});
  }

  app::CellRange own_cells() const { return alive_.own_cells(); }

  /// A sufficient heap. Placed objects of a SoaAllocator are not in it.
  static std::size_t heap_bytes(std::size_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Dying>(cells + app::kSlotsInFlight);
  }

  static app::PhaseNames phases(const Rule& rule) {
    return rule.states > 2 ? app::PhaseNames{"births and deaths", "dying"} : app::PhaseNames{"births and deaths"};
  }

  void submit_step(app::PhaseClock& clock, std::uint32_t) {
    alive_.update(kHalo);
    if (!dying_) {
      alive_.parallel_for_blocks({.reads = 1}, Live{rule_});
      clock.end_phase(handle_.executor(), 0);
      return;
    }
    alive_.parallel_for_blocks({.reads = 1}, LiveAndBeginToDie{rule_});
    clock.end_phase(handle_.executor(), 0);
    dying_->parallel_do<&Dying::grow_older>({}, rule_);
    clock.end_phase(handle_.executor(), 1);
  }

  template <class F>
  void for_each_cell(const F& f, std::uint32_t) {
    handle_.parallel_do<Alive>(f);
    if (dying_) handle_.parallel_do<Dying>(f);
  }

  void record(app::CensusHistory<Population>& census, std::uint32_t) {
    alive_.update(kHalo);      // candidates have neighbours; the next step needs them, too
    handle_.device_pointer();  // the kernel that counts sees the changes of the last loop
    const dynasoar::detail::WordRange& own = alive_.shape().own_words();
    census.record(handle_.executor(), static_cast<std::size_t>(own.words),
                  CountBlock{static_cast<std::size_t>(own.first), dying_.has_value()});
  }

  void save(const std::string& path, const dynasoar::CheckpointItems& items) { alive_.save(path, items); }
  void load(const std::string& path, const dynasoar::CheckpointItems& items) { alive_.load(path, items); }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cells = dying_ ? alive_.all_columns<Cell>() : alive_.columns<Alive>();
    app::add_cells(cells, "place");
    return cells;
  }

 private:
  /// Cells read one row away. With a larger halo, more than one rank would count them.
  static constexpr int kHalo = 1;

  static dynasoar::DistributedLatticeOptions options(Lattice frame) {
    return {.periodic = {frame.torus, frame.torus, false}, .halo = kHalo};
  }

  Handle& handle_;
  Rule rule_;
  app::LatticeOnRanks<Alive> alive_;
  std::optional<app::LatticeOnRanks<Dying>> dying_;  // no loop reads ghosts: these loops reach 0 rows
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<ObjectLife<Model, AllocatorT>>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace life::placed
