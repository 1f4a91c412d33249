/// @file
/// How fast threads work on memory that each of them has taken, over its size: who takes memory for the threads of a
/// warp or block in one piece makes their accesses coalesce.
///
/// Source: Blach et al., "Coalescing Memory Allocations for GPU MPI", section 4.1, figures 1 to 4: the linear and the
/// quadratic workload of listing 2, on 100 to 400 floats. What differs: 2^16 threads, not 12 blocks of 1024, as an H200
/// is larger; and taking, working and giving back are launches, timed as a whole, so that no thread works while another
/// one still takes memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../../measure.h"
#include "../suite.h"
#include "series.h"

namespace benchmarks::allocators {
namespace coalesced_work {

/// The floats of all threads.
struct Arrays {
  float** data;  // [threads], null for those whose request was refused
  std::uint32_t length;
};

template <class M>
struct Take {
  M memory;
  Arrays arrays;
  __device__ void operator()(std::size_t i) const {
    arrays.data[i] = static_cast<float*>(memory.malloc(arrays.length * sizeof(float)));
  }
};

template <class M>
struct Give {
  M memory;
  Arrays arrays;
  __device__ void operator()(std::size_t i) const { memory.free(arrays.data[i]); }
};

struct Initialize {
  Arrays arrays;
  __device__ void operator()(std::size_t thread) const {
    float* const data = arrays.data[thread];
    if (data == nullptr) return;
    for (std::uint32_t i = 0; i < arrays.length; ++i) data[i] = static_cast<float>(i);
  }
};

/// Adds up all floats.
struct Linear {
  static constexpr const char* kName = "linear_work";
  static double operations(double length) { return length; }

  Arrays arrays;
  __device__ void operator()(std::size_t thread) const {
    float* const data = arrays.data[thread];
    if (data == nullptr) return;
    float sum = 0;
    for (std::uint32_t i = 0; i < arrays.length; ++i) sum += data[i];
    data[0] = sum;
  }
};

/// Adds up the products of all pairs of floats.
struct Quadratic {
  static constexpr const char* kName = "quadratic_work";
  static double operations(double length) { return 2 * length * length; }

  Arrays arrays;
  __device__ void operator()(std::size_t thread) const {
    float* const data = arrays.data[thread];
    if (data == nullptr) return;
    float sum = 0;
    for (std::uint32_t i = 0; i < arrays.length; ++i) {
      for (std::uint32_t j = 0; j < arrays.length; ++j) sum += data[i] * data[j];
    }
    data[0] = sum;
  }
};

/// What is counted on the device.
enum Counts { kRefused, kWrong, kAllCounts };
using Counter = dynasoar::AtomicWord<std::uint32_t>;

/// Looks at what a workload has left: its result in front, and the rest as it was.
struct Check {
  Arrays arrays;
  float result;
  Counter* counts;  // [kAllCounts]
  __device__ void operator()(std::size_t thread) const {
    const float* const data = arrays.data[thread];
    if (data == nullptr) {
      counts[kRefused].fetch_add(1, dynasoar::Order::relaxed);
      return;
    }
    const float difference = data[0] - result;
    const float tolerance = result * 1e-3f;  // of the order in which floats are added
    bool wrong = difference > tolerance || difference < -tolerance;
    for (std::uint32_t i = 1; i < arrays.length; ++i) wrong |= data[i] != static_cast<float>(i);
    if (wrong) counts[kWrong].fetch_add(1, dynasoar::Order::relaxed);
  }
};

/// Seconds, one value for each repetition.
struct Times {
  std::vector<double> taking, working, giving;
  double refused = 0;  ///< share of the threads
  double longest = 0;
};

template <class M, class Work>
class Bench {
 public:
  Bench(std::size_t heap_bytes, std::size_t threads, std::uint32_t length)
      : storage_(executor_, {heap_bytes, length * sizeof(float)}), data_(threads), arrays_{data_.data(), length} {}

  /// One turn. @throws std::runtime_error if a thread's result is wrong
  void run(Times& times) {
    times.taking.push_back(seconds_of_each(Take<M>{storage_.view(), arrays_}));
    executor_.for_each_index(data_.size(), Initialize{arrays_});
    times.working.push_back(seconds_of_each(Work{arrays_}));
    times.refused = check();
    times.giving.push_back(seconds_of_each(Give<M>{storage_.view(), arrays_}));
    times.longest = std::max({times.longest, times.taking.back(), times.working.back(), times.giving.back()});
  }

 private:
  /// @return the share of the threads that got no memory
  double check() {
    const double sum = 0.5 * arrays_.length * (arrays_.length - 1.0);
    const double result = Work::operations(1) == 1 ? sum : sum * sum;
    dynasoar::DeviceArray<std::uint32_t> counts(kAllCounts);
    counts.fill_bytes(0);
    executor_.for_each_index(data_.size(),
                             Check{arrays_, static_cast<float>(result), reinterpret_cast<Counter*>(counts.data())});
    executor_.synchronize();
    const std::vector<std::uint32_t> values = counts.download();
    if (values[kWrong] > 0) throw std::runtime_error(std::to_string(values[kWrong]) + " threads have wrong results");
    return values[kRefused] / static_cast<double>(data_.size());
  }

  template <class F>
  double seconds_of_each(const F& function) {
    return seconds_of(executor_, [&] { executor_.for_each_index(data_.size(), function); });
  }

  dynasoar::Executor executor_;
  typename M::Storage storage_;
  dynasoar::DeviceArray<float*> data_;
  Arrays arrays_;
};

/// @return the longest launch's seconds
template <class M, class Work>
double measure(const Context& context, std::uint32_t length) {
  const std::size_t threads = context.pick(1 << 16, 1 << 8);  // whole blocks
  Bench<M, Work> bench(heap_bytes(context), threads, length);
  Times warm_up, times;
  bench.run(warm_up);
  for (int i = 0; i < (warm_up.longest > kLongestRun ? 1 : context.repetitions); ++i) bench.run(times);
  const auto add = [&](const char* metric, const char* unit, std::vector<double> values) {
    context.add({Work::kName,
                 M::kProperties.name,
                 {{"threads", static_cast<std::int64_t>(threads)}, {"floats", std::int64_t{length}}},
                 metric,
                 unit,
                 std::move(values)});
  };
  const auto amount = static_cast<double>(threads);
  add("work", "Gflop/s", rates(times.working, amount * Work::operations(length), 1e-9));
  add("allocations", "G/s", rates(times.taking, amount, 1e-9));
  add("frees", "G/s", rates(times.giving, amount, 1e-9));
  if (times.refused > 0) add("refused", "%", {100 * times.refused});
  return std::max(warm_up.longest, times.longest);
}

template <class M, class Work>
void measure_lengths(const Context& context) {
  for (const std::uint32_t length : context.pick<std::vector<std::uint32_t>>({100, 200, 400}, {25, 50})) {
    if (measure<M, Work>(context, length) > kLongestRun) return;
  }
}

}  // namespace coalesced_work

template <class M>
void add_coalesced_work(std::vector<Case>& cases) {
  if constexpr (M::kProperties.frees && !HasPages<M>) {
    using namespace coalesced_work;
    cases.push_back({Linear::kName, M::kProperties.name, &measure_lengths<M, Linear>});
    cases.push_back({Quadratic::kName, M::kProperties.name, &measure_lengths<M, Quadratic>});
  }
}

}  // namespace benchmarks::allocators
