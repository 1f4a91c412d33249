/// @file
/// StepLog: records named totals of objects, such as counts, sums and histograms, as a row for each step. The host does
/// not wait. See docs/how-to/step-log.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/log_rows.h>
#include <dynasoar/detail/logged_loop.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/sort.h>
#include <dynasoar/detail/totals.h>
#include <dynasoar/reduce.h>
#include <dynasoar/step_value.h>

namespace dynasoar {

namespace detail {

/// A total with the headings of its columns.
template <class D>
struct NamedTotal {
  std::vector<std::string> names;
  D total;
  std::vector<double> edges = {};  ///< of the bins of a histogram
};

/// The type of a field's value, or of what a method returns.
template <auto kMember>
using MemberValue = typename KeyValue<typename MethodClass<decltype(kMember)>::type,
                                      std::remove_cv_t<decltype(key_function<kMember>())>>::type;

template <class V>
constexpr bool check_total() {
  static_assert(std::is_arithmetic_v<V> && sizeof(V) <= sizeof(std::uint64_t),
                "dynasoar: the totals of a step log are of numbers of at most 64 bits: name a field of an arithmetic "
                "type, a method that returns one, or such a type and a callable: sum<double>(\"energy\", EnergyOf{})");
  return true;
}

}  // namespace detail

/// The arguments of StepLog::add. Name a field that is a number, or a method without parameters that returns one:
/// `sum<&Person::age_>("age")`. Or pass a type and a callable: `sum<double>("energy", EnergyOf{})`. The result of
/// `function(object)` is then converted to this type. Methods and callables must not change anything.
namespace totals {

/// The number of objects.
inline auto count(std::string name) {
  using Total = detail::ReducedTotal<std::uint64_t, Plus, detail::One>;
  return detail::NamedTotal<Total>{{std::move(name)}, {0, {}, {}}};
}

/// The number of objects for which `predicate(object)`, a field or a method is true.
template <class F>
auto count_if(std::string name, F predicate) {
  static_assert(detail::check_callable<F>());
  using Total = detail::ReducedTotal<std::uint64_t, Plus, detail::OneIf<F>>;
  return detail::NamedTotal<Total>{{std::move(name)}, {0, {}, {predicate}}};
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto count_if(std::string name) {
  return count_if(std::move(name), detail::key_function<kMember>());
}

/// The sum. Integers are added as 64-bit integers: the result is exact unless the sum has more than 64 bits. Other
/// numbers are added as double, in no particular order, so the last bits can differ from run to run.
template <class V, class F>
auto sum(std::string name, F function) {
  static_assert(detail::check_total<V>() && detail::check_callable<F>());
  using Total = detail::ReducedTotal<detail::sum_t<V>, Plus, detail::As<V, F>>;
  return detail::NamedTotal<Total>{{std::move(name)}, {0, {}, {function}}};
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto sum(std::string name) {
  return sum<detail::MemberValue<kMember>>(std::move(name), detail::key_function<kMember>());
}

/// The sum of real numbers, each of which is rounded to a multiple of `unit`. The sum of the rounded numbers is exact,
/// and therefore the same in each run and for any number of threads. It is NaN if a number is not finite, or if the
/// magnitudes add up to 2^62 units or more.
/// @throws Error if `unit` is not positive and finite
template <class V, class F>
auto fixed_point_sum(std::string name, double unit, F function) {
  static_assert(detail::check_total<V>() && detail::check_callable<F>());
  using Total = detail::FixedSumTotal<V, F>;
  const double checked = detail::checked_unit(name, unit);
  return detail::NamedTotal<Total>{{std::move(name)}, {{function}, checked}};
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto fixed_point_sum(std::string name, double unit) {
  return fixed_point_sum<detail::MemberValue<kMember>>(std::move(name), unit, detail::key_function<kMember>());
}

/// The mean, as double; no value if there are no objects. The sum is computed as for `sum`.
template <class V, class F>
auto mean(std::string name, F function) {
  static_assert(detail::check_total<V>() && detail::check_callable<F>());
  return detail::NamedTotal<detail::MeanTotal<V, F>>{{std::move(name)}, {{function}}};
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto mean(std::string name) {
  return mean<detail::MemberValue<kMember>>(std::move(name), detail::key_function<kMember>());
}

/// The least and the greatest value; no value if there are no objects, and NaN if one of the values is NaN.
template <class V, class F>
auto minimum(std::string name, F function) {
  static_assert(detail::check_total<V>() && detail::check_callable<F>());
  return detail::NamedTotal<detail::ExtremeTotal<V, Least, F>>{{std::move(name)}, {{function}}};
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto minimum(std::string name) {
  return minimum<detail::MemberValue<kMember>>(std::move(name), detail::key_function<kMember>());
}
template <class V, class F>
auto maximum(std::string name, F function) {
  static_assert(detail::check_total<V>() && detail::check_callable<F>());
  return detail::NamedTotal<detail::ExtremeTotal<V, Greatest, F>>{{std::move(name)}, {{function}}};
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto maximum(std::string name) {
  return maximum<detail::MemberValue<kMember>>(std::move(name), detail::key_function<kMember>());
}

/// The numbers of objects whose values, as double, are in the bins [edges[0], edges[1]), [edges[1], edges[2]) and so
/// on. The last bin includes its upper edge. Objects with other values, including NaN, are not counted. Each bin has a
/// column called NAME_LOW_HIGH, such as `age_0_10`.
/// @param edges   2 to 1025 finite numbers, each greater than the one before
/// @throws Error if the edges are anything else
/// @par Cost   2304 bytes of device memory for each bin, 2048 of them in rows, and an atomic addition for each object
template <class V, class F>
auto histogram(std::string name, std::vector<double> edges, F function) {
  static_assert(detail::check_total<V>() && detail::check_callable<F>());
  std::vector<std::string> names = detail::names_of_bins(name, edges);
  detail::HistogramTotal<V, F> total{{function}, static_cast<std::uint32_t>(edges.size() - 1)};
  return detail::NamedTotal<detail::HistogramTotal<V, F>>{std::move(names), total, std::move(edges)};
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto histogram(std::string name, std::vector<double> edges) {
  return histogram<detail::MemberValue<kMember>>(std::move(name), std::move(edges), detail::key_function<kMember>());
}

/// The same with bins of equal width from `low` to `high`: `histogram<&Person::age_>("age", 0, 100, 10)`.
template <class V, class F>
auto histogram(const std::string& name, double low, double high, std::size_t bins, F function) {
  return histogram<V>(name, detail::edges_of_bins(name, low, high, bins), function);
}
template <auto kMember>
requires detail::MemberPointer<decltype(kMember)>
auto histogram(const std::string& name, double low, double high, std::size_t bins) {
  return histogram<kMember>(name, detail::edges_of_bins(name, low, high, bins));
}

/// The result of AllocatorHandle::reduce with the same arguments: combines `function(object)` over all objects with
/// `op`: `reduce("energy", 0.0, dynasoar::Plus{}, EnergyOf{})`.
/// @param init   neutral to `op`
/// @tparam R     a number
template <class R, class Op, class F>
auto reduce(std::string name, R init, Op op, F function) {
  static_assert(detail::check_total<R>() && detail::check_given<F, Op>());
  using Total = detail::ReducedTotal<R, Op, detail::As<R, F>>;
  return detail::NamedTotal<Total>{{std::move(name)}, {init, op, {function}}};
}

}  // namespace totals

/// A table with a row of totals for each step. Rows stay in device memory, so the host does not wait for them. It waits
/// only when you ask for the rows, and when 256 rows may be there: then it copies them all to its own memory.
///
///     namespace totals = dynasoar::totals;
///     dynasoar::StepLog log(handle);
///     log.add<Person>(totals::count("people"), totals::count_if<&Person::is_ill>("ill"),
///                     totals::histogram<&Person::age_>("age", 0, 100, 10));
///     log.add<Town>(totals::maximum<&Town::size_>("largest town"));
///     auto step = handle.record([&] {
///       handle.parallel_do<&Person::live>();
///       log.record();
///     });
///     for (int i = 0; i < 1000; ++i) step();
///     log.write("run.csv");
///
/// @tparam AllocatorT   the allocator of the handle
/// @pre the handle outlives the log. No recorded step that records rows is called after the log has been destroyed
template <class AllocatorT>
class StepLog : public detail::LogRows {
 public:
  /// @throws Error if memory is short, or while a step is being recorded
  explicit StepLog(AllocatorHandle<AllocatorT>& handle)
      : LogRows(handle.executor(), handle.loops().attachments()), loops_(handle.loops()) {}

  /// Adds columns with these totals of all objects of T and its subclasses. One loop computes all of them.
  /// @throws Error if memory is short, rows have been recorded, or a name is empty, is used already or contains control
  ///         characters; nothing is added then
  /// @par Cost   for each row on a GPU, one kernel per class, however many totals there are, and a small kernel that
  ///             writes the totals
  template <class T, class... Ds>
  void add(const detail::NamedTotal<Ds>&... all) {
    static_assert(sizeof...(Ds) > 0, "dynasoar: add<Class>(totals::count(\"name\"), ...) needs at least one total");
    detail::check_listed_or_base<AllocatorT, T>();
    std::vector<std::string> names;
    std::vector<double> edges;
    (names.insert(names.end(), all.names.begin(), all.names.end()), ...);
    std::vector<bool> are_counts;
    (edges.insert(edges.end(), all.edges.begin(), all.edges.end()), ...);
    (are_counts.insert(are_counts.end(), all.names.size(), detail::is_count_v<Ds>), ...);
    check_may_add(names);
    using All = detail::Totals<Ds...>;
    using Loop = detail::LoggedLoop<AllocatorT, T, All>;
    auto loop = std::make_unique<Loop>(loops_, detail::all_totals(all.total...), edges, end_of_row());
    const std::size_t bytes = loop->bytes();
    LogRows::add(names, are_counts, std::move(loop), bytes);
  }

  /// Adds a row with the present totals. The number of its step is the number of rows before it. Submits loops, which
  /// may be recorded. Waits only if device memory may have no room for another row.
  /// @throws Error if there are no totals; otherwise as parallel_do
  void record() {
    submit_totals();
    executor().for_each_index(1, detail::CloseRow{target()});
  }

  /// The same, but the device reads the number of the step from `step`. Use it if the first row is not step 0, or if
  /// you do not record a row after each step.
  void record(StepNumber step) {
    submit_totals();
    executor().for_each_index(1, detail::CloseRowOfStep<StepNumber>{target(), step});
  }

 private:
  void submit_totals() {
    begin_row();
    const KeptLists kept = loops_.keep_lists(detail::class_set_v<AllocatorT, void>);
    for (const auto& part : parts()) part->submit(target());
  }

  detail::LoopRunner<AllocatorT>& loops_;
};

}  // namespace dynasoar
