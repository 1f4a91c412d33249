// Births and deaths in waves, round after round in one heap: how long a round takes, and how full blocks are in the
// end.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "random_numbers.h"
#include "report.h"

namespace benchmarks {
namespace waves {

class Object;
using AllocatorT = dynasoar::SoaAllocator<Object>;
class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Object, (a_, float), (b_, float), (c_, float), (d_, float), (e_, float), (f_, float), (g_, float),
                  (number_, std::uint32_t));
  __device__ Object(std::size_t i, std::uint32_t round) : number_(hashed(i, round)) {}
  __device__ Object(std::uint32_t child, std::uint32_t parent, std::uint32_t round)
      : number_(hashed(std::uint64_t{parent} << 32 | round, child)) {}

  /// Deletes the given share of the objects, others in each round.
  __device__ void die(std::uint32_t per_thousand, std::uint32_t round) {
    if (happens(per_thousand, number_, round)) dynasoar::destroy(this);
  }
  __device__ void multiply(std::uint32_t children, std::uint32_t round) {
    dynasoar::make_new_n<Object>(children, number_.get(), round);
  }
};

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings)
      : report_(report), settings_(settings), least_(std::size_t{1} << (settings.small ? 12 : 20)) {}

  /// A part of the objects dies, and as many are born.
  void turnover(std::uint32_t percent) {
    const std::size_t objects = 4 * least_;
    run(std::to_string(percent) + " % die, as many are born", objects, [&](auto& handle, std::uint32_t round) {
      handle.template parallel_do<&Object::die>(10 * percent, round);
      handle.template parallel_new<Object>(objects / 100 * percent, round);
    });
  }

  /// The population becomes four times as large, then as small as before.
  void growth_and_collapse() {
    run("x 4, then / 4", least_, [](auto& handle, std::uint32_t round) {
      handle.template parallel_do<&Object::multiply>(3u, round);
      handle.template parallel_do<&Object::die>(750u, round);
    });
  }

 private:
  static constexpr std::uint32_t kRounds = 16;  // of a run

  template <class Round>
  void run(const std::string& variant, std::size_t objects, Round do_round) {
    dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = heap_bytes_with_room<Object>(16 * least_)});
    handle.parallel_new<Object>(objects, std::uint32_t{0});
    std::uint32_t round = 0;
    std::vector<double> seconds = measure(
        handle.executor(), settings_,
        [&] {
          for (std::uint32_t i = 0; i < kRounds; ++i) do_round(handle, ++round);
        },
        [] {});
    handle.synchronize();  // throws if an object could not be created
    const dynasoar::Statistics statistics = handle.statistics();
    const auto add = [&](const char* metric, const char* unit, std::vector<double> values) {
      report_.add({"waves",
                   variant,
                   {{"objects", static_cast<std::int64_t>(objects)}, {"rounds", kRounds}},
                   metric,
                   unit,
                   std::move(values)});
    };
    add("time of a round", "us", shares(seconds, kRounds, 1e6));
    add("objects at the end", "million", {static_cast<double>(statistics.objects()) * 1e-6});
    add("slots used at the end", "%", {100 * (1 - statistics.fragmentation())});
  }

  Report& report_;
  const Settings& settings_;
  std::size_t least_;
};

}  // namespace waves

void run_waves(Report& report, const Settings& settings) {
  waves::Benchmark benchmark(report, settings);
  for (const std::uint32_t percent : {1u, 25u}) benchmark.turnover(percent);
  benchmark.growth_and_collapse();
}

}  // namespace benchmarks
