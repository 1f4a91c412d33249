// Compaction: two classes of objects of 32 bytes, every second object of one of them deleted at random. What it takes
// to move the rest together, with and without pointers to them in the other class, and what a loop over them gains.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace compaction {

/// Whether item number i outlives the others.
__host__ __device__ inline bool survives(std::uint64_t i) {
  i = (i ^ i >> 30) * 0xBF58476D1CE4E5B9u;
  i = (i ^ i >> 27) * 0x94D049BB133111EBu;
  return (i >> 40 & 1) != 0;
}

/// The classes, once with pointers to items and once without.
template <bool kPointers>
struct Classes {
  class Item;
  class Link;
  using AllocatorT = dynasoar::SoaAllocator<Item, Link>;

  class Item : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Item, (number_, std::uint32_t), (x_, float), (y_, float), (vx_, float), (vy_, float), (a_, float),
                    (b_, float), (c_, float))
    __device__ Item(std::size_t i, Item** items) : number_(static_cast<std::uint32_t>(i)) {
      x_ = y_ = 0;
      vx_ = vy_ = 1;
      a_ = b_ = c_ = static_cast<float>(i % 8);
      items[i] = this;
    }
    __device__ void move(float dt) {
      x_ += vx_ * dt;
      y_ += vy_ * dt;
    }
    __device__ void die() {
      if (!survives(number_)) dynasoar::destroy(this);
    }
    __device__ void vanish() { dynasoar::destroy(this); }
  };

  class Link : public dynasoar::SoaBase<AllocatorT> {
   public:
    using Reference = std::conditional_t<kPointers, Item*, std::uint64_t>;
    DYNASOAR_FIELDS(Link, (to_, Reference), (wanted_, std::uint32_t), (a_, float), (b_, float), (c_, float),
                    (d_, float), (e_, float))

    /// To some item that survives.
    __device__ explicit Link(std::size_t i, std::size_t count) : a_(0), b_(0), c_(0), d_(0), e_(0) {
      std::uint64_t other = i * 2654435761u % count;
      while (!survives(other)) other = (other + 1) % count;
      wanted_ = static_cast<std::uint32_t>(other);
      to_ = Reference{};
    }
    __device__ void find(Item** items) {
      if constexpr (kPointers) to_ = items[wanted_];
    }
    __device__ void check(dynasoar::AtomicWord<std::uint32_t>* wrong) {
      if constexpr (kPointers) {
        if (to_->number_ != wanted_ || to_->c_ != static_cast<float>(wanted_ % 8)) {
          wrong->fetch_add(1, dynasoar::Order::relaxed);
        }
      }
    }
  };
};

template <bool kPointers>
void run(Report& report, const Settings& settings, std::size_t count) {
  using AllocatorT = typename Classes<kPointers>::AllocatorT;
  using Item = typename Classes<kPointers>::Item;
  using Link = typename Classes<kPointers>::Link;
  const std::size_t room = count + count / 8 + (1 << 20);
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = AllocatorT::template heap_bytes_for<Item>(room) +
                                                              AllocatorT::template heap_bytes_for<Link>(room)});
  dynasoar::DeviceArray<Item*> items(count);
  dynasoar::DeviceArray<std::uint32_t> wrong(1);
  wrong.fill_bytes(0);
  Item** const table = items.data();
  handle.template parallel_new<Link>(count, count);
  const auto fragment = [&] {
    handle.template parallel_do<&Item::vanish>();
    handle.template parallel_new<Item>(count, table);
    handle.template parallel_do<&Link::find>(table);
    handle.template parallel_do<&Item::die>();
  };
  const auto move = [&] { handle.template parallel_do<&Item::move>(0.5f); };
  const auto compact = [&] { handle.template compact<Item>(); };
  const std::string variant = kPointers ? "a pointer to each object" : "no pointers";
  const std::map<std::string, std::int64_t> parameters = {{"objects", static_cast<std::int64_t>(2 * count)},
                                                          {"bytes", 32}};
  const auto add = [&](const std::string& metric, const std::string& unit, std::vector<double> values) {
    report.add({"compaction", variant, parameters, metric, unit, std::move(values)});
  };
  const auto milliseconds = [](std::vector<double> seconds) {
    for (double& value : seconds) value *= 1e3;
    return seconds;
  };
  const auto fragmentation = [&] { return 100 * handle.statistics().types[0].fragmentation(); };

  fragment();
  const std::uint64_t objects = handle.template count<Item>();
  const double before = fragmentation();
  add("loop before", "ms", milliseconds(measure(handle.executor(), settings, move, [] {})));
  add("compaction", "ms", milliseconds(measure(handle.executor(), settings, compact, fragment)));
  handle.template parallel_do<&Link::check>(reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(wrong.data()));
  handle.synchronize();
  if (wrong.download()[0] != 0) throw std::runtime_error("compaction: pointers do not point to their objects");
  if (handle.template count<Item>() != objects) throw std::runtime_error("compaction: objects are missing");
  add("fragmentation before", "%", {before});
  add("fragmentation after", "%", {fragmentation()});
  add("loop after", "ms", milliseconds(measure(handle.executor(), settings, move, [] {})));
  add("compaction with nothing to do", "ms", milliseconds(measure(handle.executor(), settings, compact, [] {})));
}

}  // namespace compaction

void run_compaction(Report& report, const Settings& settings) {
  const std::size_t count = settings.small ? 200'000 : 32'800'000;
  compaction::run<false>(report, settings, count);
  compaction::run<true>(report, settings, count);
}

}  // namespace benchmarks
