/// @file
/// measure: repeated, timed runs of submitted work.
#pragma once

#include <cstddef>
#include <vector>

#include <dynasoar/platform/executor.h>
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
  double warm = 0;
  for (int i = 0; i < settings.warm_up || warm < kWarmUpSeconds; ++i) warm += run();
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

}  // namespace benchmarks
