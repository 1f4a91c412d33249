// Become in device code: objects change their class, and keep the fields of the nearest common base.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "become_classes.h"

namespace become_test {

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
