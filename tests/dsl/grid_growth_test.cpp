/// @file
/// UniformGrid and populations that outgrow it: it makes room, is complete or empty, and says so.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "grid_dish.h"

namespace grid_growth_test {

TEST_CASE("a population that multiplies by a hundred in a step is in the grid, where the host runs the loops") {
  if (dynasoar::detail::numbers_come_late) return;
  for (const int threads : {1, 4}) {
    CAPTURE(threads);
    Dish dish(0, 0, threads);
    dish.rebuild();
    CHECK(dish.found() == 0);
    dish.handle.parallel_new<Cell>(15);
    std::uint64_t cells = 15;
    std::uint64_t visits = 0;
    for (int step = 0; step < 3; ++step) {
      dish.rebuild();
      dish.visit();
      CHECK(dish.found() == cells);
      visits += cells;
      dish.multiply(step < 2 ? 100 : 1);
      cells *= step < 2 ? 100 : 1;
    }
    CHECK_NOTHROW(dish.handle.synchronize());
    CHECK(dish.handle.count<Cell>() == cells);
    CHECK(dish.visits() == visits);
    CHECK(dish.grid->capacity() >= cells);
  }
}

TEST_CASE("so it is in recorded steps") {
  if (dynasoar::detail::numbers_come_late) return;
  Dish dish(10);
  auto step = dish.handle.record([&] {
    dish.multiply(100);
    dish.rebuild();
    dish.visit();
  });
  step();
  step();
  CHECK_NOTHROW(dish.handle.synchronize());
  CHECK(dish.visits() == 1000 + 100000);
  CHECK(dish.found() == 100000);
}

TEST_CASE("what the host creates fits, from no objects on, though numbers come late") {
  const NumbersComeLate late;
  Dish dish(0);
  dish.rebuild();
  std::uint64_t visits = 0;
  std::uint64_t cells = 0;
  for (const std::size_t more : {1, 3000, 2000, 90000}) {
    dish.handle.parallel_new<Cell>(more);
    cells += more;
    dish.rebuild();
    dish.visit();
    visits += cells;
  }
  CHECK_NOTHROW(dish.handle.synchronize());
  CHECK(dish.visits() == visits);
  CHECK(dish.found() == cells);
}

TEST_CASE("a grid without room for all is empty, and the step can be repeated") {
  const NumbersComeLate late;
  Dish dish(20);
  dish.rebuild();
  dish.visit();
  dish.handle.synchronize();
  dish.multiply(100);
  int rounds = 0;
  do {
    ++rounds;
    dish.rebuild();
    dish.visit();
    CHECK(dish.found() == (rounds == 1 ? 0 : 2000));
  } while (dish.handle.retry_with_growth());
  CHECK(rounds == 2);
  CHECK(dish.visits() == 20 + 2000);
  CHECK(dish.handle.maximum<&Cell::visits_>() == 2u);
  CHECK_FALSE(dish.handle.retry_with_growth());
}

TEST_CASE("a full heap and a grid without room are answered together") {
  const NumbersComeLate late;
  Handle handle({.heap_bytes = std::size_t{1} << 18, .heap_limit_bytes = std::size_t{1} << 25, .threads = 4});
  handle.parallel_new<Cell>(200);
  Grid grid(handle, kSquare);
  handle.parallel_do<&Cell::want>(99u);
  int rounds = 0;
  do {
    ++rounds;
    handle.parallel_do<&Cell::multiply>();
    grid.rebuild<&Cell::seen, &Cell::number_>();
  } while (handle.retry_with_growth());
  CHECK(rounds > 1);
  grid.parallel_do<&Cell::visit>();
  CHECK(handle.sum<&Cell::visits_>() == 20000);
}

TEST_CASE("synchronize says that a grid had no room, and makes some") {
  const NumbersComeLate late;
  Dish dish(20);
  dish.multiply(100);
  dish.rebuild();
  dish.visit();
  const std::string text = message_of<dynasoar::Error>([&] { dish.handle.synchronize(); });
  CHECK(text.find("met 2000 objects, more than there was room for, so the grid was empty") != std::string::npos);
  CHECK(text.find("There is room for 4000 now: repeat the step") != std::string::npos);
  CHECK_NOTHROW(dish.handle.synchronize());
  CHECK(dish.found() == 0);  // until it is rebuilt
  CHECK(dish.visits() == 0);
  dish.rebuild();
  CHECK(dish.found() == 2000);
}

TEST_CASE("a handle that only records refusals does not throw for a grid either") {
  const NumbersComeLate late;
  Dish dish(20, 0, 4, dynasoar::OnRefusal::record);
  dish.multiply(100);
  dish.rebuild();
  CHECK_NOTHROW(dish.handle.synchronize());
  dish.rebuild();
  CHECK(dish.found() == 2000);
}

TEST_CASE("the next rebuild has room once the number has arrived, even without synchronize") {
  const NumbersComeLate late;
  Dish dish(20);
  dish.multiply(100);
  dish.rebuild();
  dish.handle.executor().wait();
  dish.rebuild();
  dish.visit();
  CHECK(dish.found() == 2000);
  CHECK(dish.grid->capacity() == 4000);
  CHECK(is_reported(dish, 2000));
  CHECK(dish.visits() == 2000);
}

TEST_CASE("that a grid was empty is reported once, whenever it has grown since") {
  const NumbersComeLate late;
  for (const int ahead : {1, 2, 3, 4}) {  // steps by which the host runs ahead
    for (const bool retries : {false, true}) {
      CAPTURE(ahead);
      CAPTURE(retries);
      Dish dish(20);
      dish.multiply(100);
      for (int step = 0; step < 4; ++step) {
        if (step >= ahead) {
          dish.handle.executor().wait();  // until the number has reached the host
          dish.handle.loops().before_replay(0);
        }
        dish.rebuild_as_recorded();
        dish.visit();
      }
      CHECK(dish.found() == (ahead < 4 ? 2000 : 0));
      if (retries) {
        CHECK(dish.handle.retry_with_growth());
        CHECK_FALSE(dish.handle.retry_with_growth());
      } else {
        CHECK(is_reported(dish, 2000));
      }
      CHECK_NOTHROW(dish.handle.synchronize());
      CHECK(dish.grid->capacity() == 4000);
      CHECK(dish.visits() == 2000u * static_cast<unsigned>(4 - ahead));
    }
  }
}

TEST_CASE("all grids that were empty are reported together") {
  const NumbersComeLate late;
  Dish dish(20);
  Grid other(dish.handle, kSquare);
  dish.multiply(60);
  dish.rebuild();
  dish.multiply(2);
  other.rebuild<&Cell::seen, &Cell::number_>();
  const std::string text = message_of<dynasoar::Error>([&] { dish.handle.synchronize(); });
  CHECK(text.find("met 1200 objects") != std::string::npos);
  CHECK(text.find("\ndynasoar: a rebuild of a UniformGrid has met 2400 objects") != std::string::npos);
  CHECK_NOTHROW(dish.handle.synchronize());
}

TEST_CASE("a grid does not grow with births where as many die") {
  const NumbersComeLate late;
  for (const bool records : {false, true}) {
    CAPTURE(records);
    Dish dish(0);
    for (int step = 0; step < 60; ++step) {
      dish.handle.parallel_do<&Cell::die_if_visited>(10u);
      dish.handle.parallel_new<Cell>(60);
      if (records) {
        dish.handle.loops().before_replay(0);
        dish.rebuild_as_recorded();
      } else {
        dish.rebuild();
      }
      dish.visit();
    }
    CHECK(dish.grid->capacity() == 1024);
    CHECK_NOTHROW(dish.handle.synchronize());
    CHECK(dish.found() == 600);
  }
}

TEST_CASE("births that the heap refuses do not let a grid grow") {
  const NumbersComeLate late;
  Handle handle({.heap_bytes = 1 << 18, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
  Grid grid(handle, kSquare);
  for (int step = 0; step < 50; ++step) {
    handle.parallel_new<Cell>(50000);
    grid.rebuild<&Cell::seen, &Cell::number_>();
  }
  CHECK_NOTHROW(handle.synchronize());
  CHECK(grid.capacity() <= 2 * handle.count<Cell>());
}

TEST_CASE("a view stays good while a recorded step lets the grid grow, until the next synchronize") {
  const NumbersComeLate late;
  Dish dish(300, 10000);
  dish.multiply(30);
  dish.rebuild();
  const View view = dish.grid->view();
  dish.handle.executor().wait();  // until the number has reached the host; synchronize() would make room, too
  dish.handle.loops().before_replay(0);
  REQUIRE(dish.grid->capacity() == 18000);
  std::vector<dynasoar::DeviceArray<Shown>> others;  // that would get memory given back
  for (int i = 0; i < 10; ++i) others.emplace_back(10000).fill_bytes(0xff);
  CHECK(dish.found(view) == 9000);
  CHECK(dish.found() == 9000);
}

TEST_CASE("a grid may grow in a step that is not recorded but called, as in checked builds") {
  if (dynasoar::detail::numbers_come_late) return;
  const NumbersComeLate late;
  Dish dish(0);
  auto step = dish.handle.record([&] {
    dish.handle.parallel_new<Cell>(2000);
    dish.rebuild();
    dish.visit();
  });
  step();
  step();
  CHECK_NOTHROW(dish.handle.synchronize());
  CHECK(dish.visits() == 2000 + 4000);
}

TEST_CASE("objects of a recorded parallel_new that do not fit are reported") {
  const NumbersComeLate late;
  Dish dish(0);
  auto step = dish.handle.record([&] {
    dish.handle.parallel_new<Cell>(2000);
    dish.rebuild_as_recorded();
  });
  step();
  CHECK(dish.found() == 0);
  CHECK(is_reported(dish, 2000));
}

#if !DYNASOAR_CUDA_BACKEND
TEST_CASE("a grid is empty after a rebuild that an exception has ended, and can be rebuilt") {
  for (const int at : {1, 100, 300, 301, 350, 600}) {  // of 300 calls that count, and 300 that give places
    CAPTURE(at);
    Dish dish(300);
    dish.rebuild();
    CHECK(dish.found() == 300);
    calls_until_failure = at;
    CHECK_THROWS_WITH_AS(dish.rebuild(), "given up", std::runtime_error);
    CHECK(dish.found() == 0);
    dish.visit();
    CHECK(dish.visits() == 0);
    dish.rebuild();
    CHECK(dish.found() == 300);
    dish.visit();
    CHECK(dish.visits() == 300);
    CHECK(dish.handle.maximum<&Cell::visits_>() == 1u);
  }
}
#endif

TEST_CASE("the next recorded step has room, and one that only looks at the grid finds what was in it") {
  const NumbersComeLate late;
  Dish dish(20);
  auto look = dish.handle.record([&] { dish.grid->parallel_do<&Cell::look>(); });
  auto step = dish.handle.record([&] {
    dish.rebuild();
    dish.visit();
  });
  step();
  dish.handle.executor().wait();
  dish.multiply(40);  // 800 of 1024: fits, but it is time to grow
  step();
  dish.handle.executor().wait();  // until the number has reached the host; synchronize() would make room, too
  CHECK(dish.grid->capacity() == 1024);
  dish.handle.loops().before_replay(0);  // what a step does first on a GPU
  CHECK(dish.grid->capacity() == 1600);
  look();
  CHECK(dish.handle.minimum<&Cell::near_>() == 800u);
  dish.multiply(10);
  step();  // does not fit
  dish.handle.executor().wait();
  step();
  CHECK(is_reported(dish, 8000));
  CHECK(dish.visits() == 20 + 800 + 8000);
}

TEST_CASE("a grid that is gone reports nothing more") {
  const NumbersComeLate late;
  Dish dish(20);
  dish.multiply(100);
  dish.rebuild();
  dish.grid.reset();
  CHECK_NOTHROW(dish.handle.synchronize());
}

}  // namespace grid_growth_test
