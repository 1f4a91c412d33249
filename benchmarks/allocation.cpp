// How fast objects of 32 bytes are created and deleted: one per thread, with a constructor that writes nothing; and all
// at once with all of their fields, against plain stores of the same bytes.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "random_numbers.h"
#include "report.h"

namespace benchmarks {
namespace allocation {

class Object;
using AllocatorT = dynasoar::SoaAllocator<Object>;
class Object : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Object, (a_, float), (b_, float), (c_, float), (d_, float), (e_, float), (f_, float), (g_, float),
                  (owner_, std::uint32_t));
  __device__ Object() {}
  __device__ explicit Object(std::size_t i)
      : a_(0), b_(1), c_(2), d_(3), e_(4), f_(5), g_(6), owner_(static_cast<std::uint32_t>(i)) {}
  __device__ void die() { dynasoar::destroy(this); }
};

struct Create {
  Object** objects;
  __device__ void operator()(std::size_t i) const { objects[i] = dynasoar::make_new<Object>(); }
};

struct Delete {
  Object** objects;
  __device__ void operator()(std::size_t i) const { dynasoar::destroy(objects[i]); }
};

struct DeleteShuffled {
  Object** objects;
  int bits;  // of the numbers of objects
  __device__ void operator()(std::size_t i) const {
    dynasoar::destroy(objects[shuffled(static_cast<std::uint32_t>(i), bits)]);
  }
};

// Hand-written code that does the same as the constructor that writes all fields.
struct Store {
  float *a, *b, *c, *d, *e, *f, *g;
  std::uint32_t* owner;
  __device__ void operator()(std::size_t i) const {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
    d[i] = 3;
    e[i] = 4;
    f[i] = 5;
    g[i] = 6;
    owner[i] = static_cast<std::uint32_t>(i);
  }
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

class Benchmark {
 public:
  /// @param bits   2^bits objects
  Benchmark(Report& report, const Settings& settings, int bits)
      : report_(report),
        settings_(settings),
        bits_(bits),
        count_(std::size_t{1} << bits),
        handle_({.heap_bytes = std::size_t{settings.small ? 64u : 2048u} << 20}),
        objects_(count_) {}

  void run() {
    bool alive = false;
    const auto creation = measure(
        handle_.executor(), settings_, [&] { create(); },
        [&] {
          if (alive) erase();
          alive = true;
        });
    const std::vector<double> full = block_use();
    const auto measure_deletion = [&](auto how) {
      return measure(handle_.executor(), settings_, how, [&] {
        if (!alive) create();
        alive = false;
      });
    };
    const auto deletion = measure_deletion([&] { erase(); });
    const auto shuffled_deletion = measure_deletion([&] {
      handle_.parallel_for(count_, DeleteShuffled{objects_.data(), bits_});
    });
    if (handle_.count<Object>() != 0) throw std::runtime_error("allocation: objects are left after deleting all");
    add("create", "rate", "G/s", rates(creation, amount(), 1e-9));
    add("delete", "rate", "G/s", rates(deletion, amount(), 1e-9));
    add("delete in random order", "rate", "G/s", rates(shuffled_deletion, amount(), 1e-9));
    add("block use", "slots used", "%", full);
    all_fields();
  }

 private:
  void create() { handle_.parallel_for(count_, Create{objects_.data()}); }
  void erase() { handle_.parallel_for(count_, Delete{objects_.data()}); }

  double amount() const { return static_cast<double>(count_); }

  void add(const char* variant, const char* metric, const char* unit, std::vector<double> values) {
    report_.add({"allocation",
                 variant,
                 {{"objects", static_cast<std::int64_t>(count_)}, {"bytes", 32}},
                 metric,
                 unit,
                 std::move(values)});
  }

  /// The share of slots in use after all objects were deleted and created anew. @pre all objects exist, and do then
  std::vector<double> block_use() {
    dynasoar::DeviceArray<std::uint32_t> shared(1);
    shared.fill_bytes(0);
    std::vector<double> percent;
    for (int i = 0; i < settings_.repetitions; ++i) {
      erase();
      create();
      handle_.synchronize();  // throws if an object could not be created
      handle_.parallel_for(count_, Claim{objects_.data()});
      handle_.parallel_for(
          count_, Check{objects_.data(), reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(shared.data())});
      percent.push_back(100 * (1 - handle_.statistics().fragmentation()));
    }
    if (shared.download()[0] != 0) throw std::runtime_error("allocation: two threads got the same slot");
    return percent;
  }

  /// Objects with all of their bytes. @pre there are none yet
  void all_fields() {
    bool alive = false;
    const auto creation = measure(
        handle_.executor(), settings_, [&] { handle_.parallel_new<Object>(count_); },
        [&] {
          if (alive) handle_.parallel_do<&Object::die>();
          alive = true;
        });
    const auto floats = zeros<float>(7 * count_);
    const auto owner = zeros<std::uint32_t>(count_);
    const auto array = [&](std::size_t i) { return floats.data() + i * count_; };
    const Store store{array(0), array(1), array(2), array(3), array(4), array(5), array(6), owner.data()};
    dynasoar::Executor executor;
    const auto stores = measure(
        executor, settings_, [&] { executor.for_each_index(count_, store); }, [] {});
    add("parallel_new, all fields written", "rate", "G/s", rates(creation, amount(), 1e-9));
    add("the same bytes by hand", "rate", "G/s", rates(stores, amount(), 1e-9));
  }

  Report& report_;
  const Settings& settings_;
  int bits_;
  std::size_t count_;
  dynasoar::AllocatorHandle<AllocatorT> handle_;
  dynasoar::DeviceArray<Object*> objects_;
};

}  // namespace allocation

void run_allocation(Report& report, const Settings& settings) {
  for (const int bits : settings.small ? std::vector{14, 18} : std::vector{20, 25}) {
    allocation::Benchmark(report, settings, bits).run();
  }
}

}  // namespace benchmarks
