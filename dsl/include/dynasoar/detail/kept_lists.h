/// @file
/// KeptLists: during its lifetime, loops visit the objects that existed when it was made, without listing them again.
/// Made by AllocatorHandle::keep_lists. ListKeeper: tells LoopRunner which lists to make.
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

/// Knows the classes whose lists of objects are kept.
class ListKeeper {
 public:
  explicit ListKeeper(std::size_t types) : times_(types) {}

  /// The classes whose lists are kept.
  ClassSet kept() const;

  /// The members of `classes` whose lists are not kept.
  ClassSet not_kept(const ClassSet& classes) const;

  /// Keeps the lists of these classes until `release` has been called as often as this function.
  void keep(const ClassSet& classes) { add(classes, 1); }
  void release(const ClassSet& classes) { add(classes, -1); }

  /// Notes the lists of these classes, for check_unchanged. @param listed_at   HeapMemory::listed_at of all classes
  void note(const ClassSet& classes, const std::vector<std::uint64_t>& listed_at);

  /// @throws Error if a kept list differs from the noted one. Checks all kept lists, because a loop may look at other
  ///         objects than those that it visits
  void check_unchanged(const std::vector<std::uint64_t>& listed_at) const;

  /// @throws Error if lists are kept
  void check_none() const;

  /// Called after a step. @param classes   the classes whose lists were kept before the step
  /// @throws Error if lists of other classes are kept now: they were only recorded
  void check_no_more_than(const ClassSet& classes) const;

 private:
  void add(const ClassSet& classes, int times);

  std::vector<int> times_;                // [types] how often `keep` was called
  std::vector<std::uint64_t> listed_at_;  // [types] of kept lists
};

}  // namespace dynasoar::detail

namespace dynasoar {

/// The result of AllocatorHandle::keep_lists. It keeps the lists during its lifetime. If it is moved, the new object
/// keeps them. @pre the handle outlives it
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
