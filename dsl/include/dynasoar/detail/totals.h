/// @file
/// Totals: the values that a step log computes from the objects of a class, on the device. Used by StepLog.
///
/// Each total has a type Value. The loop uses `none()`, `of(object)` and `combined(a, b)`; `read()` converts the result
/// to cells.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/log_rows.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

template <class T>
LogValue log_value(T number) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= sizeof(std::uint64_t),
                "dynasoar: the totals of a step log are numbers of at most 64 bits");
  if constexpr (std::is_floating_point_v<T>) return static_cast<double>(number);
  if constexpr (std::is_signed_v<T>) return static_cast<std::int64_t>(number);
  return static_cast<std::uint64_t>(number);
}

/// The memory of the bins of a class's histograms.
struct LogBins {
  using Word = AtomicWord<std::uint64_t>;
  /// Threads count in different copies of the bins, so that few of them access the same word at the same time.
  static constexpr std::uint32_t kCopies = 32;

  Word* words = nullptr;   ///< [kCopies][bins]; zero before a loop
  std::uint32_t bins = 0;  ///< of all histograms

  __device__ void count(std::uint32_t bin, std::uint64_t object) const {
    const auto copy = static_cast<std::uint32_t>(object * 0x9E3779B97F4A7C15u >> 59);  // pseudo-random
    words[copy * bins + bin].add(1, Order::relaxed);  // relaxed: the words are read when the loop has ended
  }

  /// @pre no other thread counts
  __device__ std::uint64_t count_of(std::uint32_t bin) const {
    std::uint64_t sum = 0;
    for (std::uint32_t copy = 0; copy < kCopies; ++copy) sum += words[copy * bins + bin].load(Order::relaxed);
    return sum;
  }
};

/// A total that is a plain sum, or another result of `op`.
template <class R, class Op, class F>
struct ReducedTotal {
  using Value = R;
  R init;
  Op op;
  F function;

  __host__ __device__ Value none() const { return init; }
  template <class T>
  __device__ Value of(T* object) const {
    return static_cast<R>(function(object));
  }
  __device__ Value combined(const Value& a, const Value& b) const { return op(a, b); }
  void read(const Value& value, const std::uint64_t*, std::vector<LogValue>& cells) const {
    cells.push_back(log_value(value));
  }
};

/// Whether a total is a count, a whole number that is not negative. False for histograms, which have many counts.
template <class D>
inline constexpr bool is_count_v = false;
template <class R, class Op, class F>
inline constexpr bool is_count_v<ReducedTotal<R, Op, F>> = std::is_unsigned_v<R>;

/// Converts a function's result to V before it is added up, like the sum of a field.
template <class V, class F>
struct As {
  F function;
  template <class T>
  __device__ V operator()(T* object) const {
    static_assert(check_call<const F&, T*>());
    return static_cast<V>(function(object));
  }
};

struct One {
  template <class T>
  __device__ std::uint64_t operator()(T*) const {
    return 1;
  }
};

template <class T>
__host__ __device__ bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

/// The least or greatest value, as Op decides, if there are any values; NaN if one of them is NaN.
template <class V, class Op, class F>
struct ExtremeTotal {
  using Value = Found<V>;
  As<V, F> function;

  __host__ __device__ Value none() const { return {}; }
  template <class T>
  __device__ Value of(T* object) const {
    return {function(object), true};
  }
  __device__ Value combined(const Value& a, const Value& b) const {
    if (!a.any || (b.any && is_nan(b.value))) return b;
    if (!b.any || is_nan(a.value)) return a;
    return {Op{}(a.value, b.value), true};
  }
  void read(const Value& value, const std::uint64_t*, std::vector<LogValue>& cells) const {
    cells.push_back(value.any ? log_value(value.value) : LogValue());
  }
};

template <class V, class F>
struct MeanTotal {
  struct Value {
    std::uint64_t objects;
    sum_t<V> sum;
  };
  As<V, F> function;

  __host__ __device__ Value none() const { return {0, 0}; }
  template <class T>
  __device__ Value of(T* object) const {
    return {1, static_cast<sum_t<V>>(function(object))};
  }
  __device__ Value combined(const Value& a, const Value& b) const { return {a.objects + b.objects, a.sum + b.sum}; }
  void read(const Value& value, const std::uint64_t*, std::vector<LogValue>& cells) const {
    cells.push_back(value.objects == 0 ? LogValue()
                                       : static_cast<double>(value.sum) / static_cast<double>(value.objects));
  }
};

/// A sum of real numbers in multiples of a unit, which is exact and therefore independent of the order.
template <class V, class F>
struct FixedSumTotal {
  struct Value {
    std::int64_t units;
    std::uint64_t magnitude;  // sum of all absolute values in units, at most kMost: whether the sum fits into 64 bits
  };
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  As<V, F> function;
  double unit;

  __host__ __device__ Value none() const { return {0, 0}; }
  template <class T>
  __device__ Value of(T* object) const {
    const double units = rint(static_cast<double>(function(object)) / unit);
    const double magnitude = units < 0 ? -units : units;
    if (!(magnitude < static_cast<double>(kMost))) return {0, kMost};  // or NaN
    return {static_cast<std::int64_t>(units), static_cast<std::uint64_t>(magnitude)};
  }
  __device__ Value combined(const Value& a, const Value& b) const {
    const auto sum = static_cast<std::uint64_t>(a.units) + static_cast<std::uint64_t>(b.units);  // may wrap around
    const std::uint64_t magnitude = a.magnitude + b.magnitude;
    return {static_cast<std::int64_t>(sum), magnitude < kMost ? magnitude : kMost};
  }
  void read(const Value& value, const std::uint64_t*, std::vector<LogValue>& cells) const {
    cells.push_back(value.magnitude < kMost ? static_cast<double>(value.units) * unit
                                            : std::numeric_limits<double>::quiet_NaN());
  }
};

/// Counts objects in bins. The last bin includes its upper end. Objects in no bin are not counted.
template <class V, class F>
struct HistogramTotal {
  struct Value {};
  As<V, F> function;
  std::uint32_t bins = 0;
  std::uint32_t first = 0;  ///< of the class's bins
  LogBins all = {};
  const double* edges = nullptr;  ///< [bins + 1]

  __host__ __device__ Value none() const { return {}; }
  template <class T>
  __device__ Value of(T* object) const {
    const auto number = static_cast<double>(function(object));
    if (number >= edges[0] && number <= edges[bins]) all.count(first + bin_of(number), address(object));
    return {};
  }
  __device__ Value combined(const Value&, const Value&) const { return {}; }
  void read(const Value&, const std::uint64_t* counts, std::vector<LogValue>& cells) const {
    for (std::uint32_t i = 0; i < bins; ++i) cells.emplace_back(counts[first + i]);
  }

 private:
  template <class T>
  __device__ static std::uint64_t address(T* object) {
    return reinterpret_cast<std::uint64_t>(object);
  }
  /// @pre edges[0] <= number
  __device__ std::uint32_t bin_of(double number) const {
    std::uint32_t low = 0;
    std::uint32_t high = bins;  // the bin is one of [low, high)
    while (high - low > 1) {
      const std::uint32_t middle = (low + high) / 2;
      (edges[middle] <= number ? low : high) = middle;
    }
    return low;
  }
};
template <class D>
inline constexpr bool is_histogram_v = false;
template <class V, class F>
inline constexpr bool is_histogram_v<HistogramTotal<V, F>> = true;

/// Several totals of the same objects: the function object that a loop calls for each object.
template <class D, class... Ds>
struct Totals {
  D total;
  Totals<Ds...> others;

  struct Values {
    typename D::Value of_first;
    typename Totals<Ds...>::Values of_others;
  };
  __host__ __device__ Values none() const { return {total.none(), others.none()}; }
  template <class T>
  __device__ Values operator()(T* object) const {
    return {total.of(object), others(object)};
  }
  __device__ Values combined(const Values& a, const Values& b) const {
    return {total.combined(a.of_first, b.of_first), others.combined(a.of_others, b.of_others)};
  }
  void read(const Values& values, const std::uint64_t* counts, std::vector<LogValue>& cells) const {
    total.read(values.of_first, counts, cells);
    others.read(values.of_others, counts, cells);
  }
  template <class Function>
  void for_each(const Function& function) {
    function(total);
    others.for_each(function);
  }
};
template <class D>
struct Totals<D> {
  D total;

  struct Values {
    typename D::Value of_first;
  };
  __host__ __device__ Values none() const { return {total.none()}; }
  template <class T>
  __device__ Values operator()(T* object) const {
    return {total.of(object)};
  }
  __device__ Values combined(const Values& a, const Values& b) const {
    return {total.combined(a.of_first, b.of_first)};
  }
  void read(const Values& values, const std::uint64_t* counts, std::vector<LogValue>& cells) const {
    total.read(values.of_first, counts, cells);
  }
  template <class Function>
  void for_each(const Function& function) {
    function(total);
  }
};

template <class D>
Totals<D> all_totals(const D& total) {
  return {total};
}
template <class D, class... Ds>
requires(sizeof...(Ds) > 0) Totals<D, Ds...> all_totals(const D& total, const Ds&... others) {
  return {total, all_totals(others...)};
}

/// Combines the values of several totals.
template <class T>
struct CombineTotals {
  T totals;
  __device__ typename T::Values operator()(const typename T::Values& a, const typename T::Values& b) const {
    return totals.combined(a, b);
  }
};

}  // namespace dynasoar::detail
