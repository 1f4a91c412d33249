/// @file
/// measure: repeated, timed runs of submitted work; and what the benchmarks that use it have in common.
#pragma once

#include <cstddef>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/timer.h>

#include "report.h"

namespace benchmarks {

inline constexpr double kWarmUpSeconds = 0.05;  // the first ten passes over freshly mapped memory are 10 % slower

/// Seconds of `work()`, one value per repetition after warm-up; `prepare()` runs before each, not timed.
template <class Work, class Prepare>
std::vector<double> measure(dynasoar::Executor& executor, const Settings& settings, Work work, Prepare prepare) {
  dynasoar::Timer timer(executor);
  const auto run = [&] {
    prepare();
    executor.synchronize();
    timer.start();
    work();
    timer.stop();
    return timer.seconds();
  };
  const double least = settings.small ? 0 : kWarmUpSeconds;
  double warm = 0;
  for (int i = 0; i < settings.warm_up || warm < least; ++i) warm += run();
  std::vector<double> seconds(static_cast<std::size_t>(settings.repetitions));
  for (double& time : seconds) time = run();
  executor.synchronize();
  return seconds;
}

/// `amount / seconds * scale` for each value: seconds to rates.
inline std::vector<double> rates(std::vector<double> seconds, double amount, double scale) {
  for (double& value : seconds) value = amount / value * scale;
  return seconds;
}

/// `seconds / amount * scale` for each value: seconds to times of one of many.
inline std::vector<double> shares(std::vector<double> seconds, double amount, double scale) {
  for (double& value : seconds) value = value / amount * scale;
  return seconds;
}

/// Bytes of a heap for so many objects of T, with room for blocks that are not full.
template <class T>
std::size_t heap_bytes_with_room(std::size_t objects) {
  return T::Allocator::template heap_bytes_for<T>(objects) / 16 * 17 + 64 * (std::size_t{1} << 20);
}

/// An array for a hand-written kernel, set to zero.
template <class T>
dynasoar::DeviceArray<T> zeros(std::size_t count) {
  dynasoar::DeviceArray<T> array(count);
  array.fill_bytes(0);
  return array;
}

}  // namespace benchmarks
