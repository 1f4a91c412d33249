// Become: objects change their class, keep the fields of the nearest common base, and nothing is lost.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"

namespace become_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Stone;
class Cell;
class StemCell;
class Tumour;
class Watcher;
class Post;
using AllocatorT = dynasoar::SoaAllocator<Stone, Cell, StemCell, Tumour, Watcher, Post>;
using HandleT = AllocatorHandle<AllocatorT>;

__host__ __device__ inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return dynasoar::test::Random::of(a, b).next();
}

/// What the fields of an object hold follows from its number, and whether it was created with it.
__host__ __device__ inline std::uint32_t value_of(std::uint32_t id, std::uint32_t field) {
  return static_cast<std::uint32_t>(mixed(id, field));
}

constexpr std::uint32_t kNobody = 0xffffffff;  // the number that constructors give to objects which are to get another

/// A base class that is not listed. Objects have numbers, and store the numbers of the objects that they point to.
class Thing : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Links = std::array<Thing*, 2>;
  using ShortLinks = std::array<CompressedPointer<Thing>, 2>;
  using Sizes = std::array<std::uint16_t, 3>;
  DYNASOAR_FIELDS(Thing, (tag_, std::uint8_t), (id_, std::uint32_t), (other_, Thing*), (other_id_, std::uint32_t),
                  (short_other_, CompressedPointer<Thing>), (links_, Links), (link_ids_, std::array<std::uint32_t, 2>),
                  (short_links_, ShortLinks), (sizes_, Sizes), (self_, Thing*))
  __device__ explicit Thing(std::uint32_t id)
      : tag_(static_cast<std::uint8_t>(value_of(id, 1))),
        id_(id),
        other_(nullptr),
        other_id_(0u),
        short_other_(nullptr),
        self_(this) {
    links_.fill(nullptr);
    short_links_.fill(nullptr);
    link_ids_.fill(0);
    for (std::uint32_t i = 0; i < 3; ++i) sizes_[i] = static_cast<std::uint16_t>(value_of(id, 2 + i));
  }
  __device__ bool is_intact() const {
    bool intact = tag_ == static_cast<std::uint8_t>(value_of(id_, 1));
    for (std::uint32_t i = 0; i < 3; ++i) {
      intact = intact && sizes_[i] == static_cast<std::uint16_t>(value_of(id_, 2 + i));
    }
    return intact;
  }
};

class Stone : public Thing {
 public:
  using BaseClass = Thing;
  DYNASOAR_FIELDS(Stone, (mass_, double))
  __device__ explicit Stone(std::uint32_t id) : Thing(id), mass_(id + 0.5) {}
  __device__ Stone(std::size_t index, std::uint32_t first) : Stone(static_cast<std::uint32_t>(index) + first) {}
};

class Cell : public Thing {
 public:
  using BaseClass = Thing;
  using Speeds = std::array<float, 3>;
  DYNASOAR_FIELDS(Cell, (age_, std::uint32_t), (speeds_, Speeds), (died_, Counter*), (note_, int))
  __device__ explicit Cell(std::uint32_t id, Counter* died = nullptr) : Thing(id), age_(value_of(id, 9)), died_(died) {
    for (std::uint32_t i = 0; i < 3; ++i) speeds_[i] = static_cast<float>(value_of(id, 10 + i) % 1000);
  }
  __device__ Cell(std::size_t index, std::uint32_t first, Counter* died = nullptr)
      : Cell(static_cast<std::uint32_t>(index) + first, died) {}
  __device__ ~Cell() {
    if (died_ != nullptr) died_[0].fetch_add(1, Order::relaxed);
  }

  /// @param id   with which the fields that Cell declares were set
  __device__ bool has_fields_of(std::uint32_t id) const {
    bool intact = age_ == value_of(id, 9);
    for (std::uint32_t i = 0; i < 3; ++i) {
      intact = intact && speeds_[i] == static_cast<float>(value_of(id, 10 + i) % 1000);
    }
    return intact;
  }
  __device__ bool is_even() { return id_ % 2 == 0; }
};

class StemCell : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(StemCell, (potency_, std::uint8_t))
  __device__ explicit StemCell(std::uint32_t id, Counter* died = nullptr)
      : Cell(id, died), potency_(static_cast<std::uint8_t>(value_of(id, 20))) {}
  __device__ StemCell(std::size_t index, std::uint32_t first, Counter* died = nullptr)
      : StemCell(static_cast<std::uint32_t>(index) + first, died) {}
};

class Tumour : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Tumour, (grade_, int), (marks_, std::array<double, 5>))
  __device__ explicit Tumour(int grade, std::uint32_t id = kNobody) : Cell(id), grade_(grade) {
    marks_.fill(0.25 * grade);
    note_ = grade;  // other cells leave it unset
  }
  __device__ Tumour(std::size_t index, std::uint32_t first) : Tumour(0, static_cast<std::uint32_t>(index) + first) {}
  __device__ bool has_grade(int grade) const {
    bool holds = grade_ == grade;
    for (std::size_t i = 0; i < marks_.size(); ++i) holds = holds && marks_[i] == 0.25 * grade;
    return holds;
  }
};

/// Points to cells, also with pointers that cannot point to a stone.
class Watcher : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Watcher, (thing_, const Thing*), (thing_id_, std::uint32_t), (cell_, Cell*),
                  (cell_id_, std::uint32_t), (short_cell_, CompressedPointer<Cell>), (self_, Watcher*))
  __device__ explicit Watcher(std::size_t) : thing_(nullptr), thing_id_(0u), cell_(nullptr), cell_id_(0u) {
    short_cell_ = nullptr;
    self_ = this;
  }
};

class Post : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Post, (guard_, Thing*), (guard_id_, std::uint32_t), (short_guard_, CompressedPointer<Thing>))
  __device__ Post() : guard_(nullptr), guard_id_(0u), short_guard_(nullptr) {}
};

__device__ inline std::uint32_t id_of(const Thing* thing) {
  return thing == nullptr ? 0 : thing->id_.get();
}
__device__ inline bool is(const Thing* thing, std::uint32_t id) {
  return id_of(thing) == id && (thing == nullptr || thing->is_intact());
}

/// Pointers to all things, by number; null where there is none.
struct Register {
  Thing** things;
  std::uint32_t size;

  __device__ Thing* some(std::uint64_t chooser) const { return things[mixed(chooser, 7) % size]; }
  __device__ Cell* some_cell(std::uint64_t chooser) const {
    Thing* const found = some(chooser);
    return found == nullptr ? nullptr : dynasoar::cast<Cell>(found);
  }
};

/// Lets objects point to others.
struct Point {
  Register all;
  __device__ void operator()(Thing* thing) const {
    thing->other_ = all.some(thing->id_);
    thing->other_id_ = id_of(thing->other_);
    thing->short_other_ = thing->other_.get();
    for (std::uint32_t i = 0; i < 2; ++i) {
      thing->links_[i] = i == 0 ? thing : all.some(thing->id_ + 1);
      thing->link_ids_[i] = id_of(thing->links_[i]);
      thing->short_links_[i] = thing->links_[i];
    }
  }
  __device__ void operator()(Watcher* watcher) const {
    const auto number = reinterpret_cast<std::uint64_t>(watcher);
    watcher->thing_ = all.some(number);
    watcher->thing_id_ = id_of(watcher->thing_);
    watcher->cell_ = all.some_cell(number + 1);
    watcher->cell_id_ = id_of(watcher->cell_);
    watcher->short_cell_ = watcher->cell_.get();
  }
  __device__ void operator()(Post* post) const {
    post->guard_ = all.some(reinterpret_cast<std::uint64_t>(post));
    post->guard_id_ = id_of(post->guard_);
    post->short_guard_ = post->guard_.get();
  }
};

/// Counts what is not as `Point` has left it.
struct Check {
  Register all;
  Counter* wrong;
  __device__ void expect(std::uint32_t which, bool holds) const { dynasoar::test::count_if(wrong[which], !holds); }

  __device__ void operator()(Thing* thing) const {
    expect(0, thing->is_intact() && thing->self_ == thing);
    expect(1, all.things[thing->id_] == thing);
    expect(2, is(thing->other_, thing->other_id_));
    expect(3, is(thing->links_[0], thing->link_ids_[0]) && is(thing->links_[1], thing->link_ids_[1]));
    expect(4, thing->short_other_ == thing->other_);
    expect(5, thing->short_links_[0] == thing->links_[0] && thing->short_links_[1] == thing->links_[1]);
    expect(6, thing->links_[0] == thing);
  }
  __device__ void operator()(Watcher* watcher) const {
    expect(7, is(watcher->thing_, watcher->thing_id_));
    expect(8, is(watcher->cell_, watcher->cell_id_));
    expect(9, watcher->short_cell_ == watcher->cell_);
    expect(10, watcher->self_ == watcher);
  }
  __device__ void operator()(Post* post) const {
    expect(11, is(post->guard_, post->guard_id_) && post->short_guard_ == post->guard_);
  }
};

struct EverySecond {
  __device__ bool operator()(Thing* thing) const { return thing->id_ % 2 == 0; }
};
struct Chosen {
  std::uint64_t seed;
  std::uint32_t percent;
  __device__ bool operator()(Thing* thing) const { return mixed(thing->id_, seed) % 100 < percent; }
};

dynasoar::HandleOptions small_heap(int threads = 4) {
  return {.heap_bytes = std::size_t{16} << 20, .threads = threads};
}

/// Whether objects have the fields that they were created with; those of Cell are checked for cells.
std::uint64_t count_wrong(HandleT& handle, int grade) {
  Counters wrong(1);
  handle.parallel_do<Thing>([words = wrong.data(), grade] __device__(Thing * thing) {
    bool right = thing->is_intact() && thing->id_ != kNobody;
    if (const Cell* const cell = dynasoar::cast<Cell>(thing)) right = right && cell->has_fields_of(cell->id_);
    if (const Tumour* const tumour = dynasoar::cast<Tumour>(thing)) right = right && tumour->has_grade(grade);
    dynasoar::test::count_if(words[0], !right);
  });
  handle.synchronize();
  return wrong[0];
}

TEST_CASE("an object that becomes one of another class keeps all fields of the nearest common base") {
  HandleT handle(small_heap());
  handle.parallel_new<StemCell>(1000, 1u);
  Counters wrong(4);
  handle.parallel_do<StemCell>([words = wrong.data()] __device__(StemCell * cell) {
    const std::uint32_t id = cell->id_;
    cell->other_ = cell;
    cell->short_other_ = static_cast<Thing*>(cell);
    cell->links_[1] = cell;
    cell->link_ids_[1] = 77;
    const Thing* const before = cell;
    Tumour* const tumour = dynasoar::become<Tumour>(cell, 3);
    dynasoar::test::count_if(words[0], tumour == nullptr || !dynasoar::is_a<Tumour>(tumour));
    dynasoar::test::count_if(words[1], !tumour->has_fields_of(id) || tumour->id_ != id || !tumour->is_intact());
    dynasoar::test::count_if(words[2], !tumour->has_grade(3));
    const Thing* const now = tumour->short_other_;
    constexpr std::uint64_t kUnknown = std::uint64_t{0xff} << 48;  // generations, of which this one has a part
    const auto differ = reinterpret_cast<std::uint64_t>(now) ^ reinterpret_cast<std::uint64_t>(before);
    dynasoar::test::count_if(words[3], tumour->other_ != before || (differ & ~kUnknown) != 0 ||
                                           tumour->links_[1] != before || tumour->link_ids_[1] != 77 ||
                                           tumour->links_[0] != nullptr || tumour->self_ != before);
  });
  handle.synchronize();
  CHECK(wrong.values() == std::vector<std::uint64_t>(4));
  CHECK(handle.count<StemCell>() == 0);
  CHECK(handle.count<Tumour>() == 1000);
  CHECK(handle.count<Thing>() == 1000);
  CHECK(heap_errors(handle) == "");
}

TEST_CASE("objects become those of a base, of a subclass, and of a cousin") {
  HandleT handle(small_heap());
  handle.parallel_new<StemCell>(300, 1u);
  handle.parallel_new<Cell>(300, 1000u);
  handle.parallel_new<Stone>(300, 2000u);
  handle.parallel_do<Stone>([] __device__(Stone * stone) { dynasoar::become<Tumour>(stone, 5); });
  CHECK(handle.count<Tumour>() == 300);
  Counters wrong(1);
  handle.parallel_do<Tumour>([words = wrong.data()] __device__(Tumour * tumour) {
    // A stone has no fields of a cell, so those are the constructor's.
    dynasoar::test::count_if(words[0], !tumour->is_intact() || tumour->id_ < 2000u || !tumour->has_grade(5) ||
                                           !tumour->has_fields_of(kNobody));
  });
  handle.parallel_do<Tumour>(
      [] __device__(Tumour * tumour) { dynasoar::become<Stone>(tumour, std::uint32_t{kNobody}); });
  handle.parallel_do<Stone>([words = wrong.data()] __device__(Stone * stone) {
    dynasoar::test::count_if(words[0], !stone->is_intact() || stone->mass_ != kNobody + 0.5);
  });
  handle.parallel_do<StemCell>(
      [] __device__(StemCell * cell) { dynasoar::become<Cell>(cell, std::uint32_t{kNobody}); });
  CHECK(wrong[0] == 0);
  CHECK(handle.count<Cell>() == 600);
  CHECK(handle.count<StemCell>() == 0);
  CHECK(count_wrong(handle, 0) == 0);
  handle.parallel_do<Cell>([] __device__(Cell * cell) { dynasoar::become<StemCell>(cell, std::uint32_t{kNobody}); });
  CHECK(handle.count<StemCell>() == 600);
  CHECK(handle.count<Cell>() == 600);
  CHECK(count_wrong(handle, 0) == 0);
  CHECK(heap_errors(handle) == "");
}

TEST_CASE("through a pointer to a base class, what is kept follows from the object's own class") {
  HandleT handle(small_heap());
  handle.parallel_new<Stone>(400, 1u);
  handle.parallel_new<Cell>(400, 1000u);
  handle.parallel_new<StemCell>(400, 2000u);
  handle.parallel_new<Tumour>(400, 3000u);
  Counters results(4);
  handle.parallel_do<Thing>([words = results.data()] __device__(Thing * thing) {
    const std::uint32_t id = thing->id_;
    const bool was_cell = dynasoar::is_a<Cell>(thing);
    const bool was_tumour = dynasoar::is_a<Tumour>(thing);
    Tumour* const tumour = dynasoar::become<Tumour>(thing, 7);
    dynasoar::test::count_if(words[0], tumour == thing);
    dynasoar::test::count_if(words[1], tumour->id_ != id || !tumour->is_intact());
    dynasoar::test::count_if(words[2], !tumour->has_fields_of(was_cell ? id : kNobody));
    dynasoar::test::count_if(words[3], !tumour->has_grade(was_tumour ? 0 : 7));
  });
  handle.synchronize();
  CHECK(results.values() == std::vector<std::uint64_t>{400, 0, 0, 0});  // tumours are tumours already
  CHECK(handle.count<Tumour>() == 1600);
  CHECK(handle.count<Thing>() == 1600);
  CHECK(heap_errors(handle) == "");
}

TEST_CASE("the old object's destructor runs once, and null stays null") {
  HandleT handle(small_heap());
  Counters died(1);
  handle.parallel_new<Cell>(500, 1u, died.data());
  handle.parallel_do<Cell>([] __device__(Cell * cell) { dynasoar::become<Tumour>(cell, 1); });
  handle.synchronize();
  CHECK(died[0] == 500);
  Counters wrong(1);
  handle.parallel_for(10, [words = wrong.data()] __device__(std::size_t) {
    dynasoar::test::count_if(words[0], dynasoar::become<Tumour>(static_cast<Thing*>(nullptr), 1) != nullptr);
    dynasoar::test::count_if(words[0], dynasoar::become<Tumour>(static_cast<Cell*>(nullptr), 1) != nullptr);
  });
  handle.synchronize();
  CHECK(wrong[0] == 0);
  CHECK(handle.count<Tumour>() == 500);
  handle.parallel_do<Tumour>([] __device__(Tumour * tumour) { dynasoar::destroy(tumour); });
  handle.synchronize();
  CHECK(died[0] == 1000);  // the pointer to the counter is a field that was kept
}

TEST_CASE("a loop over a base class does not visit what its objects become") {
  HandleT handle(small_heap());
  handle.parallel_new<Cell>(2000, 1u);
  handle.parallel_new<Tumour>(100, 3000u);
  Counters visits(2);
  handle.parallel_do<Thing>([words = visits.data()] __device__(Thing * thing) {
    words[dynasoar::is_a<Tumour>(thing) ? 1 : 0].fetch_add(1, Order::relaxed);
    if (!dynasoar::is_a<Tumour>(thing)) dynasoar::become<Tumour>(thing, 0);
  });
  handle.synchronize();
  CHECK(visits.values() == std::vector<std::uint64_t>{2000, 100});
  CHECK(handle.count<Tumour>() == 2100);
}

TEST_CASE("in a full heap an object stays as it was, and the refusal is reported") {
  const std::size_t bytes = 1 << 19;
  HandleT handle({.heap_bytes = bytes, .on_refusal = OnRefusal::record, .threads = 2});
  handle.parallel_new<StemCell>(100'000, 1u);
  handle.synchronize();
  const std::uint64_t cells = handle.count<StemCell>();
  CHECK(cells < 100'000);
  Counters results(2);
  const auto become_tumours = [&] {
    handle.parallel_do<StemCell>([words = results.data()] __device__(StemCell * cell) {
      const std::uint32_t id = cell->id_;
      const Tumour* const tumour = dynasoar::become<Tumour>(cell, 2);
      dynasoar::test::count_if(words[0], tumour == nullptr);
      if (tumour == nullptr) dynasoar::test::count_if(words[1], cell->id_ != id || !cell->has_fields_of(id));
    });
  };
  const std::uint64_t before = handle.statistics().types[3].refused();
  become_tumours();
  handle.synchronize();
  CHECK(results[0] > 0);
  CHECK(results[1] == 0);
  CHECK(handle.statistics().types[3].refused() - before == results[0]);
  CHECK(handle.count<StemCell>() == results[0]);
  CHECK(handle.count<Thing>() == cells);
  CHECK(count_wrong(handle, 2) == 0);
  CHECK(heap_errors(handle) == "");
}

TEST_CASE("a loop of objects that become others is repeated when the heap has grown") {
  HandleT handle({.heap_bytes = 1 << 19, .heap_limit_bytes = 64 << 20, .threads = 3});
  constexpr std::uint32_t kCells = 20'000;
  handle.parallel_new<StemCell>(kCells, 1u);
  int rounds = 0;
  do {
    handle.parallel_do<StemCell>([] __device__(StemCell * cell) { dynasoar::become<Tumour>(cell, 4); });
    ++rounds;
  } while (handle.retry_with_growth());
  CHECK(rounds >= 1);
  CHECK(handle.count<StemCell>() == 0);
  CHECK(handle.count<Tumour>() == kCells);
  CHECK(count_wrong(handle, 4) == 0);
}

TEST_CASE("many threads let objects become others, again and again, and none is lost or doubled") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kThings = 30'000 / dynasoar::test::kSlowdown;
  HandleT handle({.heap_bytes = 32 << 20, .threads = 8});
  handle.parallel_new<Cell>(kThings / 3, 1u);
  handle.parallel_new<StemCell>(kThings / 3, 1 + kThings / 3);
  handle.parallel_new<Tumour>(kThings / 3, 1 + kThings / 3 * 2);
  for (std::uint64_t round = 0; round < 8; ++round) {
    handle.parallel_do<Cell>([seed, round] __device__(Cell * cell) {
      switch (mixed(cell->id_, seed + round) % 4) {
        case 0: dynasoar::become<StemCell>(cell, std::uint32_t{kNobody}); break;
        case 1: dynasoar::become<Tumour>(cell, 0); break;
        case 2: dynasoar::become<Cell>(cell, std::uint32_t{kNobody}); break;
        default: break;
      }
    });
    CAPTURE(round);
    CHECK(handle.count<Cell>() == kThings / 3 * 3);
    CHECK(count_wrong(handle, 0) == 0);
    CHECK(heap_errors(handle) == "");
    const auto ids = [&] {
      std::vector<std::uint32_t> all = handle.columns<Thing>()["id_"].as<std::uint32_t>();
      std::sort(all.begin(), all.end());
      return all;
    }();
    bool consecutive = true;
    for (std::size_t i = 0; i < ids.size(); ++i) consecutive = consecutive && ids[i] == i + 1;
    CHECK(consecutive);
  }
}

class World {
 public:
  explicit World(std::uint32_t most, const HandleOptions& options = {.heap_bytes = std::size_t{64} << 20, .threads = 4})
      : handle(options), posts(handle, {20, 10}), register_(most + 1) {
    register_.fill_bytes(0);
  }

  Register everybody() const { return {register_.data(), static_cast<std::uint32_t>(register_.size())}; }

  template <class T>
  void create(std::uint32_t count) {
    handle.parallel_new<T>(count, next_);
    next_ += count;
  }

  void populate(std::uint32_t each) {
    create<Stone>(each);
    create<Cell>(each);
    create<StemCell>(each);
    create<Tumour>(each);
    handle.parallel_new<Watcher>(each);
    posts.parallel_new<Post>([] __device__(dynasoar::Place) { return true; });
    register_anew();
    const Point point{everybody()};
    handle.parallel_do<Thing>(point);
    handle.parallel_do<Watcher>(point);
    handle.parallel_do<Post>(point);
  }

  void register_anew() {
    register_.fill_bytes(0);
    Thing** const all = register_.data();
    handle.parallel_do<Thing>([all] __device__(Thing * thing) { all[thing->id_] = thing; });
  }

  template <class From, class To, class F, class... Args>
  void become(F condition, const std::tuple<Args...>& arguments) {
    handle.become<From, To>(condition, arguments, dynasoar::pointers(register_.data(), register_.size()));
  }

  /// Whether everything is as it was pointed.
  /// @param stones   how many objects have become stones, to which pointers to cells cannot point
  void check(bool cells_are_cells = true) {
    Counters wrong(kWrongs);
    const Check check{everybody(), wrong.data()};
    handle.parallel_do<Thing>(check);
    if (cells_are_cells) handle.parallel_do<Watcher>(check);
    handle.parallel_do<Post>(check);
    handle.synchronize();
    CHECK(wrong.values() == std::vector<std::uint64_t>(kWrongs));
    CHECK(heap_errors(handle) == "");
  }

  /// The numbers of the objects of a class, in order.
  template <class T>
  std::vector<std::uint32_t> ids() {
    std::vector<std::uint32_t> all = handle.columns<T>()["id_"].template as<std::uint32_t>();
    std::sort(all.begin(), all.end());
    return all;
  }

  std::vector<Thing*> pointers() const { return register_.download(); }

  HandleT handle;
  Lattice<Post> posts;

 private:
  static constexpr std::size_t kWrongs = 12;

  DeviceArray<Thing*> register_;
  std::uint32_t next_ = 1;
};

TEST_CASE("all objects of a class for which a condition holds become others, and all pointers follow them") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kEach = 4000 / dynasoar::test::kSlowdown;
  for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 4}) {
    CAPTURE(threads);
    World world(4 * kEach, {.heap_bytes = std::size_t{64} << 20, .threads = threads});
    world.populate(kEach);
    world.check();
    for (const std::uint32_t percent : {30u, 0u, 60u, 100u}) {
      CAPTURE(percent);
      const Chosen chosen{seed + percent, percent};
      const std::uint64_t changing = world.handle.count_if<StemCell>(chosen);
      const std::uint64_t tumours = world.handle.count<Tumour>(), stem_cells = world.handle.count<StemCell>();
      std::vector<std::uint32_t> expected = world.ids<Tumour>();
      for (const std::uint32_t id : world.ids<StemCell>()) {
        if (mixed(id, seed + percent) % 100 < percent) expected.push_back(id);
      }
      std::sort(expected.begin(), expected.end());
      world.become<StemCell, Tumour>(chosen, std::tuple(0));
      CHECK(world.handle.count<Tumour>() == tumours + changing);
      CHECK(world.handle.count<StemCell>() == stem_cells - changing);
      CHECK(world.ids<Tumour>() == expected);
      world.check();
      CHECK(count_wrong(world.handle, 0) == 0);
    }
    CHECK(world.handle.count<StemCell>() == 0);
  }
}

TEST_CASE("objects go through several classes and between them through compaction and sort") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kEach = 2000 / dynasoar::test::kSlowdown;
  World world(4 * kEach);
  world.populate(kEach);
  const auto pointers = dynasoar::pointers(world.everybody().things, world.everybody().size);
  const std::vector<std::uint32_t> all = world.ids<Thing>();
  for (std::uint64_t round = 0; round < 4; ++round) {
    CAPTURE(round);
    world.become<Tumour, Cell>(Chosen{seed + round, 50}, std::tuple(std::uint32_t{kNobody}));  // a base
    world.check();
    world.become<Cell, StemCell>(Chosen{seed + 10 + round, 50}, std::tuple(std::uint32_t{kNobody}));  // a subclass
    world.check();
    world.become<StemCell, Tumour>(Chosen{seed + 20 + round, 50}, std::tuple(0));
    world.check();
    if (round % 2 == 0) world.handle.compact<Thing>({}, pointers);
    if (round % 2 == 1) world.handle.sort<Tumour, &Cell::age_>({}, pointers);
    world.check();
    CHECK(world.ids<Thing>() == all);
    CHECK(count_wrong(world.handle, 0) == 0);
  }
}

TEST_CASE("fields that cannot point to the new class keep the old pointers, and the others follow") {
  World world(4000);
  world.populate(1000);
  world.become<Cell, Stone>(EverySecond{}, std::tuple(std::uint32_t{kNobody}));
  CHECK(world.handle.count<Stone>() == 1500);
  world.check(false);
  Counters wrong(2);
  world.handle.parallel_do<Watcher>([words = wrong.data()] __device__(Watcher * watcher) {
    dynasoar::test::count_if(words[0], !is(watcher->thing_, watcher->thing_id_));
    const Thing* const pointer = watcher->cell_;
    // Not to a stone: its class is in the pointer, also in one that is stale.
    dynasoar::test::count_if(words[1], pointer != nullptr && dynasoar::is_a<Stone>(pointer));
  });
  world.handle.synchronize();
  CHECK(wrong.values() == std::vector<std::uint64_t>(2));
}

TEST_CASE("a method is the condition, and pointers that are not named stay as they are") {
  World world(400);
  world.populate(100);
  const std::vector<Thing*> before = world.pointers();
  world.handle.become<StemCell, Tumour, &Cell::is_even>(std::tuple(6));
  CHECK(world.pointers() == before);
  world.register_anew();
  world.check();
  CHECK(world.handle.count<Tumour>() == 150);
  CHECK(world.handle.count_if<Tumour>([] __device__(Tumour * tumour) { return tumour->has_grade(6); }) == 50);
  world.handle.become<StemCell, Tumour>(EverySecond{}, std::tuple(1));  // there are none left
  CHECK(world.handle.count<Tumour>() == 150);
}

TEST_CASE("subclasses of the class stay what they are") {
  World world(400);
  world.populate(100);
  world.become<Cell, Tumour>(EverySecond{}, std::tuple(0));
  CHECK(world.handle.count<StemCell>() == 100);
  CHECK(world.handle.count<Tumour>() == 150);
  world.check();
}

TEST_CASE("where a full heap has no room, objects stay what they are with all pointers to them") {
  World world(100'000, {.heap_bytes = std::size_t{1} << 19, .on_refusal = OnRefusal::record, .threads = 4});
  world.populate(300);
  world.create<StemCell>(20'000);
  world.handle.synchronize();
  world.register_anew();
  world.handle.parallel_do<Thing>(Point{world.everybody()});
  const std::uint64_t refused = world.handle.statistics().types[3].refused();
  const std::vector<std::uint32_t> all = world.ids<Thing>();
  const std::uint64_t stem_cells = world.handle.count<StemCell>(), tumours = world.handle.count<Tumour>();
  world.become<StemCell, Tumour>(Chosen{1, 100}, std::tuple(0));
  const std::uint64_t left = world.handle.count<StemCell>();
  CHECK(left > 0);
  CHECK(left < stem_cells);
  CHECK(world.handle.count<Tumour>() == tumours + stem_cells - left);
  CHECK(world.handle.statistics().types[3].refused() - refused == left);
  CHECK(world.ids<Thing>() == all);
  world.check();
  CHECK(count_wrong(world.handle, 0) == 0);
}

TEST_CASE("a heap that can grow does so before objects become others") {
  HandleT handle({.heap_bytes = 1 << 19, .heap_limit_bytes = 64 << 20, .threads = 3});
  constexpr std::uint32_t kCells = 20'000;
  handle.parallel_new<StemCell>(kCells, 1u);
  handle.synchronize();
  const std::uint64_t growths = handle.statistics().growths;
  handle.become<StemCell, Tumour>(Chosen{1, 100}, std::tuple(8));
  handle.synchronize();  // throws if any was refused
  CHECK(handle.count<Tumour>() == kCells);
  CHECK(handle.statistics().growths > growths);
  CHECK(count_wrong(handle, 8) == 0);
}

TEST_CASE("a recorded step, code that a loop runs, and the scope of kept lists cannot do it") {
  World world(400);
  world.populate(50);
  const auto become = [&] { world.become<StemCell, Tumour>(EverySecond{}, std::tuple(0)); };
  CHECK_THROWS_WITH_AS(
      [&] {
        auto step = world.handle.record(become);
        step();
      }(),
      doctest::Contains("cannot wait"), Error);
#if !DYNASOAR_CUDA_BACKEND
  CHECK_THROWS_WITH_AS(world.handle.parallel_for(1, [&](std::size_t) { become(); }), doctest::Contains("between loops"),
                       Error);
#endif
  {
    const auto kept = world.handle.keep_lists();
    CHECK_THROWS_WITH_AS(become(), doctest::Contains("neither load nor become"), Error);
  }
  CHECK(world.handle.count<StemCell>() == 50);
  become();
  CHECK(world.handle.count<StemCell>() == 25);
  world.check();
}

struct Use {
  Thing** things;
  __device__ void operator()(std::size_t i) const { things[i]->tag_ = things[i]->tag_; }  // two accesses
};

struct BecomeTumour {
  Thing** things;
  __device__ void operator()(std::size_t i) const { dynasoar::become<Tumour>(things[i], 0); }
};

/// What a checked build says of a loop over the first `count` pointers of an array.
template <class F>
std::string misuse_of(HandleT& handle, std::size_t count, const F& function) {
  handle.parallel_for(count, function);
  try {
    handle.synchronize();
  } catch (const MisuseError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("pointers to an object that has become another one are stale, and a stale pointer cannot become anything") {
  if constexpr (dynasoar::kChecked) {
    HandleT handle(small_heap());
    DeviceArray<Thing*> old(10), now(10);
    handle.parallel_for(10, [old = old.data(), now = now.data()] __device__(std::size_t i) {
      old[i] = dynasoar::make_new<Cell>(static_cast<std::uint32_t>(i));
      now[i] = dynasoar::become<Tumour>(old[i], 0);
    });
    handle.synchronize();
    CHECK(misuse_of(handle, 10, Use{now.data()}) == "");
    CHECK(misuse_of(handle, 10, Use{old.data()}).find("accessed in an object that had been destroyed 20 times") !=
          std::string::npos);
    const std::string again = misuse_of(handle, 10, BecomeTumour{old.data()});
    CHECK(again.find("passed to become after it had been destroyed or had become another class, 10 times") !=
          std::string::npos);
    CHECK(handle.count<Thing>() == 10);
    CHECK(heap_errors(handle) == "");
  }
}

TEST_CASE(
    "of many threads that let one object become others, or destroy it, one does so, and the others are reported") {
  if constexpr (dynasoar::kChecked) {
    HandleT handle(small_heap(8));
    constexpr std::uint32_t kThings = 500 / dynasoar::test::kSlowdown;
    DeviceArray<Thing*> things(kThings);
    handle.parallel_for(kThings, [things = things.data()] __device__(std::size_t i) {
      things[i] = dynasoar::make_new<Cell>(static_cast<std::uint32_t>(i + 1));
    });
    Counters made(1);
    const std::string misuse = misuse_of(
        handle, std::size_t{16} * kThings, [things = things.data(), made = made.data()] __device__(std::size_t i) {
          if (i % 16 == 5) {
            dynasoar::destroy(things[i / 16]);
          } else {
            dynasoar::test::count_if(made[0], dynasoar::become<Tumour>(things[i / 16], 0) != nullptr);
          }
        });
    CHECK(misuse != "");
    CHECK(made[0] <= kThings);
    CHECK(handle.count<Thing>() == made[0]);
    CHECK(handle.count<Cell>() == handle.count<Tumour>());
    CHECK(heap_errors(handle) == "");
  }
}

TEST_CASE("an object may not let another one that the loop visits become anything, nor may host code") {
  if constexpr (dynasoar::kChecked) {
    HandleT handle(small_heap());
    DeviceArray<Thing*> things(2);
    things.fill_bytes(0);
    handle.parallel_new<Cell>(2, 0u);
    handle.parallel_do<Cell>([things = things.data()] __device__(Cell * cell) { things[cell->id_] = cell; });
    handle.parallel_do<Cell>(
        [things = things.data()] __device__(Cell * cell) { dynasoar::become<Tumour>(things[1 - cell->id_], 0); });
    CHECK_THROWS_WITH_AS(handle.synchronize(),
                         doctest::Contains("passed to become by another object in a loop that visits it 2 times"),
                         MisuseError);
    CHECK(handle.count<Tumour>() == 0);
#if !DYNASOAR_CUDA_BACKEND
    dynasoar::become<Tumour>(things.download()[0], 0);
    CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("become called in host code outside of a loop"),
                         MisuseError);
    CHECK(handle.count<Tumour>() == 0);
#endif
  }
}

TEST_CASE("an object that was refused can become another one later, and so can one on whose request one fails") {
  if constexpr (dynasoar::kChecked) {
    HandleT handle({.heap_bytes = std::size_t{16} << 20,
                    .on_refusal = OnRefusal::record,
                    .threads = 2,
                    .failing_allocations = {.first = 11, .every = 2}});
    handle.parallel_new<StemCell>(10, 1u);
    for (const std::uint64_t left : {5u, 3u, 1u}) {
      handle.parallel_do<StemCell>([] __device__(StemCell * cell) { dynasoar::become<Tumour>(cell, 9); });
      CHECK(handle.count<StemCell>() == left);
      CHECK(handle.count<Thing>() == 10);
      CHECK(count_wrong(handle, 9) == 0);
    }
  }
}

TEST_CASE("a field that was never set is found also after the object has become another one") {
  if constexpr (dynasoar::kChecked) {
    HandleT handle(small_heap());
    handle.parallel_new<StemCell>(5, 1u);
    handle.parallel_do<StemCell>([] __device__(StemCell * cell) { dynasoar::become<Tumour>(cell, 0); });
    handle.parallel_do<Tumour>([] __device__(Tumour * tumour) { tumour->age_ += 1; });
    handle.synchronize();
    handle.parallel_do<Tumour>([] __device__(Tumour * tumour) { tumour->note_ += 1; });
    CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("note_: read, but neither the constructor"),
                         MisuseError);
  }
}

TEST_CASE("pointers that were stale before objects became others stay stale") {
  if constexpr (dynasoar::kChecked) {
    HandleT handle(small_heap());
    DeviceArray<Thing*> things(100);
    Thing** const all = things.data();
    handle.parallel_for(100, [all] __device__(std::size_t i) {
      all[i] = dynasoar::make_new<Cell>(static_cast<std::uint32_t>(i));
      dynasoar::destroy(all[i]);
    });
    handle.parallel_new<Cell>(100, 1u);
    handle.become<Cell, Tumour>(Chosen{1, 100}, std::tuple(0), dynasoar::pointers(all, 100));
    CHECK(handle.count<Tumour>() == 100);
    CHECK(misuse_of(handle, 100, Use{all}).find("had been destroyed 200 times") != std::string::npos);
  }
}

class Clay;
class Pot;
using PiecesT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Clay, Pot>;
class Vessel : public dynasoar::SoaBase<PiecesT> {
 public:
  DYNASOAR_FIELDS(Vessel, (mark_, std::uint8_t), (size_, std::uint32_t), (sides_, std::array<double, 3>))
  __device__ explicit Vessel(std::uint32_t size) : mark_(static_cast<std::uint8_t>(size)), size_(size) {
    for (std::uint32_t i = 0; i < 3; ++i) sides_[i] = size + i;
  }
};
class Clay : public Vessel {
 public:
  using BaseClass = Vessel;
  DYNASOAR_FIELDS(Clay, (water_, double))
  __device__ explicit Clay(std::size_t index) : Vessel(static_cast<std::uint32_t>(index)), water_(0.5) {}
};
class Pot : public Vessel {
 public:
  using BaseClass = Vessel;
  DYNASOAR_FIELDS(Pot, (handles_, std::array<std::uint16_t, 2>))
  __device__ explicit Pot(std::uint16_t handles) : Vessel(kNobody) { handles_.fill(handles); }
};

TEST_CASE("objects of an AosAllocator become others in device code") {
  AllocatorHandle<PiecesT> handle({.heap_bytes = 16 << 20, .threads = 4});
  handle.parallel_new<Clay>(1000);
  handle.parallel_do<Clay>([] __device__(Clay * clay) {
    if (clay->size_ % 4 != 0u) dynasoar::become<Pot>(static_cast<Vessel*>(clay), std::uint16_t{2});
  });
  CHECK(handle.count<Pot>() == 750);
  CHECK(handle.count<Clay>() == 250);
  Counters wrong(1);
  handle.parallel_do<Pot>([words = wrong.data()] __device__(Pot * pot) {
    bool right = pot->mark_ == static_cast<std::uint8_t>(pot->size_) && pot->handles_[0] == 2 && pot->handles_[1] == 2;
    for (std::uint32_t i = 0; i < 3; ++i) right = right && pot->sides_[i] == pot->size_ + i;
    dynasoar::test::count_if(words[0], !right || pot->size_ % 4 == 0u);
  });
  handle.synchronize();
  CHECK(wrong[0] == 0);
}

}  // namespace become_test
