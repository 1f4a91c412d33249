// How fast objects of several classes are created by the lanes of one warp, and deleted: each lane makes one object of
// 32 bytes of one of 1, 2 or 4 classes, which follows from its index or is random.
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
namespace mixed_allocation {

class Any;
class A;
class B;
class C;
class D;
using AllocatorT = dynasoar::SoaAllocator<A, B, C, D>;
class Any : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Any, (a_, float), (b_, float), (c_, float), (d_, float), (e_, float), (f_, float), (g_, float),
                  (h_, float));
};
class A : public Any {
 public:
  using BaseClass = Any;
  DYNASOAR_FIELDS(A);
};
class B : public Any {
 public:
  using BaseClass = Any;
  DYNASOAR_FIELDS(B);
};
class C : public Any {
 public:
  using BaseClass = Any;
  DYNASOAR_FIELDS(C);
};
class D : public Any {
 public:
  using BaseClass = Any;
  DYNASOAR_FIELDS(D);
};

struct Create {
  Any** objects;
  std::uint32_t classes;
  bool random;

  __device__ void operator()(std::size_t i) const {
    const std::uint32_t number = random ? hashed(i, 1) : static_cast<std::uint32_t>(i);
    switch (number % classes) {
      case 0: objects[i] = dynasoar::make_new<A>(); break;
      case 1: objects[i] = dynasoar::make_new<B>(); break;
      case 2: objects[i] = dynasoar::make_new<C>(); break;
      default: objects[i] = dynasoar::make_new<D>();
    }
  }
};

struct Delete {
  Any** objects;
  __device__ void operator()(std::size_t i) const { dynasoar::destroy(objects[i]); }
};

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings)
      : report_(report),
        settings_(settings),
        count_(std::size_t{1} << (settings.small ? 14 : 24)),
        handle_({.heap_bytes = std::size_t{settings.small ? 64u : 1024u} << 20}),
        objects_(count_) {}

  void run(std::uint32_t classes, bool random) {
    const Create creator{objects_.data(), classes, random};
    const auto create = [&] { handle_.parallel_for(count_, creator); };
    const auto erase = [&] { handle_.parallel_for(count_, Delete{objects_.data()}); };
    bool alive = false;
    const std::vector<double> creation = measure(handle_.executor(), settings_, create, [&] {
      if (alive) erase();
      alive = true;
    });
    handle_.synchronize();  // throws if an object could not be created
    const double used = 100 * (1 - handle_.statistics().fragmentation());
    const std::vector<double> deletion = measure(handle_.executor(), settings_, erase, [&] {
      if (!alive) create();
      alive = false;
    });
    if (handle_.count<Any>() != 0) throw std::runtime_error("mixed_allocation: objects are left after deleting all");
    const std::string variant = random ? "class at random" : "class by index";
    const std::map<std::string, std::int64_t> parameters = {{"objects", static_cast<std::int64_t>(count_)},
                                                            {"classes", classes}};
    const double amount = static_cast<double>(count_);
    report_.add({"mixed_allocation", variant, parameters, "rate of creation", "G/s", rates(creation, amount, 1e-9)});
    report_.add({"mixed_allocation", variant, parameters, "rate of deletion", "G/s", rates(deletion, amount, 1e-9)});
    report_.add({"mixed_allocation", variant, parameters, "slots used", "%", {used}});
  }

 private:
  Report& report_;
  const Settings& settings_;
  std::size_t count_;
  dynasoar::AllocatorHandle<AllocatorT> handle_;
  dynasoar::DeviceArray<Any*> objects_;
};

}  // namespace mixed_allocation

void run_mixed_allocation(Report& report, const Settings& settings) {
  mixed_allocation::Benchmark benchmark(report, settings);
  for (const std::uint32_t classes : {1u, 2u, 4u}) {
    for (const bool random : {false, true}) {
      if (classes > 1 || !random) benchmark.run(classes, random);
    }
  }
}

}  // namespace benchmarks
