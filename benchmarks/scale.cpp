// Time per object, from ten thousand objects to two billion: a loop that reads four fields and writes two of objects of
// 32 bytes, the same in hand-written code, and the creation of the objects.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace scale {

constexpr float kDt = 0.1f;

class Body;
using AllocatorT = dynasoar::SoaAllocator<Body>;
class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (x_, float), (y_, float), (vx_, float), (vy_, float), (mass_, float), (charge_, float),
                  (radius_, float), (number_, std::uint32_t));
  __device__ explicit Body(std::size_t i)
      : x_(0), y_(0), vx_(1), vy_(2), mass_(1), charge_(0), radius_(1), number_(static_cast<std::uint32_t>(i)) {}
  __device__ void move(float dt) {
    x_ += vx_ * dt;
    y_ += vy_ * dt;
  }
  __device__ void die() { dynasoar::destroy(this); }
};

struct HandMove {
  float *x, *y, *vx, *vy;
  __device__ void operator()(std::size_t i) const {
    x[i] += vx[i] * kDt;
    y[i] += vy[i] * kDt;
  }
};

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings) : report_(report), settings_(settings) {}

  /// Whether the device has memory for so many objects; what lies beside the heap takes less than a twentieth of it.
  static bool has_memory_for(std::size_t count) {
    return heap_bytes_with_room<Body>(count) / 20 * 21 <= free_memory_bytes();
  }

  void run(std::size_t count) {
    objects(count);
    by_hand(count);
  }

 private:
  // Loops that are timed together, because a short one takes less than the clock can tell, and than a launch.
  static int repeated(std::size_t count) { return count < 100'000'000 ? 20 : 1; }

  void add(const char* variant, std::size_t count, int times, const std::vector<double>& seconds) {
    report_.add({"scale",
                 variant,
                 {{"objects", static_cast<std::int64_t>(count)}},
                 "time per object",
                 "ps",
                 shares(seconds, static_cast<double>(count) * times, 1e12)});
  }

  void objects(std::size_t count) {
    dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = heap_bytes_with_room<Body>(count)});
    bool alive = false;
    add("create", count, 1,
        measure(
            handle.executor(), settings_, [&] { handle.parallel_new<Body>(count); },
            [&] {
              if (alive) handle.parallel_do<&Body::die>();
              alive = true;
            }));
    handle.synchronize();
    add("objects", count, repeated(count),
        measure(
            handle.executor(), settings_,
            [&] {
              for (int i = 0; i < repeated(count); ++i) handle.parallel_do<&Body::move>(kDt);
            },
            [] {}));
  }

  void by_hand(std::size_t count) {
    dynasoar::Executor executor;
    const auto x = zeros<float>(count), y = zeros<float>(count), vx = zeros<float>(count), vy = zeros<float>(count);
    const HandMove move{x.data(), y.data(), vx.data(), vy.data()};
    add("by hand", count, repeated(count),
        measure(
            executor, settings_,
            [&] {
              for (int i = 0; i < repeated(count); ++i) executor.for_each_index(count, move);
            },
            [] {}));
  }

  Report& report_;
  const Settings& settings_;
};

}  // namespace scale

void run_scale(Report& report, const Settings& settings) {
  scale::Benchmark benchmark(report, settings);
  const std::size_t most = settings.small ? 100'000 : 2'000'000'000;
  for (std::size_t power = 10'000; power <= most; power *= 10) {
    for (const std::size_t count : {power, power * 2, power * 5}) {
      if (count > most) return;
      if (!scale::Benchmark::has_memory_for(count)) {
        std::cout << "scale: ends here, because there is no memory for " << count << " objects\n";
        return;
      }
      benchmark.run(count);
    }
  }
}

}  // namespace benchmarks
