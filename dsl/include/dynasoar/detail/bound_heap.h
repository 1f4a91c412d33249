/// @file
/// BoundHeap: owns the heap of an allocator, and tells device code its address. Used by LoopRunner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/detail/handle_errors.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/heap/heap_storage.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// The heap that device code finds for an allocator type.
///
/// @tparam A   the allocator; one heap of each can be alive at a time
template <class A>
class BoundHeap {
 public:
  using Storage = typename A::Storage;
  using Accesses = std::conditional_t<kCountsAccesses, AccessCounts<A>, NoAccessCounts>;

  /// @pre the executor outlives this. @throws Error as AllocatorHandle does
  BoundHeap(Executor& executor, const HandleOptions& options);
  BoundHeap(const BoundHeap&) = delete;
  BoundHeap& operator=(const BoundHeap&) = delete;
  ~BoundHeap();

  Storage& storage() { return storage_; }
  const Storage& storage() const { return storage_; }
  Accesses& accesses() { return accesses_; }

  /// Tells device code the size of the heap, if it has changed.
  void bind_if_grown() {
    if (std::exchange(bound_growths_, storage_.growths()) != storage_.growths()) bind();
  }

  /// Calls bind_if_grown at the end of a scope in which the heap may grow, also if an exception leaves the scope.
  struct Rebinding {
    BoundHeap& heap;
    ~Rebinding() { heap.bind_if_grown(); }
  };

 private:
  static constexpr std::size_t kCheckedStackBytes = 4096;  // for nested constructors, until the check stops them

  inline static bool is_alive_ = false;

  static Executor& claim(Executor& executor);
  static FaultPlan plan_of(const FaultInjection& faults);
  [[gnu::noinline]] void bind();
  static void bind_to(const typename A::State& state);
  void forget() noexcept;

  Executor& executor_;
  Storage storage_;
  [[no_unique_address]] Accesses accesses_;
  std::uint64_t bound_growths_ = 0;  // growths of the heap when its state was bound
};

template <class A>
BoundHeap<A>::BoundHeap(Executor& executor, const HandleOptions& options)
    : executor_(claim(executor)),
      storage_(executor, {options.heap_bytes, options.heap_limit_bytes}, plan_of(options.failing_allocations)) {
  A::Types::for_each([]<class T>(std::type_identity<T>) { check_listed<A, T>(); });
  if constexpr (A::kFindsMisuse) executor.require_stack(kCheckedStackBytes);
  bind();
  is_alive_ = true;
}

template <class A>
BoundHeap<A>::~BoundHeap() {
  bind_to({});
  is_alive_ = false;
  if constexpr (A::kFindsMisuse) forget();
}

template <class A>
Executor& BoundHeap<A>::claim(Executor& executor) {
  executor.check_may_submit();
  check_handle_may_be_made(is_alive_);
  return executor;
}

template <class A>
FaultPlan BoundHeap<A>::plan_of(const FaultInjection& faults) {
  if (faults.first != 0 && !A::kFindsMisuse) throw_cannot_fail_on_purpose();
  return {nullptr, faults.first, faults.every};
}

template <class A>
void BoundHeap<A>::bind() {
  typename A::State state = storage_.state();
  if constexpr (kCountsAccesses) state.accesses = accesses_.counters();
  bind_to(state);
}

template <class A>
void BoundHeap<A>::bind_to(const typename A::State& state) {
  Binding<A>::state = state;
  ++Binding<A>::generation;
}

/// Lets kernels that the user has written detect that the heap no longer exists.
template <class A>
void BoundHeap<A>::forget() noexcept {
  try {
    bring_units_up_to_date<A>(executor_);
    executor_.synchronize();
  } catch (const Error&) {
  }
}

}  // namespace dynasoar::detail
