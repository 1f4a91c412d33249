// Sorts in recorded steps: the host does not know how many objects there are, and sorts as many keys as the heap has
// room for. On a CPU, where steps are not recorded, the tests ask for that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_random.h"
#include "../platform/test_support.h"

namespace recorded_sort_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Grain;
class Tag;
class Dust;
using AllocatorT = dynasoar::SoaAllocator<Grain, Tag, Dust>;

/// Shows that pointers follow a grain.
class Tag : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Tag, (grain_, Grain*), (short_grain_, CompressedPointer<Grain>))
  __device__ explicit Tag(Grain* grain) : grain_(grain), short_grain_(grain) {}
};

class Grain : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Grain, (id_, std::uint64_t), (key_, std::uint32_t), (tag_, Tag*), (self_, Grain*))
  __device__ explicit Grain(std::uint64_t id) : id_(id), key_(0u), tag_(dynasoar::make_new<Tag>(this)), self_(this) {}

  /// A fifth dies, and a fourth of the others have a child, as identity and step say.
  __device__ void live(const std::uint64_t* step) {
    const std::uint64_t chance = mixed(id_, 2 * *step) % 20;
    if (chance < 4) {
      dynasoar::destroy(tag_.get());
      dynasoar::destroy(this);
    } else {
      key_ = static_cast<std::uint32_t>(mixed(id_, 2 * *step + 1));
      if (chance < 8) dynasoar::make_new<Grain>(mixed(id_, 1000 + *step));
    }
  }
};

/// Another class that takes pages.
class Dust : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Dust, (speck_, std::uint8_t))
  __device__ explicit Dust(std::size_t) : speck_(std::uint8_t{0}) {}
};

struct MakeGrain {
  __device__ void operator()(std::size_t i) const { dynasoar::make_new<Grain>(mixed(i, 7)); }
};
struct CountStep {
  std::uint64_t* step;
  __device__ void operator()(std::size_t) const { ++*step; }
};
/// With equal keys, and with keys whose bits are all 1, as those of absent objects are.
template <class Value>
struct KeyOf {
  std::uint32_t modulus;
  __device__ Value operator()(Grain* grain) const {
    return static_cast<Value>(~Value{0} - Value{grain->key_ % modulus});
  }
};
struct CheckTag {
  Counter* wrong;
  __device__ void operator()(Tag* tag) const {
    Grain* const grain = tag->grain_;
    count_if(wrong[0], grain->tag_.get() != tag || grain->self_.get() != grain);
    count_if(wrong[1], static_cast<Grain*>(tag->short_grain_) != grain);
  }
};

struct SetKey {
  __device__ void operator()(Grain* grain) const { grain->key_ = static_cast<std::uint32_t>(mixed(grain->id_, 5)); }
};

/// How a step is made.
enum class How { direct, recorded, bounded };

struct World {
  AllocatorHandle<AllocatorT> handle;
  DeviceArray<std::uint64_t> now = zeroed<std::uint64_t>(1);

  explicit World(const HandleOptions& options) : handle(options) {}

  template <class Value>
  void sort(How how, int bits, std::uint32_t modulus) {
    const KeyOf<Value> key{modulus};
    if (how == How::bounded) {
      detail::sort_by_bits<Value, AllocatorT, Grain>(handle.loops(), key, bits, {}, detail::SortSize::bounded);
    } else {
      handle.sort<Grain>(key, {.key_bits = bits});
    }
  }

  /// Births, deaths and two sorts, by keys of 32 and of 64 bits.
  void submit_step(How how) {
    handle.parallel_for(1, CountStep{now.data()});
    handle.parallel_do<&Grain::live>(static_cast<const std::uint64_t*>(now.data()));
    submit_sorts(how);
  }

  void submit_sorts(How how) {
    sort<std::uint64_t>(how, 64, 1000);
    sort<std::uint32_t>(how, 3, 8);
  }

  std::vector<std::uint64_t> ids() { return handle.columns<Grain>()["id_"].as<std::uint64_t>(); }

  /// Grains are in the order of the last sort and, with equal keys, of the one before; pointers lead to them.
  void check() {
    const Columns grains = handle.columns<Grain>();
    const std::vector<std::uint32_t> keys = grains["key_"].as<std::uint32_t>();
    const auto before = [](std::uint32_t a, std::uint32_t b) {
      return a % 8 != b % 8 ? a % 8 > b % 8 : a % 1000 > b % 1000;
    };
    CHECK(std::is_sorted(keys.begin(), keys.end(), before));
    Counters wrong(2);
    handle.parallel_do<Tag>(CheckTag{wrong.data()});
    CHECK(wrong.values() == std::vector<std::uint64_t>(2));
    CHECK(heap_errors(handle) == "");
  }
};

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST_CASE(
    "a recorded step of births, deaths and sorts does what its loops do directly, also after the heap has grown") {
  constexpr std::uint32_t kGrains = 5000 / kSlowdown;
  for (const How how : {How::recorded, How::bounded}) {
    CAPTURE(static_cast<int>(how));
    const HandleOptions options{.heap_bytes = 8 << 20, .heap_limit_bytes = 64 << 20, .threads = 3};
    std::vector<std::vector<std::uint64_t>> expected;
    {
      World direct(options);
      direct.handle.parallel_for(kGrains, MakeGrain{});
      for (int i = 0; i < 8; ++i) {
        direct.submit_step(How::direct);
        direct.check();
        expected.push_back(sorted(direct.ids()));
      }
    }
    World world(options);
    world.handle.parallel_for(kGrains, MakeGrain{});
    world.handle.synchronize();
    const std::size_t small = world.handle.statistics().heap_bytes;
    auto step = world.handle.record([&] { world.submit_step(how); });
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      if (i == 3) world.handle.reserve<Grain>(700000);
      if (i == 5) world.sort<std::uint32_t>(How::direct, 32, 7);  // elsewhere in memory
      if (i == 6) world.handle.parallel_new<Dust>(1000);
      step();
      world.check();
      CHECK(sorted(world.ids()) == expected[i]);
      CHECK(world.handle.count<Tag>() == expected[i].size());
    }
    CHECK(world.handle.statistics().heap_bytes > 2 * small);
  }
}

TEST_CASE("a recorded step sorts no objects, one, a full block and one more") {
  for (const How how : {How::recorded, How::bounded}) {
    CAPTURE(static_cast<int>(how));
    World world({.heap_bytes = 4 << 20, .threads = 2});
    auto step = world.handle.record([&] { world.submit_sorts(how); });
    for (const std::size_t more : {0, 1, 63, 1}) {
      world.handle.parallel_for(more, MakeGrain{});
      world.handle.parallel_do<Grain>(SetKey{});
      step();
      world.check();
    }
    CHECK(world.ids().size() == 65);
  }
}

// Recorded kernels have its address.
TEST_CASE("the memory of recorded sorts stays where it is until the heap grows, and is freed by a direct sort") {
  World world({.heap_bytes = 8 << 20, .heap_limit_bytes = 64 << 20, .threads = 2});
  world.handle.parallel_for(100, MakeGrain{});
  const detail::SortMemory& memory = world.handle.loops().sort_memory();
  world.sort<std::uint32_t>(How::bounded, 3, 8);
  const char* const first = memory.recorded.at(0).objects.data();
  world.sort<std::uint64_t>(How::bounded, 64, 1000);
  world.sort<std::uint64_t>(How::direct, 64, 1000);
  CHECK(memory.recorded[0].objects.data() == first);
  CHECK(memory.replaced.empty());
  world.handle.reserve<Grain>(700000);
  world.sort<std::uint32_t>(How::bounded, 3, 8);
  CHECK(memory.recorded[0].objects.data() != first);
  REQUIRE(memory.replaced.size() == 1);
  CHECK(memory.replaced[0].objects.data() == first);
  world.sort<std::uint32_t>(How::direct, 3, 8);
  CHECK(memory.replaced.empty());
  world.check();
}

TEST_CASE("a recorded step sorts a full heap") {
  for (const How how : {How::recorded, How::bounded}) {
    CAPTURE(static_cast<int>(how));
    World world({.heap_bytes = 1 << 20, .on_refusal = OnRefusal::record, .threads = 2});
    world.handle.parallel_for(40000, MakeGrain{});
    world.handle.synchronize();
    const Statistics full = world.handle.statistics();
    CHECK(full.free_pages == 0);
    CHECK(full.types[0].refused() > 0);
    const std::vector<std::uint64_t> before = sorted(world.ids());
    world.handle.parallel_do<Grain>(SetKey{});
    auto step = world.handle.record([&] { world.submit_sorts(how); });
    step();
    world.check();
    CHECK(sorted(world.ids()) == before);
  }
}

}  // namespace recorded_sort_test
