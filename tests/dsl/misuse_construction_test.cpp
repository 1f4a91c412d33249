// Checked builds: constructors that create objects, destructors that destroy them, and creation that fails where a test
// says so.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/thrown.h"
#include "watched_heap.h"

namespace misuse_test {

using dynasoar::test::thrown;

class Twig;
class Nest;
class Clinger;
using TreeAllocator = dynasoar::SoaAllocator<Twig, Nest, Clinger>;

class Part : public dynasoar::SoaBase<TreeAllocator> {
 public:
  DYNASOAR_FIELDS(Part, (value_, int))
  __device__ explicit Part(int value) : value_(value) {}
  __device__ void add_one() { ++value_; }
};

class Twig : public Part {
 public:
  using BaseClass = Part;
  DYNASOAR_FIELDS(Twig, (leaves_, std::array<int, 4>))
  __device__ explicit Twig(int value) : Part(value) { leaves_.fill(value); }
  __device__ void throw_away_a_new_one() { dynasoar::destroy(dynasoar::make_new<Twig>(0)); }
  __device__ void vanish() { dynasoar::destroy(this); }
};

/// Its constructor makes another one, `depth` times; without end if that is negative.
class Nest : public Part {
 public:
  using BaseClass = Part;
  DYNASOAR_FIELDS(Nest, (inner_, Nest*))
  __device__ explicit Nest(int depth) : Part(depth) {
    inner_ = depth == 0 ? nullptr : dynasoar::make_new<Nest>(depth - 1);
  }
};

/// Its destructor destroys it again.
class Clinger : public Part {
 public:
  using BaseClass = Part;
  DYNASOAR_FIELDS(Clinger)
  __device__ explicit Clinger(int value) : Part(value) {}
  __device__ ~Clinger() { dynasoar::destroy(this); }
};

struct AddOne {
  __device__ void operator()(Part* part, int) const { part->value_ = part->value_ + 1; }
};

using Tree = WatchedHeap<TreeAllocator, Part>;

TEST_CASE("correct use is not reported, and null may be destroyed") {
  Tree tree(1000, {}, 24);  // room for twice as many: each may have its new one at the same time
  tree.run<Destroy>();      // all null
  tree.run<Make<Twig>>(5);
  tree.run<AddOne>();
  tree.handle.parallel_do<Part, &Part::add_one>();
  tree.handle.parallel_do<&Twig::throw_away_a_new_one>();
  CHECK(tree.handle.sum<&Part::value_>() == 7000);
  tree.handle.parallel_do<&Twig::vanish>();
  CHECK(tree.handle.count<Part>() == 0);
  CHECK(tree.reports().empty());
}

TEST_CASE("constructors may create objects, but not without end") {
  Tree tree(10, {}, 64);
  tree.run<Make<Nest>>(3);
  CHECK(tree.handle.count<Nest>() == 40);
  constexpr std::uint64_t kDeepest = dynasoar::kCudaBackend ? 8 : 1000;
  tree.run<Make<Nest>>(-1);
  CHECK(says(tree.only(Misuse::nested_construction, 10),
             "Nest: make_new called in constructors that are nested too deeply, 10 times. Create"));
  CHECK(tree.handle.count<Nest>() == 40 + 10 * kDeepest);
}

TEST_CASE("a destructor that destroys its own object does it no harm") {
  Tree tree(3);
  tree.run<Make<Clinger>>(1);
  tree.run<Destroy>();
  tree.only(Misuse::double_destroy, 3);
  CHECK(tree.handle.count<Clinger>() == 0);
}

TEST_CASE("chosen allocations fail, and everything else goes on") {
  Tree tree(100, {.first = 10, .every = 5});
  tree.run<Make<Twig>>(1);
  const auto error = thrown<AllocationError>([&] { tree.handle.synchronize(); });
  CHECK(error.failures() == 19);  // 10, 15, ..., 100
  CHECK(std::string(error.what()).find("Twig: make_new failed 19 times, as asked for by failing_allocations") !=
        std::string::npos);
  CHECK(tree.handle.count<Twig>() == 81);
  CHECK(tree.handle.statistics().types[0].refused_on_request == 19);
}

TEST_CASE("a constructor whose own allocation fails makes an object all the same") {
  for (std::uint64_t failing = 1; failing <= 5; ++failing) {
    Tree tree(1, {.first = failing});
    tree.run<Make<Nest>>(3);  // four, one in another
    if (failing > 4) {
      CHECK(tree.handle.count<Nest>() == 4);
    } else {
      CHECK_THROWS_AS(tree.handle.synchronize(), AllocationError);
      CHECK(tree.handle.count<Nest>() == failing - 1);
    }
  }
}

TEST_CASE("wherever allocations fail, nothing but what they would have made is missing") {
  for (std::uint64_t first = 1; first <= 100; first += 9) {
    for (std::uint64_t every : {0, 1, 2, 7}) {
      CAPTURE(first);
      CAPTURE(every);
      Tree tree(50, {.first = first, .every = every}, 8);
      const auto synchronize = [&] {
        try {
          tree.handle.synchronize();
        } catch (const AllocationError&) {
        }
      };
      tree.run<Make<Twig>>(1);  // 50
      std::uint64_t twigs = 0;
      for (const Part* twig : tree.pointers()) twigs += twig != nullptr ? 1 : 0;
      tree.handle.parallel_do<&Twig::throw_away_a_new_one>();
      tree.run<Destroy>();
      tree.run<Make<Nest>>(2);  // at most 50 times three
      synchronize();
      const dynasoar::Statistics statistics = tree.handle.statistics();
      const std::uint64_t nests = tree.handle.count<Nest>();
      CHECK(tree.handle.count<Part>() == nests);  // no twig is left
      CHECK(statistics.created() == 50 + twigs - statistics.types[0].refused() + statistics.types[1].created.value());
      CHECK(statistics.refused() > 0);
      CHECK(dynasoar::test::heap_errors(tree.handle) == "");
    }
  }
}

}  // namespace misuse_test
