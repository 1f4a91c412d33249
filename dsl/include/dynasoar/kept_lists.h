/// @file
/// KeptLists: while it lives, loops visit the objects that there were when it was made, and save the time to list them.
/// Made by AllocatorHandle::keep_lists.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/platform/error.h>
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

  /// Makes the lists for the next loop, unless they are kept. @throws Error if they ought to be, but objects changed
  void make_lists() {
    if (!A::kFindsMisuse && kept_ > 0) return;
    storage_.make_lists(executor_);
    if constexpr (A::kFindsMisuse) {
      if (kept_ > 0 && storage_.listed_at() != kept_at_) {
        throw Error(
            "dynasoar: objects were created or deleted since keep_lists(), so this loop would visit objects that there "
            "are not; end the scope of what keep_lists returned before it");
      }
    }
  }

  /// From now on the lists are kept, until `release` is called as often as this was.
  void keep() {
    if (kept_ == 0) {
      storage_.make_lists(executor_);
      if constexpr (A::kFindsMisuse) kept_at_ = storage_.listed_at();
    }
    ++kept_;
  }
  void release() { --kept_; }

  /// @throws Error if lists are kept
  void check_not_kept() const {
    if (kept_ == 0) return;
    throw Error(
        "dynasoar: a checkpoint cannot be loaded while lists are kept, for they are of the objects before; end the "
        "scope of what keep_lists returned");
  }

  /// While it lives, who kept lists before does not, for a recorded step may run at any time.
  class Anew {
   public:
    explicit Anew(ListKeeper& keeper)
        : keeper_(keeper), kept_(std::exchange(keeper.kept_, 0)), kept_at_(std::move(keeper.kept_at_)) {}
    Anew(const Anew&) = delete;
    Anew& operator=(const Anew&) = delete;
    ~Anew() {
      keeper_.kept_ += kept_;
      keeper_.kept_at_ = std::move(kept_at_);
    }

   private:
    ListKeeper& keeper_;
    int kept_;
    std::vector<std::uint64_t> kept_at_;
  };

 private:
  Executor& executor_;
  typename A::Storage& storage_;
  int kept_ = 0;                        // how many KeptLists live
  std::vector<std::uint64_t> kept_at_;  // in checked builds: which lists they keep
};

}  // namespace detail

/// What AllocatorHandle::keep_lists returns: lists are kept while it lives. @pre the handle outlives it
template <class A>
class KeptLists {
 public:
  explicit KeptLists(detail::ListKeeper<A>& keeper) : keeper_(keeper) { keeper_.keep(); }
  KeptLists(const KeptLists&) = delete;
  KeptLists& operator=(const KeptLists&) = delete;
  ~KeptLists() { keeper_.release(); }

 private:
  detail::ListKeeper<A>& keeper_;
};

}  // namespace dynasoar
