// What a parallel loop costs by itself: loops over a class without objects, one after the other without waiting.
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
};

}  // namespace empty_loop

void run_empty_loop(Report& report, const Settings& settings) {
  constexpr int kLoops = 1000;
  dynasoar::AllocatorHandle<empty_loop::AllocatorT> handle({.heap_bytes = std::size_t{1} << 30});
  const std::vector<double> seconds = measure(
      handle.executor(), settings,
      [&] {
        for (int i = 0; i < kLoops; ++i) handle.parallel_do<&empty_loop::Nothing::touch>();
      },
      [] {});
  std::vector<double> microseconds = seconds;
  for (double& value : microseconds) value *= 1e6 / kLoops;
  report.add({"empty_loop", "parallel_do", {{"loops", kLoops}}, "time per loop", "us", microseconds});
}

}  // namespace benchmarks
