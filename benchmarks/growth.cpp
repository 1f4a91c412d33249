// What it costs that a heap can grow: loops over a class without objects, in a heap of fixed size and in one that is
// watched, one after the other without waiting and with waiting; and growth itself.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace growth {

class Object;
using AllocatorT = dynasoar::SoaAllocator<Object>;
class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Object, (a_, float), (b_, float), (c_, float), (d_, float), (e_, float), (f_, float), (g_, float),
                  (h_, float));
  __device__ explicit Object(std::size_t) {}
  __device__ void touch() { a_ = 1.0f; }
};
using Handle = dynasoar::AllocatorHandle<AllocatorT>;

constexpr std::size_t kGiB = std::size_t{1} << 30;

void measure_loops(Report& report, const Settings& settings, const char* heap, const dynasoar::HandleOptions& options) {
  constexpr int kLoops = 1000;
  constexpr int kLoopsOfStep = 20;
  Handle handle(options);
  const auto add = [&](const char* variant, auto&& run) {
    std::vector<double> microseconds = measure(handle.executor(), settings, run, [] {});
    for (double& value : microseconds) value *= 1e6 / kLoops;
    report.add(
        {"growth", std::string(variant) + ", " + heap, {{"loops", kLoops}}, "time per loop", "us", microseconds});
  };
  const auto loops = [&](int count) {
    for (int i = 0; i < count; ++i) handle.parallel_do<&Object::touch>();
  };
  auto step = handle.record([&] { loops(kLoopsOfStep); });
  add("parallel_do", [&] { loops(kLoops); });
  add("parallel_do and synchronize", [&] {
    for (int i = 0; i < kLoops; ++i) {
      loops(1);
      handle.synchronize();
    }
  });
  add("parallel_do, recorded", [&] {
    for (int i = 0; i < kLoops / kLoopsOfStep; ++i) step();
  });
}

/// Creates objects in a new heap. @return seconds, without those for making the handle
double create(std::size_t objects, const dynasoar::HandleOptions& options) {
  Handle handle(options);
  const auto start = std::chrono::steady_clock::now();
  handle.parallel_new<Object>(objects);
  handle.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Grows a new heap. @return seconds, until the device can use it
double grow(std::size_t bytes, std::size_t limit) {
  Handle handle({.heap_bytes = 64 * AllocatorT::pages().bytes, .heap_limit_bytes = limit});
  const auto start = std::chrono::steady_clock::now();
  handle.reserve<Object>(bytes / sizeof(float) / 8 / 9 * 8);
  handle.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace growth

void run_growth(Report& report, const Settings& settings) {
  using growth::kGiB;
  growth::measure_loops(report, settings, "heap of 1 GiB", {.heap_bytes = kGiB});
  growth::measure_loops(report, settings, "heap of 1 GiB that can grow",
                        {.heap_bytes = kGiB, .heap_limit_bytes = 2 * kGiB});
  const std::size_t objects = std::size_t{1} << (settings.small ? 20 : 25);
  const auto created = static_cast<std::int64_t>(objects);
  const std::size_t enough = growth::AllocatorT::heap_bytes_for<growth::Object>(2 * objects);
  const auto repeat = [&](auto&& run) {
    std::vector<double> seconds;
    run();
    for (int i = 0; i < settings.repetitions; ++i) seconds.push_back(run());
    return seconds;
  };
  report.add({"growth",
              "create, heap with room",
              {{"objects", created}},
              "rate",
              "G/s",
              rates(repeat([&] { return growth::create(objects, {.heap_bytes = enough}); }),
                    static_cast<double>(objects), 1e-9)});
  report.add({"growth",
              "create, heap grows",
              {{"objects", created}},
              "rate",
              "G/s",
              rates(repeat([&] {
                      return growth::create(objects, {.heap_bytes = std::size_t{1} << 20, .heap_limit_bytes = enough});
                    }),
                    static_cast<double>(objects), 1e-9)});
  for (const std::size_t gibibytes :
       settings.small ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 8, 32}) {
    report.add({"growth",
                "reserve",
                {{"GiB", static_cast<std::int64_t>(gibibytes)}},
                "rate",
                "GiB/s",
                rates(repeat([&] { return growth::grow(gibibytes * kGiB, 2 * gibibytes * kGiB); }),
                      static_cast<double>(gibibytes), 1)});
  }
}

}  // namespace benchmarks
