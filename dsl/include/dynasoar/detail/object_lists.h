/// @file
/// ObjectLists: makes the lists of the objects that loops visit, unless they are kept. Part of LoopRunner.
#pragma once

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/kept_lists.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// @tparam A   the allocator
template <class A>
class ObjectLists : public ListKeeper {
 public:
  using Storage = typename A::Storage;

  /// @pre both arguments outlive this object
  ObjectLists(Executor& executor, Storage& storage)
      : ListKeeper(A::Types::size), executor_(executor), storage_(storage) {}

  /// Makes the lists for a loop over some classes, unless those of all of them are kept.
  /// @throws Error if a list is kept, but its objects have changed
  [[gnu::noinline]] void make(const ClassSet& visited);

  /// Makes the lists of all classes, kept or not.
  void make_all() { storage_.make_lists(executor_, class_set_v<A, void>); }

  /// Keeps the lists of these classes during the lifetime of the result.
  [[nodiscard]] KeptLists kept_while(const ClassSet& classes);

 private:
  Executor& executor_;
  Storage& storage_;
};

template <class A>
void ObjectLists<A>::make(const ClassSet& visited) {
  if constexpr (all_placed_v<typename A::Types>) return;
  const bool are_kept = not_kept(visited).empty();
  if constexpr (A::kFindsMisuse) {
    storage_.make_lists(executor_, are_kept ? kept() : class_set_v<A, void>);
    if (!kept().empty()) check_unchanged(storage_.listed_at());
  } else if (!are_kept) {
    storage_.make_lists(executor_, not_kept(class_set_v<A, void>));
  }
}

template <class A>
KeptLists ObjectLists<A>::kept_while(const ClassSet& classes) {
  if (const ClassSet fresh = not_kept(classes); !fresh.empty()) {
    storage_.make_lists(executor_, fresh);
    if constexpr (A::kFindsMisuse) note(fresh, storage_.listed_at());
  }
  return KeptLists(*this, classes);
}

}  // namespace dynasoar::detail
