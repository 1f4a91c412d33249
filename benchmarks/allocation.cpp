// How fast objects are created and deleted: one object of 32 bytes per thread, constructors that write nothing.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace allocation {

class Object;
using AllocatorT = dynasoar::SoaAllocator<Object>;
class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Object, (a_, float), (b_, float), (c_, float), (d_, float), (e_, float), (f_, float), (g_, float),
                  (owner_, std::uint32_t));
};

struct Create {
  Object** objects;
  __device__ void operator()(std::size_t i) const { objects[i] = dynasoar::make_new<Object>(); }
};

struct Delete {
  Object** objects;
  __device__ void operator()(std::size_t i) const { dynasoar::destroy(objects[i]); }
};

// Every object remembers who created it; if two threads got the same slot, one of them finds the other's number.
struct Claim {
  Object** objects;
  __device__ void operator()(std::size_t i) const { objects[i]->owner_ = static_cast<std::uint32_t>(i); }
};

struct Check {
  Object** objects;
  dynasoar::AtomicWord<std::uint32_t>* shared;
  __device__ void operator()(std::size_t i) const {
    if (objects[i]->owner_ != static_cast<std::uint32_t>(i)) shared->fetch_add(1, dynasoar::Order::relaxed);
  }
};

void run(Report& report, const Settings& settings, std::size_t count) {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{settings.small ? 64u : 2048u} << 20});
  const dynasoar::DeviceArray<Object*> objects(count);
  dynasoar::DeviceArray<std::uint32_t> shared(1);
  shared.fill_bytes(0);
  std::vector<double> full;
  const auto create = [&] { handle.parallel_for(count, Create{objects.data()}); };
  const auto erase = [&] { handle.parallel_for(count, Delete{objects.data()}); };
  bool alive = false;
  const std::vector<double> creation = measure(handle.executor(), settings, create, [&] {
    if (alive) erase();
    alive = true;
  });
  for (int i = 0; i < settings.repetitions; ++i) {
    erase();
    create();
    handle.synchronize();  // throws if an object could not be created
    handle.parallel_for(count, Claim{objects.data()});
    handle.parallel_for(count,
                        Check{objects.data(), reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(shared.data())});
    full.push_back(100 * (1 - handle.statistics().fragmentation()));
  }
  if (shared.download()[0] != 0) throw std::runtime_error("allocation: two threads got the same slot");
  const std::vector<double> deletion = measure(handle.executor(), settings, erase, [&] {
    if (!alive) create();
    alive = false;
  });
  if (handle.count<Object>() != 0) throw std::runtime_error("allocation: objects are left after deleting all");
  const std::map<std::string, std::int64_t> parameters = {{"objects", static_cast<std::int64_t>(count)}, {"bytes", 32}};
  const double amount = static_cast<double>(count);
  report.add({"allocation", "create", parameters, "rate", "G/s", rates(creation, amount, 1e-9)});
  report.add({"allocation", "delete", parameters, "rate", "G/s", rates(deletion, amount, 1e-9)});
  report.add({"allocation", "block use", parameters, "slots used", "%", full});
}

}  // namespace allocation

void run_allocation(Report& report, const Settings& settings) {
  for (const int log : settings.small ? std::vector{14, 18} : std::vector{20, 25}) {
    allocation::run(report, settings, std::size_t{1} << log);
  }
}

}  // namespace benchmarks
