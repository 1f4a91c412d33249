// How long one make_new takes in a heap that is almost full, while all threads of the device delete and create.
//
// A heap is filled, objects are deleted at random until the given share of its slots is taken, and then every thread
// again and again deletes one of its own objects and makes another, whose time is taken.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace full_heap {

class Object;
using AllocatorT = dynasoar::SoaAllocator<Object>;
class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Object, (a_, float), (b_, float), (c_, float), (d_, float), (e_, float), (f_, float), (g_, float),
                  (h_, float));
};

using Word = dynasoar::AtomicWord<std::uint64_t>;

/// A number from 0 to 2^32 - 1 that depends on both arguments.
__device__ std::uint32_t hashed(std::uint32_t a, std::uint32_t b) {
  std::uint64_t z = (std::uint64_t{a} << 32 | b) + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

/// Times in buckets, eight per power of two.
struct Histogram {
  static constexpr int kBuckets = 8 * 40;
  Word bucket[kBuckets];
  Word longest_of_eight[8];  // the maxima of eighths of the threads, which meet less often

  __device__ void add(std::uint64_t nanoseconds, std::uint32_t worker) {
    const int octave = 63 - dynasoar::detail::leading_zeros(nanoseconds | 8);
    const auto index = static_cast<int>(nanoseconds >> (octave - 3) & 7) + 8 * octave;
    bucket[index < kBuckets ? index : kBuckets - 1].add(1, dynasoar::Order::relaxed);
    Word& longest = longest_of_eight[worker % 8];
    std::uint64_t seen = longest.load(dynasoar::Order::relaxed);
    while (nanoseconds > seen && !longest.compare_exchange(seen, nanoseconds, dynasoar::Order::relaxed)) {
    }
  }

  /// Nanoseconds that the given share of all calls did not exceed, rounded up to the end of a bucket.
  double percentile(double share) const {
    std::uint64_t all = 0;
    for (const Word& count : bucket) all += count.load(dynasoar::Order::relaxed);
    std::uint64_t seen = 0;
    for (int i = 0; i < kBuckets; ++i) {
      seen += bucket[i].load(dynasoar::Order::relaxed);
      if (static_cast<double>(seen) >= share * static_cast<double>(all)) {
        return std::ldexp(1 + (i % 8 + 1) / 8.0, i / 8);
      }
    }
    return 0;
  }
  double longest() const {
    std::uint64_t longest = 0;
    for (const Word& word : longest_of_eight) longest = std::max(longest, word.load(dynasoar::Order::relaxed));
    return static_cast<double>(longest);
  }
};

struct Create {
  Object** objects;
  __device__ void operator()(std::size_t i) const { objects[i] = dynasoar::make_new<Object>(); }
};

/// Deletes all but a share of the objects.
struct Thin {
  Object** objects;
  std::uint32_t keep;  // out of 1000
  __device__ void operator()(std::size_t i) const {
    if (hashed(static_cast<std::uint32_t>(i), 1) % 1000 < keep) return;
    dynasoar::destroy(objects[i]);
    objects[i] = nullptr;
  }
};

/// What every worker does with the objects worker, worker + workers, worker + 2 * workers ...
struct Churn {
  Object** objects;
  std::uint32_t workers, objects_per_worker, calls, seed;
  Histogram* times;

  __device__ void operator()(std::size_t index) const {
    const auto worker = static_cast<std::uint32_t>(index);
    for (std::uint32_t call = 0; call < calls; ++call) {
      std::uint32_t which = hashed(worker, seed + call) % objects_per_worker;
      Object** object = &objects[std::size_t{which} * workers + worker];
      for (std::uint32_t i = 0; *object == nullptr && i < objects_per_worker; ++i) {
        which = which + 1 == objects_per_worker ? 0 : which + 1;
        object = &objects[std::size_t{which} * workers + worker];
      }
      dynasoar::destroy(*object);
      const std::uint64_t before = dynasoar::nanoseconds();
      *object = dynasoar::make_new<Object>();
      times->add(dynasoar::nanoseconds() - before, worker);
    }
  }
};

void run(Report& report, const Settings& settings, std::uint32_t per_thousand) {
  const std::size_t count = std::size_t{1} << (settings.small ? 16 : 25);
  const std::uint32_t workers = settings.small ? 1u << 10 : 1u << 18;
  dynasoar::AllocatorHandle<AllocatorT> handle(
      {.heap_bytes = AllocatorT::heap_bytes_for<Object>(count), .on_refusal = dynasoar::OnRefusal::record});
  const dynasoar::DeviceArray<Object*> objects(count);
  handle.parallel_for(count, Create{objects.data()});
  if (handle.count<Object>() != count) throw std::runtime_error("full_heap: the heap does not hold what it should");
  handle.parallel_for(count, Thin{objects.data(), per_thousand});
  const std::uint64_t kept = handle.count<Object>();
  dynasoar::DeviceArray<Histogram> times(1);
  std::map<std::string, std::vector<double>> values;
  for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
    times.fill_bytes(0);
    const auto per_worker = static_cast<std::uint32_t>(count / workers);
    const auto seed = static_cast<std::uint32_t>(i) * 1000;
    const std::uint64_t refused = handle.statistics().refused();
    handle.parallel_for(workers, Churn{objects.data(), workers, per_worker, 16, seed, times.data()});
    handle.synchronize();
    if (i < settings.warm_up) continue;
    const Histogram histogram = times.download()[0];
    values["median"].push_back(histogram.percentile(0.5) * 1e-3);
    values["99.9 % of calls"].push_back(histogram.percentile(0.999) * 1e-3);
    values["longest call"].push_back(histogram.longest() * 1e-3);
    values["refused"].push_back(static_cast<double>(handle.statistics().refused() - refused));
  }
  if (handle.count<Object>() + handle.statistics().refused() < kept) {
    throw std::runtime_error("full_heap: objects were lost");
  }
  const std::map<std::string, std::int64_t> parameters = {{"slots", static_cast<std::int64_t>(count)},
                                                          {"per thousand taken", per_thousand}};
  for (const auto& [metric, numbers] : values) {
    report.add({"full_heap", "make_new", parameters, metric, metric == "refused" ? "calls" : "us", numbers});
  }
}

}  // namespace full_heap

void run_full_heap(Report& report, const Settings& settings) {
  for (const std::uint32_t per_thousand : {500u, 900u, 990u, 999u, 1000u}) {
    full_heap::run(report, settings, per_thousand);
  }
}

}  // namespace benchmarks
