// Loops over objects on a CPU, against OpenMP loops over plain arrays as in the STREAM benchmark; and how creating and
// deleting objects scale with threads. The two loops of a comparison take turns, so that a busy machine slows both.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "loop_models.h"
#include "measure.h"
#include "report.h"

namespace benchmarks {

#if DYNASOAR_CUDA_BACKEND

void run_host_loop(Report&, const Settings&) {
  std::puts("host_loop: not measured, this is a CUDA build");
}
void run_host_threads(Report&, const Settings&) {
  std::puts("host_threads: not measured, this is a CUDA build");
}

#else

namespace host_loop {

using namespace loop_models;

/// function(i) for 0 <= i < count, divided evenly between the threads.
template <class F>
void plain_loop(std::size_t count, const F function) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i) function(i);
}

class Comparison {
 public:
  Comparison(Report& report, const Settings& settings, std::size_t objects)
      : report_(report), settings_(settings), objects_(objects) {}

  /// @param bytes   that the loop has to read and write for each object
  template <class Objects, class Hand>
  void run(const std::string& name, double bytes, Objects objects, Hand by_hand) {
    std::vector<double> seconds[2], ratio;
    for (int i = -settings_.warm_up; i < settings_.repetitions; ++i) {
      const double of_objects = time([&] { objects(); });
      const double of_hand = time([&] { plain_loop(objects_, by_hand); });
      if (i < 0) continue;
      seconds[0].push_back(of_objects);
      seconds[1].push_back(of_hand);
      ratio.push_back(of_hand / of_objects);
    }
    const double gigabytes = static_cast<double>(objects_) * bytes * 1e-9;
    add(name + " objects", "useful bandwidth", "GB/s", rates(seconds[0], gigabytes, 1));
    add(name + " by hand", "useful bandwidth", "GB/s", rates(seconds[1], gigabytes, 1));
    add(name + " objects", "times as fast as by hand", "", ratio);
  }

 private:
  template <class Work>
  double time(Work work) {
    timer_.start();
    work();
    timer_.stop();
    return timer_.seconds();
  }

  void add(const std::string& variant, const char* metric, const char* unit, const std::vector<double>& values) {
    report_.add({"host_loop",
                 variant,
                 {{"objects", static_cast<std::int64_t>(objects_)}, {"threads", executor_.threads()}},
                 metric,
                 unit,
                 values});
  }

  Report& report_;
  const Settings& settings_;
  std::size_t objects_;
  dynasoar::Executor executor_;
  dynasoar::Timer timer_{executor_};
};

/// Objects of T, and nothing else, on a heap of their own.
template <class T>
struct Objects {
  explicit Objects(std::size_t count) : handle({.heap_bytes = heap_bytes_with_room<T>(count)}) {
    handle.template parallel_new<T>(count);
    handle.synchronize();
  }
  auto loop() {
    return [this] { handle.template parallel_do<&T::move>(kDt); };
  }
  dynasoar::AllocatorHandle<typename T::Allocator> handle;
};

void loops(Report& report, const Settings& settings, std::size_t count) {
  Comparison comparison(report, settings, count);
  const auto floats = [count] { return zeros<float>(count); };
  {
    Objects<One> objects(count);
    const auto x = floats();
    comparison.run("1 float", kOneBytes, objects.loop(), HandOne{x.data()});
  }
  {
    Objects<Three> objects(count);
    const auto x = floats(), vx = floats(), ax = floats();
    comparison.run("3 floats", kThreeBytes, objects.loop(), HandThree{x.data(), vx.data(), ax.data()});
  }
  {
    Objects<Eight> objects(count);
    const auto x = floats(), y = floats(), z = floats(), w = floats();
    const auto vx = floats(), vy = floats(), vz = floats(), vw = floats();
    comparison.run("8 floats", kEightBytes, objects.loop(),
                   HandEight{x.data(), y.data(), z.data(), w.data(), vx.data(), vy.data(), vz.data(), vw.data()});
  }
  {
    Objects<Mixed> objects(count);
    const auto x = floats(), vx = floats();
    const auto energy = zeros<double>(count), power = zeros<double>(count);
    const auto flags = zeros<std::uint8_t>(count);
    comparison.run("1, 4 and 8 bytes", kMixedBytes, objects.loop(),
                   HandMixed{x.data(), energy.data(), flags.data(), vx.data(), power.data()});
  }
}

// ---- Threads

struct Create {
  One** objects;
  __device__ void operator()(std::size_t i) const { objects[i] = dynasoar::make_new<One>(i); }
};
struct Delete {
  One** objects;
  __device__ void operator()(std::size_t i) const { dynasoar::destroy(objects[i]); }
};

void threads(Report& report, const Settings& settings, std::size_t count) {
  const int most = dynasoar::Executor().threads();
  std::vector<int> teams;
  for (int team = 1; team < most; team *= 2) teams.push_back(team);
  teams.push_back(most);
  const dynasoar::DeviceArray<One*> objects(count);
  for (const int team : teams) {
    dynasoar::AllocatorHandle<CountsAllocator> handle(
        {.heap_bytes = heap_bytes_with_room<One>(count), .threads = team});
    bool alive = false;
    const auto create = [&] { handle.parallel_for(count, Create{objects.data()}); };
    const auto erase = [&] { handle.parallel_for(count, Delete{objects.data()}); };
    const auto add = [&](const char* variant, const std::vector<double>& seconds) {
      report.add({"host_threads",
                  variant,
                  {{"objects", static_cast<std::int64_t>(count)}, {"threads", team}},
                  "rate",
                  "M/s",
                  rates(seconds, static_cast<double>(count), 1e-6)});
    };
    add("create", measure(handle.executor(), settings, create, [&] {
          if (alive) erase();
          alive = true;
        }));
    add("delete", measure(handle.executor(), settings, erase, [&] {
          if (!alive) create();
          alive = false;
        }));
  }
}

}  // namespace host_loop

void run_host_loop(Report& report, const Settings& settings) {
  host_loop::loops(report, settings, std::size_t{1} << (settings.small ? 20 : 26));
}

void run_host_threads(Report& report, const Settings& settings) {
  host_loop::threads(report, settings, std::size_t{1} << (settings.small ? 18 : 23));
}

#endif

}  // namespace benchmarks
