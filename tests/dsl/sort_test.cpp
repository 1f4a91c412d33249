// Sort: the objects of a class lie in the order of a key, pointers are updated, and everything else stays as it was.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "numbered_objects.h"
#include "test_folder.h"

namespace sort_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Body;
class Moon;
class Rock;
class Watcher;
class Post;
using AllocatorT = dynasoar::SoaAllocator<Rock, Body, Moon, Watcher, Post>;

/// A base class that is not listed. Objects have numbers, and store the numbers of the objects that they point to.
class Thing : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Thing, (tag_, std::uint8_t), (id_, std::uint32_t))
  __device__ explicit Thing(std::uint32_t id) : tag_(static_cast<std::uint8_t>(mixed(id, 1))), id_(id) {}
  __device__ bool is_intact() const { return tag_ == static_cast<std::uint8_t>(mixed(id_, 1)); }
};

class Rock : public Thing {
 public:
  using BaseClass = Thing;
  DYNASOAR_FIELDS(Rock, (near_, Body*), (near_id_, std::uint32_t))
  __device__ Rock(std::size_t index, Thing** all, std::uint32_t first)
      : Thing(first + static_cast<std::uint32_t>(index)), near_(nullptr), near_id_(0u) {
    all[id_] = this;
  }
};

class Body : public Thing {
 public:
  using BaseClass = Thing;
  struct Trio {
    std::uint8_t bytes[3];
  };
  struct Speeds {
    double x, y, z;
  };
  using Links = std::array<Body*, 2>;
  using ShortLinks = std::array<CompressedPointer<Body>, 2>;
  DYNASOAR_FIELDS(Body, (key_, std::uint32_t), (self_, Body*), (other_, Thing*), (other_id_, std::uint32_t),
                  (links_, Links), (link_ids_, std::array<std::uint32_t, 2>), (trio_, Trio), (speeds_, Speeds),
                  (sizes_, std::array<std::uint16_t, 3>), (short_other_, CompressedPointer<Thing>),
                  (short_links_, ShortLinks))

  __device__ Body(std::size_t index, Thing** all, std::uint32_t first)
      : Thing(first + static_cast<std::uint32_t>(index)),
        key_(0u),
        self_(this),
        other_(nullptr),
        other_id_(0u),
        short_other_(nullptr) {
    all[id_] = this;
    links_.fill(nullptr);
    short_links_.fill(nullptr);
    link_ids_.fill(0);
    const auto byte = [&](std::uint64_t i) { return static_cast<std::uint8_t>(mixed(id_, 2 + i)); };
    trio_ = Trio{{byte(0), byte(1), byte(2)}};
    speeds_ = Speeds{id_ + 0.25, id_ + 0.5, id_ + 0.75};
    for (std::uint32_t i = 0; i < 3; ++i) sizes_[i] = static_cast<std::uint16_t>(mixed(id_, 5 + i));
  }

  __device__ bool has_its_fields() const {
    bool intact = is_intact() && self_.get() == this && speeds_->x == id_ + 0.25 && speeds_->y == id_ + 0.5 &&
                  speeds_->z == id_ + 0.75;
    for (std::uint32_t i = 0; i < 3; ++i) {
      intact = intact && trio_->bytes[i] == static_cast<std::uint8_t>(mixed(id_, 2 + i)) &&
               sizes_[i] == static_cast<std::uint16_t>(mixed(id_, 5 + i));
    }
    return intact;
  }

  __device__ std::uint32_t key() { return key_; }
  __device__ void die_if(std::uint32_t percent) {
    if (mixed(id_, 100) % 100 < percent) dynasoar::destroy(this);
  }
};

/// A listed subclass of the sorted class: its objects do not move.
class Moon : public Body {
 public:
  using BaseClass = Body;
  DYNASOAR_FIELDS(Moon, (planet_, Body*), (planet_id_, std::uint32_t))
  __device__ Moon(std::size_t index, Thing** all, std::uint32_t first)
      : Body(index, all, first), planet_(nullptr), planet_id_(0u) {}
};

class Watcher : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Watcher, (watched_, const Thing*), (watched_id_, std::uint32_t), (self_, Watcher*),
                  (short_self_, CompressedPointer<Watcher>))
  __device__ explicit Watcher(std::size_t) : watched_(nullptr), watched_id_(0u), self_(this), short_self_(this) {}
};

class Post : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Post, (guard_, Body*), (guard_id_, std::uint32_t), (short_guard_, CompressedPointer<Body>))
  __device__ Post() : guard_(nullptr), guard_id_(0u), short_guard_(nullptr) {}
};

struct Point {
  Register<Thing> all;
  __device__ void operator()(Body* body) const {
    set_pointers(body, all.things[mixed(body->id_, 8) % all.size], all.some<Body>(body->id_));
  }
  __device__ void operator()(Moon* moon) const {
    (*this)(static_cast<Body*>(moon));
    moon->planet_ = all.some<Body>(moon->id_ + 1);
    moon->planet_id_ = id_of(moon->planet_.get());
  }
  __device__ void operator()(Rock* rock) const {
    rock->near_ = all.some<Body>(rock->id_ + 2);
    rock->near_id_ = id_of(rock->near_.get());
  }
  __device__ void operator()(Watcher* watcher) const {
    watcher->watched_ = all.things[mixed(reinterpret_cast<std::uint64_t>(watcher), 9) % all.size];
    watcher->watched_id_ = id_of(watcher->watched_.get());
  }
  __device__ void operator()(Post* post) const {
    set_guard(post, all.some<Body>(reinterpret_cast<std::uint64_t>(post)));
  }
};

struct Check : Expectations<Thing> {
  __device__ void operator()(Body* body) const {
    expect(kFirstOwn, body->has_its_fields());
    expect_pointers(body);
  }
  __device__ void operator()(Moon* moon) const {
    (*this)(static_cast<Body*>(moon));
    expect(kFirstOwn + 1, leads_to(moon->planet_.get(), moon->planet_id_));
  }
  __device__ void operator()(Rock* rock) const {
    expect(kFirstOwn + 2, rock->is_intact() && leads_to(rock->near_.get(), rock->near_id_));
  }
  __device__ void operator()(Watcher* watcher) const {
    expect(kFirstOwn + 3, leads_to(watcher->watched_.get(), watcher->watched_id_));
    expect(kFirstOwn + 4, watcher->self_ == watcher && watcher->short_self_ == watcher);
  }
  __device__ void operator()(Post* post) const { expect_guard(post); }
};

/// Whether a compressed pointer is the same as a pointer, also if the object is gone. It has 4 bits of its generation.
__device__ inline bool agree(const Thing* pointer, const Thing* compressed) {
  constexpr std::uint64_t kUnknown = std::uint64_t{0xf0} << 48;
  return ((reinterpret_cast<std::uint64_t>(pointer) ^ reinterpret_cast<std::uint64_t>(compressed)) & ~kUnknown) == 0;
}
struct CountDisagreeing {
  Counter* wrong;
  __device__ void operator()(Body* body) const {
    dynasoar::test::count_if(wrong[0], !agree(body->other_, body->short_other_));
    for (std::uint32_t i = 0; i < 2; ++i) {
      dynasoar::test::count_if(wrong[1], !agree(body->links_[i], body->short_links_[i]));
    }
  }
};

/// Sets keys.
struct SetKey {
  std::uint64_t seed;
  std::uint32_t modulus;  // 0: the numbers of the bodies; 1: all are equal
  __device__ void operator()(Body* body) const {
    body->key_ = modulus == 0 ? body->id_.get() : static_cast<std::uint32_t>(mixed(body->id_, seed) % modulus);
  }
};

struct NegativeKey {
  __device__ std::int64_t operator()(Body* body) const { return -std::int64_t{body->key_} * 0x100000001; }
};
struct ShortKey {
  __device__ std::int16_t operator()(Body* body) const { return static_cast<std::int16_t>(body->key_.get()); }
};

/// The key less 50, as a T.
template <class T>
struct KeyAround0 {
  __device__ T operator()(Body* body) const { return static_cast<T>(static_cast<std::int32_t>(body->key_) - 50); }
};

/// Numbers objects in the order in which one thread sees them.
struct NoteVisit {
  std::uint32_t* ids;
  std::uint32_t* next;
  __device__ void operator()(Body* body) const {
    if (!dynasoar::is_a<Moon>(body)) ids[(*next)++] = body->id_;
  }
};
struct VisitAll {
  NoteVisit note;
  __device__ void operator()(std::size_t) const { dynasoar::device_do<Body>(note); }
};

struct FindSeven {
  Body** found;
  __device__ void operator()(Body* body) const {
    if (body->id_ == 7u) *found = body;
  }
};
struct UseFound {
  Body** found;
  __device__ void operator()(std::size_t) const { (*found)->key_ = 1; }
};

class World : public NumberedWorld<AllocatorT, Thing, Post> {
 public:
  explicit World(std::uint32_t most, int threads = 4)
      : NumberedWorld(most, {.heap_bytes = 64 << 20, .threads = threads}) {}

  template <class T>
  void create(std::uint32_t count) {
    handle.parallel_new<T>(count, register_.data(), take_numbers(count));
  }

  /// Bodies, of which so many percent die, with others that point to them.
  void populate(std::uint32_t bodies, std::uint32_t percent) {
    create<Body>(bodies);
    create<Moon>(100);
    create<Rock>(200);
    handle.parallel_new<Watcher>(500);
    create_posts();
    handle.parallel_do<Body, &Body::die_if>(percent);
    register_anew();
    point();
  }

  void point() {
    const Point point{everybody()};
    handle.parallel_do<Body>(point);
    handle.parallel_do<Rock>(point);
    handle.parallel_do<Watcher>(point);
    handle.parallel_do<Post>(point);
  }

  template <class Key>
  void sort(Key key, const SortOptions& options = {}) {
    handle.sort<Body>(key, options, registered());
  }

  void check() { check_all<Check, Body, Rock, Watcher, Post>(); }

  /// Numbers of bodies that are no moons, and their keys, in the order of their places.
  std::vector<std::uint32_t> column(const std::string& name) {
    const Columns bodies = handle.columns<Body>();
    std::vector<std::uint32_t> values = bodies[name].as<std::uint32_t>();
    values.resize(values.size() - handle.count<Moon>());  // of the class that is listed later
    return values;
  }

  /// The order that a stable sort gives the bodies.
  template <class Less>
  std::vector<std::uint32_t> expected(const Less& less) {
    const std::vector<std::uint32_t> ids = column("id_"), keys = column("key_");
    std::vector<std::size_t> order(ids.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return less(keys[a], keys[b]); });
    std::vector<std::uint32_t> sorted;
    for (const std::size_t i : order) sorted.push_back(ids[i]);
    return sorted;
  }
  std::vector<std::uint32_t> expected() {
    return expected([](std::uint32_t a, std::uint32_t b) { return a < b; });
  }

  /// Numbers of bodies in the order in which device_do visits them.
  std::vector<std::uint32_t> visited() {
    handle.parallel_do<Watcher>([] __device__(Watcher*) {});
    DeviceArray<std::uint32_t> ids(handle.count<Body>() - handle.count<Moon>()), next(1);
    next.fill_bytes(0);
    handle.parallel_for(1, VisitAll{{ids.data(), next.data()}});
    handle.synchronize();
    return ids.download();
  }
};

TEST_CASE("objects lie in the order of their keys, keep their fields, and all pointers follow them") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kMost = 20000 / dynasoar::test::kSlowdown;
  for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 3}) {
    for (const std::uint32_t percent : {0, 40, 97}) {
      World world(kMost + 300, threads);
      world.populate(kMost, percent);
      for (const std::uint32_t modulus : {0xffffffffu, 7u, 1u, 0u}) {
        CAPTURE(threads);
        CAPTURE(percent);
        CAPTURE(modulus);
        world.handle.parallel_do<Body>(SetKey{seed, modulus});
        const std::vector<std::uint32_t> expected = world.expected();
        const Statistics before = world.handle.statistics();
        world.handle.sort<Body, &Body::key_>({}, world.registered());
        CHECK(world.column("id_") == expected);
        CHECK(world.visited() == expected);
        world.check();
        const Statistics after = world.handle.statistics();
        CHECK(after.types[1].objects == before.types[1].objects);
        CHECK(after.types[1].blocks == before.types[1].blocks);
        CHECK(after.types[1].created == before.types[1].created);
        CHECK(after.free_pages == before.free_pages);
      }
    }
  }
}

TEST_CASE("any number of objects, from none to a few full blocks and one more, is sorted in both directions") {
  for (const std::uint32_t count : {0u, 1u, 2u, 64u, 65u, 1024u, 1025u}) {
    CAPTURE(count);
    World world(count + 300);
    world.populate(count, 0);
    world.handle.parallel_do<Body>(SetKey{0, 0});
    const std::vector<std::uint32_t> ascending = world.expected();
    world.sort(dynasoar::detail::Method<&Body::key>{});
    CHECK(world.column("id_") == ascending);
    world.sort(NegativeKey{});
    CHECK(world.column("id_") == std::vector<std::uint32_t>(ascending.rbegin(), ascending.rend()));
    world.check();
    world.sort(ShortKey{});
    CHECK(world.column("id_") == ascending);
    world.check();
  }
}

TEST_CASE("negative keys come before 0 and positive ones, whatever their type") {
  World world(1300);
  const auto check = [&](auto key) {
    world.handle.parallel_do<Body>(SetKey{3, 0xffffffffu});  // another order before
    world.sort(dynasoar::detail::FieldValue<&Body::key_>{});
    world.handle.parallel_do<Body>(SetKey{7, 100});
    const std::vector<std::uint32_t> expected = world.expected();
    world.sort(key);
    CHECK(world.column("id_") == expected);
  };
  world.populate(1000, 0);
  check(KeyAround0<std::int8_t>{});
  check(KeyAround0<std::int16_t>{});
  check(KeyAround0<std::int32_t>{});
  check(KeyAround0<std::int64_t>{});
  world.check();
}

TEST_CASE("key_bits says how many of the lowest bits of the keys decide") {
  World world(3300);
  world.populate(3000, 0);
  world.handle.parallel_do<Body>(SetKey{1, 0xffffffffu});
  for (const int bits : {1, 5, 8, 11}) {
    CAPTURE(bits);
    const std::uint32_t mask = (1u << bits) - 1;
    const std::vector<std::uint32_t> expected =
        world.expected([mask](std::uint32_t a, std::uint32_t b) { return (a & mask) < (b & mask); });
    world.sort(dynasoar::detail::FieldValue<&Body::key_>{}, {.key_bits = bits});
    CHECK(world.column("id_") == expected);
  }
  CHECK_THROWS_WITH_AS(world.sort(ShortKey{}, {.key_bits = 65}), doctest::Contains("from 1 to 64"), Error);
  CHECK_THROWS_AS(world.sort(ShortKey{}, {.key_bits = -1}), Error);
  world.check();
}

TEST_CASE("a heap is sorted between deletions, compactions and births") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kMost = 8000 / dynasoar::test::kSlowdown;
  World world(3 * kMost + 300);
  world.populate(kMost, 60);
  const auto pointers = world.registered();
  for (std::uint64_t round = 0; round < 4; ++round) {
    CAPTURE(round);
    if (round % 2 == 1) world.handle.compact<Body>({}, pointers);
    if (round == 2) world.create<Body>(2 * kMost);
    if (round == 2) world.point();
    world.handle.parallel_do<Body>(SetKey{seed + round, 1000});
    const std::vector<std::uint32_t> expected = world.expected();
    world.sort(dynasoar::detail::FieldValue<&Body::key_>{});
    world.check();
    CHECK(world.column("id_") == expected);
    world.handle.compact<Thing>({}, pointers);
    world.check();
  }
}

TEST_CASE("the order is the same for any number of threads, and survives a checkpoint") {
  const TestFolder folder;
  const std::string unsorted = folder / "unsorted", sorted = folder / "sorted";
  constexpr std::uint32_t kMost = 6000 / dynasoar::test::kSlowdown;
  {
    World world(kMost + 300, 1);
    world.populate(kMost, 30);
    world.handle.parallel_do<Body>(SetKey{5, 50});
    world.handle.save(unsorted);
  }
  std::vector<std::vector<std::uint32_t>> orders;
  std::vector<std::uint64_t> others;
  for (const int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    World world(kMost + 300, threads);
    world.handle.load(unsorted);
    world.handle.sort<Body, &Body::key_>();
    orders.push_back(world.visited());
    const std::vector<std::uint64_t> pointers = world.handle.columns<Body>()["other_"].as<std::uint64_t>();
    if (others.empty()) others = pointers;
    CHECK(pointers == others);
    world.handle.save(sorted);
  }
  CHECK(orders == std::vector<std::vector<std::uint32_t>>(4, orders[0]));
  World world(kMost + 300, 5);
  world.handle.load(sorted);
  CHECK(world.visited() == orders[0]);
  CHECK(world.expected() == orders[0]);
  CHECK(heap_errors(world.handle) == "");
}

TEST_CASE("kept lists stay valid, and are in the order of the keys") {
  World world(5300);
  world.populate(5000, 50);
  world.handle.parallel_do<Body>(SetKey{3, 0xffffffffu});
  const std::vector<std::uint32_t> expected = world.expected();
  const auto kept = world.handle.keep_lists();
  world.sort(dynasoar::detail::FieldValue<&Body::key_>{});
  CHECK(world.visited() == expected);
  world.check();
}

TEST_CASE("pointers to deleted objects stay as they are") {
  World world(2300);
  world.create<Body>(2000);
  world.handle.parallel_do<Body, &Body::die_if>(50u);
  world.handle.parallel_do<Body>(SetKey{4, 0xffffffffu});
  const std::vector<std::uint32_t> living = world.column("id_");
  CHECK(living.size() > 500);
  CHECK(living.size() < 1500);
  std::vector<Thing*> before = world.pointers();
  world.sort(dynasoar::detail::FieldValue<&Body::key_>{});
  std::vector<Thing*> after = world.pointers();
  CHECK(after != before);
  for (const std::uint32_t id : living) before[id] = after[id] = nullptr;
  CHECK(after == before);
}

TEST_CASE("compressed pointers of a class to itself follow a sort") {
  World world(2300);
  world.populate(2000, 50);
  world.handle.sort<Watcher, &Watcher::watched_id_>();
  const std::vector<std::uint32_t> keys = world.handle.columns<Watcher>()["watched_id_"].as<std::uint32_t>();
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(keys.front() != keys.back());
  world.check();
}

TEST_CASE("compressed pointers to deleted objects stay as they are, as pointers do, also where others took the slots") {
  for (const std::uint32_t born : {0u, 1000u}) {
    CAPTURE(born);
    World world(3300);
    world.create<Body>(2000);
    world.point();
    world.handle.parallel_do<Body, &Body::die_if>(50u);
    world.create<Body>(born);
    world.handle.parallel_do<Body>(SetKey{4, 0xffffffffu});
    world.sort(dynasoar::detail::FieldValue<&Body::key_>{});
    Counters wrong(2);
    world.handle.parallel_do<Body>(CountDisagreeing{wrong.data()});
    world.handle.synchronize();
    CHECK(wrong.values() == std::vector<std::uint64_t>(2));
  }
}

TEST_CASE("pointers that a sort is not told of become stale, and stale pointers stay stale") {
  if constexpr (dynasoar::kChecked) {
    World world(1000);
    world.create<Body>(200);
    world.handle.parallel_do<Body>(SetKey{3, 0});
    DeviceArray<Body*> unknown(1), stale(1);
    const auto note = [&](const DeviceArray<Body*>& array) { world.handle.parallel_do<Body>(FindSeven{array.data()}); };
    const auto use = [&](const DeviceArray<Body*>& array) {
      world.handle.parallel_for(1, UseFound{array.data()});
      world.handle.synchronize();
    };
    note(stale);
    world.sort(NegativeKey{});
    note(unknown);
    use(unknown);
    CHECK_THROWS_AS(use(stale), MisuseError);
    world.handle.sort<Body>(ShortKey{}, {}, dynasoar::pointers(stale.data(), 1));
    CHECK_THROWS_AS(use(stale), MisuseError);
    CHECK_THROWS_AS(use(unknown), MisuseError);
  }
}

TEST_CASE("arrays of pointers that overlap are refused, because each pointer would be updated twice") {
  World world(400);
  world.populate(100, 0);
  dynasoar::DeviceArray<Body*> array(4);
  array.fill_bytes(0);
  Body** const all = array.data();
  const auto sort = [&](Body** one, std::size_t ones, Body** other, std::size_t others) {
    world.handle.sort<Body>(ShortKey{}, {}, dynasoar::pointers(one, ones), dynasoar::pointers(other, others));
  };
  CHECK_THROWS_WITH_AS(sort(all, 4, all, 4), doctest::Contains("overlap"), Error);
  CHECK_THROWS_WITH_AS(sort(all, 4, all + 3, 1), doctest::Contains("overlap"), Error);
  CHECK_THROWS_WITH_AS(sort(all + 1, 2, all, 2), doctest::Contains("overlap"), Error);
  sort(all, 2, all + 2, 2);
  sort(all, 4, all + 1, 0);
}

#if !DYNASOAR_CUDA_BACKEND
TEST_CASE("code that a loop runs cannot sort") {
  World world(400);
  world.populate(100, 0);
  CHECK_THROWS_WITH_AS(world.handle.parallel_for(1, [&](std::size_t) { world.handle.sort<Body, &Body::key_>(); }),
                       doctest::Contains("between loops"), Error);
  world.sort(NegativeKey{});
  world.check();
}
#endif

class Pearl;
using PiecesT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Pearl>;
class Pearl : public dynasoar::SoaBase<PiecesT> {
 public:
  DYNASOAR_FIELDS(Pearl, (size_, std::uint32_t))
  __device__ explicit Pearl(std::size_t index) : size_(static_cast<std::uint32_t>(1000 - index)) {}
};

TEST_CASE("objects of an AosAllocator stay where they are") {
  AllocatorHandle<PiecesT> handle({.heap_bytes = 16 << 20, .threads = 2});
  handle.parallel_new<Pearl>(1000);
  const auto before = handle.columns<Pearl>()["size_"].as<std::uint32_t>();
  handle.sort<&Pearl::size_>();
  CHECK(handle.columns<Pearl>()["size_"].as<std::uint32_t>() == before);
}

}  // namespace sort_test
