// What a parallel loop costs by itself: loops over a class without objects, one after the other without waiting; with
// lists of objects made for each or kept, and submitted one by one or as recorded steps of 20, whose argument may be a
// StepValue that the step itself or the host changes.
#include <cstddef>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace empty_loop {

class Nothing;
using AllocatorT = dynasoar::SoaAllocator<Nothing>;
class Nothing : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Nothing, (value_, float));
  __device__ void touch() { value_ = 1.0f; }
  __device__ void set(float value) { value_ = value; }
};

}  // namespace empty_loop

void run_empty_loop(Report& report, const Settings& settings) {
  constexpr int kLoops = 1000;
  constexpr int kLoopsOfStep = 20;
  dynasoar::AllocatorHandle<empty_loop::AllocatorT> handle({.heap_bytes = std::size_t{1} << 30});
  const auto add = [&](const char* variant, auto&& run) {
    std::vector<double> microseconds = measure(handle.executor(), settings, run, [] {});
    for (double& value : microseconds) value *= 1e6 / kLoops;
    report.add({"empty_loop", variant, {{"loops", kLoops}}, "time per loop", "us", microseconds});
  };
  const auto loops = [&](int count) {
    for (int i = 0; i < count; ++i) handle.parallel_do<&empty_loop::Nothing::touch>();
  };
  const auto loops_with_one_list = [&](int count) {
    const auto kept = handle.keep_lists();
    loops(count);
  };
  auto step = handle.record([&] { loops(kLoopsOfStep); });
  auto step_with_one_list = handle.record([&] { loops_with_one_list(kLoopsOfStep); });
  dynasoar::StepValue<float> value(handle.executor(), 0);
  const auto loops_with_value = [&] {
    for (int i = 0; i < kLoopsOfStep; ++i) handle.parallel_do<&empty_loop::Nothing::set>(value.view());
  };
  auto step_with_value = handle.record([&] {
    loops_with_value();
    value.add(1);
  });
  auto step_with_value_of_host = handle.record([&] { loops_with_value(); });
  add("parallel_do", [&] { loops(kLoops); });
  add("parallel_do, lists kept", [&] { loops_with_one_list(kLoops); });
  add("parallel_do, recorded", [&] {
    for (int i = 0; i < kLoops / kLoopsOfStep; ++i) step();
  });
  add("parallel_do, recorded, with a number of the step", [&] {
    for (int i = 0; i < kLoops / kLoopsOfStep; ++i) step_with_value();
  });
  add("parallel_do, recorded, with a value that the host sets", [&] {
    for (int i = 0; i < kLoops / kLoopsOfStep; ++i) {
      value.set(static_cast<float>(i));
      step_with_value_of_host();
    }
  });
  add("parallel_do, recorded, lists kept", [&] {
    for (int i = 0; i < kLoops / kLoopsOfStep; ++i) step_with_one_list();
  });
}

}  // namespace benchmarks
