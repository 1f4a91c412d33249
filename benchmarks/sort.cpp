// Sort: sorts objects of 32 bytes, each with a pointer to another one, by random keys and by keys that are nearly in
// order. Compared with a radix sort of the keys with 32-bit numbers, and with one copy of the objects: a hand-written
// sort needs at least both.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/platform/sort.h>

#include "measure.h"
#include "random_numbers.h"
#include "report.h"

namespace benchmarks {
namespace sort {

class Item;
using AllocatorT = dynasoar::SoaAllocator<Item>;

class Item : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Item, (next_, Item*), (number_, std::uint32_t), (key_, std::uint32_t), (x_, float), (y_, float),
                  (vx_, float), (vy_, float))
  __device__ Item(std::size_t i, Item** items)
      : next_(nullptr), number_(static_cast<std::uint32_t>(i)), key_(static_cast<std::uint32_t>(i)) {
    x_ = y_ = vx_ = 0;
    vy_ = static_cast<float>(i % 8);
    items[i] = this;
  }

  __device__ void find_next(Item** items, std::uint32_t count) { next_ = items[(number_ + 1) % count]; }
  __device__ void check(std::uint32_t count, dynasoar::AtomicWord<std::uint32_t>* wrong) {
    if (next_->number_ != (number_ + 1) % count || vy_ != static_cast<float>(number_ % 8)) {
      wrong->fetch_add(1, dynasoar::Order::relaxed);
    }
  }
};

/// The keys of a variant.
struct Keys {
  const char* name;
  std::uint32_t near;  // the greatest distance of an object from its place; 0: any

  __host__ __device__ std::uint32_t key(std::uint32_t number, std::uint32_t seed) const {
    return near == 0 ? hashed(number, seed) : number + hashed(number, seed) % near;
  }
};

struct SetKey {
  Keys keys;
  std::uint32_t seed;
  __device__ void operator()(Item* item) const { item->key_ = keys.key(item->number_, seed); }
};

/// Sets the same keys in arrays.
struct SetKeys {
  Keys keys;
  std::uint32_t seed;
  std::uint32_t* of_number;
  std::uint32_t* numbers;
  __device__ void operator()(std::size_t i) const {
    const auto number = static_cast<std::uint32_t>(i);
    of_number[i] = keys.key(number, seed);
    numbers[i] = number;
  }
};

struct alignas(16) Half {
  std::uint32_t words[4];
};
struct Copy {
  const Half* from;
  Half* to;
  __device__ void operator()(std::size_t i) const { to[i] = from[i]; }
};

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings, std::size_t count)
      : report_(report), settings_(settings), count_(count) {}

  void run() {
    for (const Keys& keys : {Keys{"random keys", 0}, Keys{"keys in order but for 64 places", 64}}) {
      sort_objects(keys);
      sort_by_hand(keys);
    }
    copy_by_hand();
  }

 private:
  void add(const std::string& variant, const std::string& metric, std::vector<double> seconds) {
    report_.add({"sort",
                 variant,
                 {{"objects", static_cast<std::int64_t>(count_)}, {"bytes", 32}},
                 metric,
                 "ms",
                 shares(std::move(seconds), 1, 1e3)});
  }

  void sort_objects(const Keys& keys) {
    dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = heap_bytes_with_room<Item>(count_)});
    const auto count = static_cast<std::uint32_t>(count_);
    {
      const dynasoar::DeviceArray<Item*> items(count_);
      handle.parallel_new<Item>(count_, items.data());
      handle.parallel_do<&Item::find_next>(items.data(), count);
      handle.synchronize();
    }
    handle.sort<&Item::number_>();
    std::uint32_t seed = 0;
    const auto set_keys = [&] { handle.parallel_do<Item>(SetKey{keys, ++seed}); };
    const auto sort = [&] { handle.sort<&Item::key_>(); };
    add(keys.name, "sort", measure(handle.executor(), settings_, sort, set_keys));
    auto step = handle.record(sort);
    add(keys.name, "sort in a recorded step",
        measure(
            handle.executor(), settings_, [&] { step(); }, set_keys));
    const auto wrong = zeros<std::uint32_t>(1);
    handle.parallel_do<&Item::check>(count, reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(wrong.data()));
    handle.synchronize();
    if (wrong.download()[0] != 0) throw std::runtime_error("sort: objects are not as they were");
    add(keys.name, "sort with nothing to do", measure(handle.executor(), settings_, sort, [] {}));
  }

  void sort_by_hand(const Keys& keys) {
    dynasoar::Executor executor;
    const auto sorted = zeros<std::uint32_t>(2 * count_), numbers = zeros<std::uint32_t>(2 * count_);
    const std::size_t bytes = dynasoar::detail::sort_scratch_bytes<std::uint32_t>(count_);
    const dynasoar::DeviceArray<char> scratch(bytes);
    std::uint32_t seed = 0;
    const auto set_keys = [&] {
      executor.for_each_index(count_, SetKeys{keys, ++seed, sorted.data(), numbers.data()});
    };
    const auto sort = [&] {
      dynasoar::detail::sort_pairs<std::uint32_t>(
          executor, {{sorted.data(), sorted.data() + count_}, {numbers.data(), numbers.data() + count_}}, count_, 32,
          scratch.data(), bytes);
    };
    add(keys.name, "radix sort of the keys", measure(executor, settings_, sort, set_keys));
  }

  void copy_by_hand() {
    dynasoar::Executor executor;
    const auto from = zeros<Half>(2 * count_), to = zeros<Half>(2 * count_);
    const auto copy = [&] { executor.for_each_index(2 * count_, Copy{from.data(), to.data()}); };
    add("by hand", "copy of the objects", measure(executor, settings_, copy, [] {}));
  }

  Report& report_;
  const Settings& settings_;
  std::size_t count_;
};

}  // namespace sort

void run_sort(Report& report, const Settings& settings) {
  sort::Benchmark(report, settings, settings.small ? 200'000 : std::size_t{1} << 25).run();
}

}  // namespace benchmarks
