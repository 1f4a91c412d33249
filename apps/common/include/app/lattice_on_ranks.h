/// @file
/// LatticeOnRanks: the lattice of a model that one process runs, or several together. Used by models with objects on a
/// lattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <app/ranks.h>
#include <app/simulation.h>
#include <dynasoar/distributed.h>
#include <dynasoar/lattice.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>

namespace app {

/// @throws UsageError if ranks would have fewer rows than the halo
inline void check_rows(std::size_t rows, std::size_t halo, int ranks) {
  if (rows / static_cast<std::size_t>(ranks) >= halo) return;
  const std::size_t most = rows / halo;
  throw UsageError(counted(rows, "row is", "rows are") + " too few for " + std::to_string(ranks) +
                   " ranks, each of which needs " + std::to_string(halo) + " at least: " +
                   (most > 1 ? "start " + std::to_string(most) + " ranks at most"
                             : std::string("start the program without mpirun, as one process")));
}

/// A rank's part of a lattice, and the handle that several ranks share.
template <class... Ts>
struct DividedLattice {
  using Allocator = typename dynasoar::Lattice<Ts...>::Allocator;

  DividedLattice(dynasoar::Communicator& communicator, dynasoar::AllocatorHandle<Allocator>& local,
                 const std::vector<std::size_t>& sizes, const dynasoar::DistributedLatticeOptions& options)
      : handle(communicator, local), lattice(handle, sizes, options) {}

  dynasoar::DistributedHandle<Allocator> handle;
  dynasoar::DistributedLattice<Ts...> lattice;
};

/// A Lattice or, in a run on several ranks, a DistributedLattice, which needs a SoaAllocator. The loops are those of
/// both; a Lattice ignores their Reach.
template <class... Ts>
class LatticeOnRanks {
  using Whole = dynasoar::Lattice<Ts...>;

 public:
  using Allocator = typename Whole::Allocator;
  using Reach = dynasoar::Reach;

  /// @param ranks     null: a run of one process
  /// @param sizes     width and height
  /// @param options   the halo is the number of rows that the loops between two calls of update() reach in total; the
  ///                  transport is the one that the ranks request
  /// @throws UsageError on all ranks if some would have fewer rows than the halo
  LatticeOnRanks(Ranks* ranks, dynasoar::AllocatorHandle<Allocator>& handle, const std::vector<std::size_t>& sizes,
                 const dynasoar::DistributedLatticeOptions& options) {
    if constexpr (kMayDivide) {
      if (ranks != nullptr) {
        check_rows(sizes.back(), options.halo, ranks->size());
        dynasoar::DistributedLatticeOptions with_transport = options;
        with_transport.transport = ranks->wanted_transport();
        divided_.emplace(ranks->communicator(), handle, sizes, with_transport);
        ranks->note_transport(divided_->lattice.transport());
        return;
      }
    }
    whole_.emplace(handle, sizes, dynasoar::LatticeOptions{options.periodic});
  }

  /// The lattice of this rank: its own places, and ghosts.
  const dynasoar::LatticeShape& shape() const {
    if constexpr (kMayDivide) {
      if (divided_) return divided_->lattice.shape();
    }
    return whole_->shape();
  }

  /// The cells that are this rank's own, row by row.
  CellRange own_cells() const {
    const dynasoar::LatticeShape& own = shape();
    if (own.own_size() == 0) return {};
    return {own.number(dynasoar::Place(64 * own.own_words().first)), own.own_size()};
  }

  /// Updates ghosts, if necessary, before loops that reach this number of rows away in total.
  void update(int reach) {
    if constexpr (kMayDivide) {
      if (divided_ && divided_->lattice.valid() < reach) divided_->lattice.exchange();
    }
  }

  /// Writes and reads a checkpoint of the handle, with the classes of other lattices. One process can continue from a
  /// checkpoint of several ranks. @pre the allocator has checkpoints
  void save(const std::string& path, const dynasoar::CheckpointItems& items) {
    if constexpr (kMayDivide) {
      if (divided_) return divided_->handle.save(path, items);
      whole_->handle().save(path, items);
      dynasoar::detail::remove_parts(path);  // left by several ranks that saved there before
    }
  }
  void load(const std::string& path, const dynasoar::CheckpointItems& items) {
    if constexpr (kMayDivide) {
      if (divided_) return divided_->handle.load(path, items);
      if (!is_of_ranks(path)) return whole_->handle().load(path, items);
      dynasoar::Communicator alone;
      dynasoar::DistributedHandle<Allocator>(alone, whole_->handle()).load(path, items);
    }
  }

  /// The objects of T, or of T and its subclasses, at all places on the first rank; no rows on others.
  template <class T>
  dynasoar::Columns columns() {
    return gathered([](auto& handle) { return handle.template columns<T>(); });
  }
  template <class T>
  dynasoar::Columns all_columns() {
    return gathered([](auto& handle) { return handle.template all_columns<T>(); });
  }

  // As those of DistributedLattice.

  template <class F>
  void parallel_for(const Reach& reach, const F& function) {
    run(reach, [&](auto& lattice, const auto&... how_far) { lattice.parallel_for(how_far..., function); });
  }
  template <class F>
  void parallel_for_blocks(const Reach& reach, const F& function) {
    run(reach, [&](auto& lattice, const auto&... how_far) { lattice.parallel_for_blocks(how_far..., function); });
  }
  template <class... Us, class Condition, class Action>
  void parallel_for_free_if(const Reach& reach, const Condition& condition, const Action& action) {
    run(reach, [&](auto& lattice, const auto&... how_far) {
      lattice.template parallel_for_free_if<Us...>(how_far..., condition, action);
    });
  }
  template <class T, class Predicate>
  void parallel_new(const Predicate& predicate) {
    run({}, [&](auto& lattice, const auto&...) { lattice.template parallel_new<T>(predicate); });
  }
  template <auto kMethod, class... Args>
  void parallel_do(const Reach& reach, const Args&... args) {
    if constexpr (kMayDivide) {
      if (divided_) return divided_->lattice.template parallel_do<kMethod>(reach, args...);
    }
    whole_->handle().template parallel_do<kMethod>(args...);
  }
  template <class T, auto kMethod, class... Args>
  void parallel_do(const Reach& reach, const Args&... args) {
    if constexpr (kMayDivide) {
      if (divided_) return divided_->lattice.template parallel_do<T, kMethod>(reach, args...);
    }
    whole_->handle().template parallel_do<T, kMethod>(args...);
  }
  template <class T, class F, class... Args>
  void parallel_do(const Reach& reach, const F& function, const Args&... args) {
    if constexpr (kMayDivide) {
      if (divided_) return divided_->lattice.template parallel_do<T>(reach, function, args...);
    }
    whole_->handle().template parallel_do<T>(function, args...);
  }

 private:
  static constexpr bool kMayDivide = Allocator::kPlacement == dynasoar::detail::Placement::in_blocks;
  struct Nothing {};

  /// Whether several ranks have written a checkpoint.
  bool is_of_ranks(const std::string& path) {
    const auto& memory = whole_->handle().loops().storage();
    return dynasoar::detail::LoadedParts::are_at(memory, path, {}, dynasoar::detail::kCompression);
  }

  /// @param read   returns the columns of a handle's objects
  template <class F>
  dynasoar::Columns gathered(const F& read) {
    if constexpr (kMayDivide) {
      if (divided_) {
        dynasoar::Columns own;
        divided_->handle.on_all([&] { own = read(divided_->handle); });
        return divided_->handle.gather(own);
      }
    }
    return read(whole_->handle());
  }

  /// @param loop   takes a lattice and, if it is distributed, a Reach; submits a loop of the lattice, with the Reach
  template <class F>
  void run([[maybe_unused]] const Reach& reach, const F& loop) {
    if constexpr (kMayDivide) {
      if (divided_) return loop(divided_->lattice, reach);
    }
    loop(*whole_);
  }

  std::optional<Whole> whole_;
  std::optional<std::conditional_t<kMayDivide, DividedLattice<Ts...>, Nothing>> divided_;
};

}  // namespace app
