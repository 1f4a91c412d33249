/// @file
/// StepValue: a number that loops read and that changes between the calls of a recorded step. See
/// AllocatorHandle::record.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

namespace detail {

/// The body of a loop over one index that sets a value.
template <class T>
struct SetValue {
  T* at;
  T value;
  __device__ void operator()(std::size_t) const { *at = value; }
};

/// The body of a loop over one index that adds to a value.
template <class T>
struct AddToValue {
  T* at;
  T amount;
  __device__ void operator()(std::size_t) const { *at = static_cast<T>(*at + amount); }
};

}  // namespace detail

/// A value in device memory that a recorded step reads anew on every call, such as the number of the step, a
/// temperature or a rate. On a GPU, all other arguments keep the values that they have when the step is recorded. On a
/// CPU and in checked builds the step is not recorded, so a missing StepValue causes wrong results on a GPU only.
///
///     dynasoar::StepValue<std::uint32_t> now(handle.executor(), 0);
///     dynasoar::StepValue<float> heat(handle.executor(), 20.0f);
///     auto step = handle.record([&] {
///       handle.parallel_do<&Fish::swim>(now.view(), heat.view());  // void swim(std::uint32_t now, float heat)
///       now.add(1);                                                // recorded, so each call of the step adds 1
///     });
///     for (int i = 0; i < 1000; ++i) {
///       heat.set(temperature(i));
///       step();
///     }
///
/// @tparam T   a trivially copyable type; `add` needs an arithmetic type
/// @pre the loops that read it run on the same executor, which outlives it; it outlives these loops
template <class T>
class StepValue {
  static_assert(std::is_trivially_copyable_v<T>, "dynasoar: StepValue<T> needs a trivially copyable T");

 public:
  /// The argument for loops. It converts to the current value if a method has a parameter of type T.
  class View {
   public:
    __device__ operator T() const { return *at_; }  // NOLINT(google-explicit-constructor): methods take T

   private:
    friend StepValue;
    explicit View(const T* at) : at_(at) {}
    const T* at_;
  };

  /// @throws Error if there is no memory, or within a recorded step
  StepValue(Executor& executor, T initial) : executor_(executor), value_(1) {
    executor_.check_may_wait();  // memory may not be allocated in a step
    set(initial);
  }
  StepValue(const StepValue&) = delete;
  StepValue& operator=(const StepValue&) = delete;

  /// Sets the value for the loops that are submitted later. Does not wait; may be recorded.
  /// @throws Error in code that a loop runs
  /// @par Cost   that of a loop over one index
  void set(T value) {
    Executor::check_may_submit();
    executor_.for_each_index(1, detail::SetValue<T>{value_.data(), value});
  }

  /// Adds to the value, otherwise as `set`. Record it at the end of a step to count steps.
  void add(T amount) {
    static_assert(std::is_arithmetic_v<T>, "dynasoar: StepValue<T>::add needs a number; use set");
    Executor::check_may_submit();
    executor_.for_each_index(1, detail::AddToValue<T>{value_.data(), amount});
  }

  /// For the arguments of loops.
  View view() const { return View(value_.data()); }

  /// Waits for the loops that were submitted. @return the value. @throws Error if one failed, or within a step
  T get() const {
    executor_.synchronize();
    return value_.download()[0];
  }

 private:
  Executor& executor_;
  DeviceArray<T> value_;
};

/// The number of a step: loops read it as a std::uint32_t, also in recorded steps.
using StepNumber = StepValue<std::uint32_t>::View;

}  // namespace dynasoar
