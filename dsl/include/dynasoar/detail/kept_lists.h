/// @file
/// KeptLists: while it lives, loops visit the objects that there were when it was made, and save the time to list them.
/// Made by AllocatorHandle::keep_lists; LoopRunner asks the ListKeeper which lists it has to make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// The classes that AllocatorHandle::keep_lists<Ts...> names: all classes if there are no Ts.
template <class A, class... Ts>
constexpr ClassSet kept_classes() {
  if constexpr (sizeof...(Ts) == 0) {
    return class_set_v<A, void>;
  } else {
    ClassSet classes;
    (classes.add_all(class_set_v<A, Ts>), ...);
    return classes;
  }
}

/// Knows of which classes the lists of objects are kept.
class ListKeeper {
 public:
  explicit ListKeeper(std::size_t types) : times_(types) {}

  /// The classes whose lists are kept.
  ClassSet kept() const;

  /// Those of some classes whose lists are not.
  ClassSet not_kept(const ClassSet& classes) const;

  /// From now on the lists of these classes are kept, until `release` is called as often as this was.
  void keep(const ClassSet& classes) { add(classes, 1); }
  void release(const ClassSet& classes) { add(classes, -1); }

  /// Notes the lists of these classes, for check_unchanged. @param listed_at   what HeapMemory::listed_at says of all
  void note(const ClassSet& classes, const std::vector<std::uint64_t>& listed_at);

  /// @throws Error if a list that is kept is not the one that was noted. All of them: a loop may see other objects than
  ///         those that it visits
  void check_unchanged(const std::vector<std::uint64_t>& listed_at) const;

  /// @throws Error if lists are kept
  void check_none() const;

  /// After a step, before which the lists of `classes` were kept. @throws Error if those of others are kept now: they
  /// were only recorded
  void check_no_more_than(const ClassSet& classes) const;

 private:
  void add(const ClassSet& classes, int times);

  std::vector<int> times_;                // [types] that each is kept
  std::vector<std::uint64_t> listed_at_;  // of those that are
};

}  // namespace dynasoar::detail

namespace dynasoar {

/// What AllocatorHandle::keep_lists returns. Lists are kept while it lives; if it is moved, the new one keeps them.
/// @pre the handle outlives it
class KeptLists {
 public:
  KeptLists(detail::ListKeeper& keeper, const detail::ClassSet& classes) : keeper_(keeper), classes_(classes) {
    keeper_.keep(classes_);
  }
  KeptLists(KeptLists&& other) noexcept : keeper_(other.keeper_), classes_(std::exchange(other.classes_, {})) {}
  KeptLists& operator=(KeptLists&&) = delete;
  ~KeptLists() { keeper_.release(classes_); }

 private:
  detail::ListKeeper& keeper_;
  detail::ClassSet classes_;
};

}  // namespace dynasoar
