// How long one make_new takes in a heap that is almost full, while all threads of the device delete and create.
//
// A heap is filled, objects are deleted at random until the given share of its slots is taken, and then, in loop after
// loop, every thread deletes one of its own objects and makes another. The time of the latter is measured.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "random_numbers.h"
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

/// The time that the given share of calls did not exceed, in microseconds.
double percentile(std::vector<std::uint32_t>& nanoseconds, double share) {
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(nanoseconds.size() - 1));
  std::nth_element(nanoseconds.begin(), nanoseconds.begin() + static_cast<std::ptrdiff_t>(rank), nanoseconds.end());
  return nanoseconds[rank] * 1e-3;
}

struct Create {
  Object** objects;
  __device__ void operator()(std::size_t i) const { objects[i] = dynasoar::make_new<Object>(); }
};

/// Deletes all but a share of the objects.
struct Thin {
  Object** objects;
  std::uint32_t keep;  // out of 1000
  __device__ void operator()(std::size_t i) const {
    if (happens(keep, i, 1)) return;
    dynasoar::destroy(objects[i]);
    objects[i] = nullptr;
  }
};

/// Every worker replaces one of the objects worker, worker + workers, worker + 2 * workers ...
///
/// One replacement per loop, because lanes of a warp that went through several would drift apart, and the time of one
/// lane's call would be that of the other lanes' next ones.
struct Replace {
  Object** objects;
  std::uint32_t workers, objects_per_worker, seed;
  std::uint32_t* nanoseconds;  // [workers]

  __device__ void operator()(std::size_t index) const {
    const auto worker = static_cast<std::uint32_t>(index);
    std::uint32_t which = hashed(worker, seed) % objects_per_worker;
    Object** object = &objects[std::size_t{which} * workers + worker];
    for (std::uint32_t i = 0; *object == nullptr && i < objects_per_worker; ++i) {
      which = which + 1 == objects_per_worker ? 0 : which + 1;
      object = &objects[std::size_t{which} * workers + worker];
    }
    dynasoar::destroy(*object);
    const std::uint64_t before = dynasoar::nanoseconds();
    *object = dynasoar::make_new<Object>();
    nanoseconds[worker] = static_cast<std::uint32_t>(dynasoar::nanoseconds() - before);
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
  constexpr std::uint32_t kLoops = 16;
  const dynasoar::DeviceArray<std::uint32_t> times(std::size_t{kLoops} * workers);
  std::map<std::string, std::vector<double>> values;
  for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
    const auto per_worker = static_cast<std::uint32_t>(count / workers);
    const std::uint64_t refused = handle.statistics().refused();
    for (std::uint32_t loop = 0; loop < kLoops; ++loop) {
      const std::uint32_t seed = static_cast<std::uint32_t>(i) * kLoops + loop;
      handle.parallel_for(workers, Replace{objects.data(), workers, per_worker, seed, times.data() + loop * workers});
    }
    handle.synchronize();
    if (i < settings.warm_up) continue;
    std::vector<std::uint32_t> nanoseconds = times.download();
    values["median"].push_back(percentile(nanoseconds, 0.5));
    values["99.9 % of calls"].push_back(percentile(nanoseconds, 0.999));
    values["longest call"].push_back(percentile(nanoseconds, 1));
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
