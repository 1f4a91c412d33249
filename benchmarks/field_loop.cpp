// How fast loops read and write fields, against hand-written kernels over plain arrays, in useful bytes per second:
// the bytes that the computation has to read and write, whatever else is moved.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "loop_models.h"
#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace field_loop {

using namespace loop_models;

class Comparison {
 public:
  Comparison(Report& report, const Settings& settings, const char* name, std::size_t objects, double bytes_per_object)
      : report_(report), settings_(settings), name_(name), objects_(objects), bytes_(bytes_per_object) {}

  template <class Work>
  void run(dynasoar::Executor& executor, const char* how, Work work) {
    const std::vector<double> seconds = measure(executor, settings_, work, [] {});
    report_.add({"field_loop",
                 std::string(name_) + " " + how,
                 {{"objects", static_cast<std::int64_t>(objects_)}},
                 "useful bandwidth",
                 "TB/s",
                 rates(seconds, static_cast<double>(objects_) * bytes_, 1e-12)});
  }

 private:
  Report& report_;
  const Settings& settings_;
  const char* name_;
  std::size_t objects_;
  double bytes_;
};

/// A heap with so many objects of T and no others.
template <class T>
class Objects {
 public:
  explicit Objects(std::size_t count) : handle_({.heap_bytes = heap_bytes_with_room<T>(count)}) {
    handle_.template parallel_new<T>(count);
    handle_.synchronize();
  }

  template <auto kMethod>
  void compare(Comparison& comparison, const char* how) {
    comparison.run(handle_.executor(), how, [&] { handle_.template parallel_do<kMethod>(kDt); });
  }

 private:
  dynasoar::AllocatorHandle<typename T::Allocator> handle_;
};

void one_field(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "1 float", objects, kOneBytes);
  Objects<One>(objects).compare<&One::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects);
  const HandOne move{x.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
}

void three_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "3 floats", objects, kThreeBytes);
  Objects<Three>(objects).compare<&Three::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), vx = zeros<float>(objects), ax = zeros<float>(objects);
  const HandThree move{x.data(), vx.data(), ax.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
}

void eight_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "8 floats", objects, kEightBytes);
  Objects<Eight>(objects).compare<&Eight::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), y = zeros<float>(objects), z = zeros<float>(objects), w = zeros<float>(objects);
  const auto vx = zeros<float>(objects), vy = zeros<float>(objects), vz = zeros<float>(objects),
             vw = zeros<float>(objects);
  const HandEight move{x.data(), y.data(), z.data(), w.data(), vx.data(), vy.data(), vz.data(), vw.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
}

void seven_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "7 floats", objects, kMoveBytes);
  Objects<Body>(objects).compare<&Body::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), y = zeros<float>(objects), vx = zeros<float>(objects),
             vy = zeros<float>(objects);
  const HandMove move{x.data(), y.data(), vx.data(), vy.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
  const HandMoveLoadsFirst loads_first{x.data(), y.data(), vx.data(), vy.data()};
  comparison.run(executor, "by hand, loads first", [&] { executor.for_each_index(objects, loads_first); });
}

void mixed_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "1, 4 and 8 bytes", objects, kMixedBytes);
  {
    Objects<Mixed> mixed(objects);
    mixed.compare<&Mixed::move>(comparison, "objects");
    mixed.compare<&Mixed::move_loads_first>(comparison, "objects, loads first");
  }
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), vx = zeros<float>(objects);
  const auto energy = zeros<double>(objects), power = zeros<double>(objects);
  const auto flags = zeros<std::uint8_t>(objects);
  const HandMixed move{x.data(), energy.data(), flags.data(), vx.data(), power.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
  comparison.run(executor, "by hand, loads first",
                 [&] { executor.for_each_index(objects, HandMixedLoadsFirst{move}); });
}

void family(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "base class", objects, kMoveBytes);
  const std::size_t half = objects / 2;
  {
    dynasoar::AllocatorHandle<FamilyAllocator> handle(
        {.heap_bytes =
             (FamilyAllocator::heap_bytes_for<Small>(half) + FamilyAllocator::heap_bytes_for<Large>(half)) / 16 * 17 +
             128 * (std::size_t{1} << 20)});
    handle.parallel_new<Small>(half);
    handle.parallel_new<Large>(half);
    handle.synchronize();
    comparison.run(handle.executor(), "objects", [&] { handle.parallel_do<Base, &Base::move>(kDt); });
  }
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), y = zeros<float>(objects), vx = zeros<float>(objects),
             vy = zeros<float>(objects);
  comparison.run(executor, "by hand", [&] {
    for (const std::size_t first : {std::size_t{0}, half}) {
      executor.for_each_index(half, HandMove{x.data() + first, y.data() + first, vx.data() + first, vy.data() + first});
    }
  });
}

}  // namespace field_loop

void run_field_loop(Report& report, const Settings& settings) {
  const std::size_t objects = std::size_t{1} << (settings.small ? 20 : 27);
  field_loop::one_field(report, settings, objects);
  field_loop::three_fields(report, settings, objects);
  field_loop::eight_fields(report, settings, objects);
  field_loop::seven_fields(report, settings, objects);
  field_loop::mixed_fields(report, settings, objects);
  field_loop::family(report, settings, objects);
}

}  // namespace benchmarks
