/// @file
/// measure: repeated, timed runs of submitted work.
#pragma once

#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/timer.h>

#include "report.h"

namespace benchmarks {

/// Seconds of `work()`, one value per repetition after warm-up; `prepare()` runs before each, not timed.
template <class Work, class Prepare>
std::vector<double> measure(dynasoar::Executor& executor, const Settings& settings, Work work, Prepare prepare) {
  dynasoar::Timer timer(executor);
  std::vector<double> seconds;
  for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
    prepare();
    executor.synchronize();
    timer.start();
    work();
    timer.stop();
    if (i >= settings.warm_up) seconds.push_back(timer.seconds());
  }
  executor.synchronize();
  return seconds;
}

/// `amount / seconds * scale` for each value: seconds to rates.
inline std::vector<double> rates(std::vector<double> seconds, double amount, double scale) {
  for (double& value : seconds) value = amount / value * scale;
  return seconds;
}

}  // namespace benchmarks
