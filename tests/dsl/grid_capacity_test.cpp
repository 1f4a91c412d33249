/// @file
/// How many objects UniformGrid makes room for, in good time, after a checkpoint, and where memory is short.

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "grid_dish.h"
#include "test_folder.h"

namespace grid_growth_test {

/// Leaves the process so few more addresses that no large array fits.
class NoMemory {
 public:
  NoMemory() {
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit tight{pages * 4096 + (rlim_t{1} << 19), before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
    hogs_.reserve(1000);
    while (hogs_.size() < 1000) {  // what was freed before
      void* const hog = std::malloc(std::size_t{1} << 18);
      if (hog == nullptr) break;
      hogs_.push_back(hog);
    }
  }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory() {
    setrlimit(RLIMIT_AS, &before_);
    for (void* hog : hogs_) std::free(hog);
  }

 private:
  std::vector<void*> hogs_;
  rlimit before_{};
};

/// On a GPU memory is not the host's, and sanitizers need addresses.
bool can_lack_memory() {
  return !dynasoar::detail::numbers_come_late && dynasoar::test::kSlowdown == 1;
}

TEST_CASE("without memory for a grid, a rebuild says so, and nothing is lost") {
  if (!can_lack_memory()) return;
  Dish dish(100);
  dish.rebuild();
  dish.multiply(1000);
  {
    const NoMemory now;
    const std::string text = message_of<dynasoar::Error>([&] { dish.rebuild(); });
    CHECK(text.find("no memory for a UniformGrid of 100000 objects, which takes 5600000 bytes") != std::string::npos);
  }
  CHECK(dish.found() == 0);
  dish.visit();
  CHECK(dish.visits() == 0);
  CHECK(dish.handle.count<Cell>() == 100000);
  dish.rebuild();
  CHECK(dish.found() == 100000);
  dish.visit();
  CHECK(dish.visits() == 100000);
}

TEST_CASE("without memory for a grid that had no room, synchronize says so once for every rebuild") {
  if (!can_lack_memory()) return;
  const NumbersComeLate late;
  Dish dish(100);
  dish.multiply(1000);
  for (int again = 0; again < 2; ++again) {
    const NoMemory now;
    const auto rebuild_and_say = [&] {
      dish.rebuild();
      return message_of<dynasoar::Error>([&] { dish.handle.synchronize(); });
    };
    CHECK(rebuild_and_say().find("no memory for a UniformGrid of 100000 objects") != std::string::npos);
    CHECK_NOTHROW(dish.handle.synchronize());
    CHECK(dish.handle.count<Cell>() == 100000);
    dish.rebuild();
    CHECK_THROWS_AS(dish.handle.retry_with_growth(), dynasoar::Error);
    CHECK_FALSE(dish.handle.retry_with_growth());
  }
  CHECK(dish.found() == 0);
  dish.rebuild();
  CHECK(dish.found() == 100000);
  CHECK_NOTHROW(dish.handle.synchronize());
}

TEST_CASE("without memory to grow in good time, what fits is in the grid") {
  if (!can_lack_memory()) return;
  Dish dish(100000, 110000);
  {
    const NoMemory now;
    dish.rebuild();
    CHECK_NOTHROW(dish.handle.synchronize());
    CHECK(dish.grid->capacity() == 110000);
  }
  CHECK(dish.found() == 100000);
}

TEST_CASE("a grid has room for the objects of a checkpoint, and is empty until it is rebuilt") {
  const NumbersComeLate late;
  const dynasoar::test::TestFolder folder;  // other tests run at the same time
  const std::string path = folder / "cells";
  {
    Handle handle({.heap_bytes = 32 << 20});
    handle.parallel_new<Cell>(5000);
    handle.save(path);
  }
  Dish dish(2000, 1500);
  dish.grid.emplace(dish.handle, with_capacity(1));
  dish.multiply(5);
  dish.rebuild();  // does not fit, which the loaded run has nothing to do with
  dish.handle.load(path);
  CHECK(dish.found() == 0);
  CHECK_NOTHROW(dish.handle.synchronize());
  dish.rebuild();
  dish.visit();
  CHECK_NOTHROW(dish.handle.synchronize());
  CHECK(dish.found() == 5000);
  CHECK(dish.visits() == 5000);
}

TEST_CASE("a grid has room for twice as many objects as there are, and for 1024 at least") {
  CHECK(Dish(0).grid->capacity() == 1024);
  CHECK(Dish(512).grid->capacity() == 1024);
  Dish dish(513);
  CHECK(dish.grid->capacity() == 1026);
  const std::size_t needed = 8 * 64 + 1026 * (2 * sizeof(Shown) + 24);
  CHECK(dish.grid->bytes() >= needed);
  CHECK(dish.grid->bytes() <= needed + 1024);
}

TEST_CASE("a grid grows once more than three quarters are needed") {
  struct Case {
    std::size_t capacity, afterwards;
  };
  for (const Case& example : {Case{1000, 2000}, {1332, 2000}, {1333, 1333}, {600, 2000}}) {
    CAPTURE(example.capacity);
    Dish dish(1000, example.capacity);
    CHECK(dish.grid->capacity() == example.capacity);
    dish.rebuild();
    CHECK(dish.found() == 1000);
    CHECK_NOTHROW(dish.handle.synchronize());
    CHECK(dish.grid->capacity() == example.afterwards);
    CHECK(dish.found() == 1000);
  }
}

TEST_CASE("a grid that is full exactly is not too small") {
  const NumbersComeLate late;
  Dish dish(20, 2000);
  dish.multiply(100);
  dish.rebuild();
  CHECK(dish.found() == 2000);
  CHECK(dish.grid->capacity() == 2000);
  CHECK_NOTHROW(dish.handle.synchronize());
  CHECK(dish.grid->capacity() == 4000);
  CHECK(dish.found() == 2000);
}

}  // namespace grid_growth_test
