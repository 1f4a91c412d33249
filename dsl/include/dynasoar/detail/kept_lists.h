/// @file
/// KeptLists: while it lives, loops visit the objects that there were when it was made, and save the time to list them.
/// Made by AllocatorHandle::keep_lists.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/handle_errors.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

namespace detail {

/// Makes the lists of objects that loops visit, unless they are kept.
///
/// @tparam A   the allocator
template <class A>
class ListKeeper {
 public:
  /// @pre both outlive this
  ListKeeper(Executor& executor, typename A::Storage& storage) : executor_(executor), storage_(storage) {}

  /// Makes the lists for a loop over some classes, unless those of all of them are kept.
  /// @throws Error if one ought to be, but objects changed
  [[gnu::noinline]] void make_lists(const ClassSet& visited) {
    const bool kept = not_kept(visited).empty();
    if constexpr (A::kFindsMisuse) {
      storage_.make_lists(executor_, kept ? all_kept() : class_set_v<A, void>);
      check_unchanged();
    } else if (!kept) {
      storage_.make_lists(executor_, not_kept(class_set_v<A, void>));
    }
  }

  /// From now on the lists of these classes are kept, until `release` is called as often as this was.
  [[gnu::noinline]] void keep(const ClassSet& classes) {
    if (const ClassSet fresh = not_kept(classes); !fresh.empty()) {
      storage_.make_lists(executor_, fresh);
      if constexpr (A::kFindsMisuse) note(fresh);
    }
    for (std::size_t type = 0; type < kTypes; ++type) kept_[type] += classes.has(type) ? 1 : 0;
  }
  void release(const ClassSet& classes) {
    for (std::size_t type = 0; type < kTypes; ++type) kept_[type] -= classes.has(type) ? 1 : 0;
  }

  /// @throws Error if lists are kept
  void check_not_kept() const {
    for (const int times : kept_) {
      if (times > 0) throw_lists_are_kept();
    }
  }

  /// While it lives, who kept lists before does not, for a recorded step may run at any time.
  class Anew {
   public:
    explicit Anew(ListKeeper& keeper)
        : keeper_(keeper),
          kept_(std::exchange(keeper.kept_, Counts{})),
          kept_at_(std::exchange(keeper.kept_at_, std::vector<std::uint64_t>{})) {}
    Anew(const Anew&) = delete;
    Anew& operator=(const Anew&) = delete;
    ~Anew() {
      for (std::size_t type = 0; type < kTypes; ++type) keeper_.kept_[type] += kept_[type];
      keeper_.kept_at_ = std::move(kept_at_);
    }

   private:
    ListKeeper& keeper_;
    std::array<int, A::Types::size> kept_;
    std::vector<std::uint64_t> kept_at_;
  };

 private:
  static constexpr std::size_t kTypes = A::Types::size;
  using Counts = std::array<int, kTypes>;

  ClassSet not_kept(const ClassSet& classes) const {
    ClassSet others;
    for (std::size_t type = 0; type < kTypes; ++type) {
      if (classes.has(type) && kept_[type] == 0) others.add(type);
    }
    return others;
  }

  ClassSet all_kept() const {
    ClassSet kept;
    for (std::size_t type = 0; type < kTypes; ++type) {
      if (kept_[type] > 0) kept.add(type);
    }
    return kept;
  }

  /// Notes which lists of these classes are kept from now on.
  void note(const ClassSet& classes) {
    const std::vector<std::uint64_t> now = storage_.listed_at();
    const std::size_t shards = now.size() / kTypes;
    kept_at_.resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (classes.has(i / shards)) kept_at_[i] = now[i];
    }
  }

  /// Of all classes that are kept: a loop may see others than those it visits.
  void check_unchanged() const {
    if (kept_ == Counts{}) return;
    const std::vector<std::uint64_t> now = storage_.listed_at();
    const std::size_t shards = now.size() / kTypes;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (kept_[i / shards] > 0 && now[i] != kept_at_[i]) throw_objects_have_changed();
    }
  }

  Executor& executor_;
  typename A::Storage& storage_;
  Counts kept_{};                       // how many KeptLists live, by class
  std::vector<std::uint64_t> kept_at_;  // in checked builds: which lists they keep
};

}  // namespace detail

/// What AllocatorHandle::keep_lists returns: lists are kept while it lives. @pre the handle outlives it
template <class A>
class KeptLists {
 public:
  KeptLists(detail::ListKeeper<A>& keeper, const detail::ClassSet& classes) : keeper_(keeper), classes_(classes) {
    keeper_.keep(classes_);
  }
  KeptLists(const KeptLists&) = delete;
  KeptLists& operator=(const KeptLists&) = delete;
  ~KeptLists() { keeper_.release(classes_); }

 private:
  detail::ListKeeper<A>& keeper_;
  detail::ClassSet classes_;
};

}  // namespace dynasoar
