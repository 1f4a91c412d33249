// Steps: loops that are recorded once and run again and again; and lists of objects that several loops share.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "layouts.h"
#include "record_and_run.h"

namespace recorded_steps_test {

using namespace dynasoar;
using namespace dynasoar::test;

/// Cells that grow, divide and die.
template <class Layout>
struct World {
  class Cell;
  using AllocatorT = typename Layout::template Allocator<Cell>;

  class Cell : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Cell, (number_, std::uint32_t), (age_, std::uint32_t))

    __device__ explicit Cell(std::size_t number) : number_(static_cast<std::uint32_t>(number)), age_(0u) {}
    __device__ void grow(std::uint32_t years) { age_ += years; }
    __device__ void divide() {
      if (age_ % 3 == number_ % 3) dynasoar::make_new<Cell>(static_cast<std::size_t>(number_) + 1);
    }
    __device__ void die() {
      if (age_ > 3 + number_ % 2) dynasoar::destroy(this);
    }
    __device__ void count(Counter* totals) {
      totals[0].fetch_add(1, dynasoar::Order::relaxed);
      totals[1].fetch_add(number_ + 1000 * age_, dynasoar::Order::relaxed);
    }
  };
};

/// What a loop finds: the number of cells, and a sum of what they are.
template <class Handle, class Cell>
std::pair<std::uint64_t, std::uint64_t> look(Handle& handle) {
  Counters totals(2);
  handle.template parallel_do<&Cell::count>(totals.data());
  handle.synchronize();
  return {totals[0], totals[1]};
}

template <class Handle, class Cell>
void submit_step(Handle& handle) {
  handle.template parallel_do<&Cell::grow>(1u);
  handle.template parallel_do<&Cell::divide>();
  handle.template parallel_do<&Cell::die>();
}

TEST_CASE_TEMPLATE("a recorded step does what its loops do, where they create and delete objects", Layout, InArrays,
                   InOnePiece) {
  using Cell = typename World<Layout>::Cell;
  using Handle = AllocatorHandle<typename World<Layout>::AllocatorT>;
  constexpr int kSteps = 12;
  const auto options = dynasoar::HandleOptions{.heap_bytes = 16 << 20, .threads = 4};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
  {
    Handle handle(options);
    handle.template parallel_new<Cell>(1000);
    for (int i = 0; i < kSteps; ++i) {
      submit_step<Handle, Cell>(handle);
      expected.push_back(look<Handle, Cell>(handle));
    }
  }
  CHECK(expected.back().first > 0);
  CHECK(expected.back().first != expected.front().first);
  {
    Handle handle(options);
    auto step = handle.record([&] { submit_step<Handle, Cell>(handle); });  // before anything else is run
    handle.template parallel_new<Cell>(1000);
    for (int i = 0; i < kSteps; ++i) {
      CAPTURE(i);
      step();
      CHECK(look<Handle, Cell>(handle) == expected[static_cast<std::size_t>(i)]);
    }
  }
  {
    // Without the host in between, and creation recorded as well.
    Handle handle(options);
    auto start = handle.record([&] { handle.template parallel_new<Cell>(1000); });
    auto step = handle.record([&] { submit_step<Handle, Cell>(handle); });
    CHECK(handle.template count<Cell>() == 0);  // recording runs nothing
    start();
    for (int i = 0; i < kSteps; ++i) step();
    CHECK(look<Handle, Cell>(handle) == expected.back());
  }
}

using Cell = World<InArrays>::Cell;
using Handle = AllocatorHandle<World<InArrays>::AllocatorT>;

TEST_CASE("a step that waits, or throws, is an error, and the handle can still be used") {
  Handle handle({.heap_bytes = 16 << 20, .threads = 4});
  handle.parallel_new<Cell>(100);
  CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { handle.synchronize(); }),
                       doctest::Contains("a recorded step cannot wait"), Error);
  CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { static_cast<void>(handle.count<Cell>()); }),
                       doctest::Contains("do that between steps"), Error);
  CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { static_cast<void>(handle.sum<&Cell::age_>()); }),
                       doctest::Contains("do that between steps"), Error);
  CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { static_cast<void>(handle.statistics()); }),
                       doctest::Contains("do that between steps"), Error);
  CHECK_THROWS_AS(record_and_run(handle,
                                 [&] {
                                   submit_step<Handle, Cell>(handle);
                                   throw std::logic_error("the function's own");
                                 }),
                  std::logic_error);
  CHECK(handle.count<Cell>() > 0);
  {
    std::optional<dynasoar::KeptLists> kept;
    CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { kept.emplace(handle.keep_lists()); }),
                         doctest::Contains("call keep_lists() before the step"), Error);
  }
  record_and_run(handle, [&] { submit_step<Handle, Cell>(handle); });
  CHECK(handle.count<Cell>() > 0);
}

TEST_CASE("a step that could not be recorded again is recorded by the next call") {
  Handle handle({.heap_bytes = 16 << 20, .threads = 4});
  handle.parallel_new<Cell>(100);
  bool fails = false;
  auto step = handle.record([&] {
    handle.parallel_do<&Cell::grow>(1u);
    if (std::exchange(fails, false)) throw std::logic_error("once");
  });
  step();
  const auto kept = handle.keep_lists();
  fails = true;
  CHECK_THROWS_AS(step(), std::logic_error);
  const std::uint64_t sum = handle.sum<&Cell::age_>();  // on a CPU, the loop has run before the error
  step();
  CHECK(handle.sum<&Cell::age_>() == sum + 100);
}

TEST_CASE("loops that share lists visit the objects that there were") {
  Handle handle({.heap_bytes = 16 << 20, .threads = 4});
  handle.parallel_new<Cell>(1000);
  {
    const auto kept = handle.keep_lists();
    CHECK(look<Handle, Cell>(handle).first == 1000);
    handle.parallel_do<&Cell::grow>(2u);
    CHECK(look<Handle, Cell>(handle).second == 999 * 1000 / 2 + 2000 * 1000);
    {
      const auto nested = handle.keep_lists();
      CHECK(look<Handle, Cell>(handle).first == 1000);
    }
    handle.parallel_new<Cell>(500);
    if constexpr (World<InArrays>::AllocatorT::kFindsMisuse) {
      CHECK_THROWS_WITH_AS((look<Handle, Cell>(handle)), doctest::Contains("since keep_lists()"), Error);
    } else {
      CHECK(look<Handle, Cell>(handle).first == 1000);
    }
  }
  CHECK(look<Handle, Cell>(handle).first == 1500);
  auto step = handle.record([&] {
    const auto kept = handle.keep_lists();
    handle.parallel_do<&Cell::grow>(1u);
    handle.parallel_do<&Cell::grow>(1u);
  });
  step();
  handle.parallel_new<Cell>(500);
  step();  // makes its lists anew
  CHECK(handle.sum<&Cell::age_>() == 1000 * 2 + 1500 * 2 + 2000 * 2);
}

class Letter;
class Mail;
class Parcel;
class Box;
using Post = dynasoar::SoaAllocator<Letter, Parcel, Box>;
class Mail : public dynasoar::SoaBase<Post> {
 public:
  DYNASOAR_FIELDS(Mail, (stamps_, std::uint32_t))
  __device__ explicit Mail(std::size_t) : stamps_(0u) {}
  __device__ void stamp() { stamps_ += 1; }
};
class Letter : public Mail {
 public:
  using BaseClass = Mail;
  DYNASOAR_FIELDS(Letter)
  using Mail::Mail;
};
class Parcel : public Mail {
 public:
  using BaseClass = Mail;
  DYNASOAR_FIELDS(Parcel)
  using Mail::Mail;
};
class Box : public dynasoar::SoaBase<Post> {
 public:
  DYNASOAR_FIELDS(Box, (letters_, std::uint32_t))
  __device__ explicit Box(std::size_t) : letters_(0u) {}
  __device__ void open() { dynasoar::make_new<Letter>(std::size_t{0}); }
  __device__ void look() {
    letters_ = 0u;
    dynasoar::device_do<Letter>([this](Letter*) { letters_ += 1; });
  }
};

TEST_CASE("lists of some classes are kept, while others change") {
  AllocatorHandle<Post> handle({.heap_bytes = 16 << 20, .threads = 4});
  handle.parallel_new<Box>(10);
  handle.parallel_new<Parcel>(5);
  const auto stamped = [&] {
    handle.parallel_do<Mail, &Mail::stamp>();
    return handle.sum<&Mail::stamps_>();
  };
  const auto seen = [&] {
    handle.parallel_do<&Box::look>();
    return handle.maximum<&Box::letters_>();
  };
  {
    const auto kept = handle.keep_lists<Box, Parcel>();
    handle.parallel_do<&Box::open>();
    handle.parallel_do<&Box::open>();  // makes no list of letters
    CHECK(seen() == 0);
    CHECK(stamped() == 20 + 5);  // does: not all mail is kept
    CHECK(seen() == 20);
    handle.parallel_do<&Box::open>();
    CHECK(seen() == 20);
    {
      const auto letters = handle.keep_lists<Letter>();
      CHECK(seen() == 30);
      const auto mail = handle.keep_lists<Mail>();
      CHECK(stamped() == 2 * 20 + 10 + 2 * 5);
    }
    handle.parallel_new<Parcel>(1);
    if constexpr (Post::kFindsMisuse) {
      CHECK_THROWS_WITH_AS(handle.count_if<Parcel>([] __device__(Parcel*) { return true; }),
                           doctest::Contains("since keep_lists()"), Error);
    } else {
      CHECK(handle.count_if<Parcel>([] __device__(Parcel*) { return true; }) == 5);
    }
  }
  CHECK(handle.count_if<Parcel>([] __device__(Parcel*) { return true; }) == 6);
  const auto kept = handle.keep_lists();
  handle.parallel_do<&Box::open>();
  if constexpr (Post::kFindsMisuse) {  // of letters, which a loop over boxes looks at
    CHECK_THROWS_WITH_AS(handle.parallel_do<&Box::look>(), doctest::Contains("since keep_lists()"), Error);
  } else {
    CHECK(seen() == 30);
  }
}

TEST_CASE("a step uses the lists that are kept when it is called") {
  Handle handle({.heap_bytes = 16 << 20, .threads = 4});
  const auto record = [&] {
    const auto kept = handle.keep_lists();
    return handle.record([&handle] { handle.parallel_do<&Cell::grow>(1u); });
  };
  auto step = record();
  handle.parallel_new<Cell>(100);
  step();  // no lists are kept any more
  CHECK(handle.sum<&Cell::age_>() == 100);
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    const std::uint64_t cells = handle.count<Cell>();
    std::uint64_t sum = handle.sum<&Cell::age_>();
    {
      std::optional<dynasoar::KeptLists> kept(handle.keep_lists());
      step();
      step();
      CHECK(handle.sum<&Cell::age_>() == (sum += 2 * cells));
      handle.parallel_new<Cell>(50);
      if constexpr (World<InArrays>::AllocatorT::kFindsMisuse) {
        CHECK_THROWS_WITH_AS(step(), doctest::Contains("since keep_lists()"), Error);
      } else {
        step();
        sum += cells;
        CHECK(look<Handle, Cell>(handle).first == cells);
      }
    }
    step();
    CHECK(handle.sum<&Cell::age_>() == sum + cells + 50);
  }
}

class Sheep;
using SheepAllocator = dynasoar::SoaAllocator<Sheep>;
class Sheep : public dynasoar::SoaBase<SheepAllocator> {
 public:
  DYNASOAR_FIELDS(Sheep, (age_, std::uint32_t))
  __device__ explicit Sheep(std::size_t) : age_(0u) {}
  __device__ void grow() { age_ += 1; }
};

TEST_CASE("the first use of a loop may be recorded, and a step cannot run in another") {
  AllocatorHandle<SheepAllocator> flock({.heap_bytes = 16 << 20, .threads = 4});
  auto step = flock.record([&flock] { flock.parallel_do<&Sheep::grow>(); });  // loads the kernels meanwhile
  auto start = flock.record([&flock] { flock.parallel_new<Sheep>(100); });
  start();
  step();
  step();
  CHECK(flock.sum<&Sheep::age_>() == 200);
  CHECK_THROWS_WITH_AS(record_and_run(flock, [&step] { step(); }), doctest::Contains("call other steps"), Error);
  step();
  CHECK(flock.sum<&Sheep::age_>() == 300);
}

TEST_CASE("a recorded step's arguments change where they are StepValues") {
  Handle handle({.heap_bytes = 16 << 20, .threads = 4});
  handle.parallel_new<Cell>(100);
  dynasoar::StepValue<std::uint32_t> now(handle.executor(), 3);
  dynasoar::StepValue<std::uint32_t> years(handle.executor(), 0);
  auto seen = dynasoar::test::zeroed<std::uint64_t>(24);
  auto step = handle.record([&] {
    handle.parallel_do<&Cell::grow>(years.view());
    std::uint64_t* const out = seen.data();
    handle.parallel_for(1, [out, time = now.view()] __device__(std::size_t) { out[time] = 10 + time; });
    handle.parallel_for(
        2, [out] __device__(std::size_t i, std::uint32_t time, std::uint64_t what) { out[8 * i + 8 + time] = what; },
        now.view(), std::uint64_t{5});
    now.add(1);
  });
  CHECK(now.get() == 3);  // recording adds nothing
  std::uint32_t grown = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    years.set(i * i);
    step();
    grown += i * i;
  }
  CHECK(now.get() == 7);
  CHECK(handle.sum<&Cell::age_>() == 100 * grown);
  CHECK(seen.download() == std::vector<std::uint64_t>{0, 0, 0, 13, 14, 15, 16, 0,  //
                                                      0, 0, 0, 5,  5,  5,  5,  0,  //
                                                      0, 0, 0, 5,  5,  5,  5,  0});
}

TEST_CASE("a StepValue can be set in a step, and neither made nor read there") {
  Handle handle({.heap_bytes = 16 << 20, .threads = 4});
  dynasoar::StepValue<float> heat(handle.executor(), -0.5f);
  auto step = handle.record([&] {
    heat.add(0.25f);
    heat.add(0.25f);
  });
  step();
  CHECK(heat.get() == 0.0f);
  auto reset = handle.record([&] { heat.set(7.5f); });
  CHECK(heat.get() == 0.0f);
  reset();
  step();
  CHECK(heat.get() == 8.0f);
  CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { static_cast<void>(heat.get()); }),
                       doctest::Contains("a recorded step cannot wait"), Error);
  CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { dynasoar::StepValue<int>(handle.executor(), 1).set(2); }),
                       doctest::Contains("a recorded step cannot wait"), Error);
}

TEST_CASE("an AosAllocator keeps lists, too") {
  using Piece = World<InOnePiece>::Cell;
  using PieceHandle = AllocatorHandle<World<InOnePiece>::AllocatorT>;
  PieceHandle handle({.heap_bytes = 16 << 20, .threads = 4});
  handle.parallel_new<Piece>(100);
  {
    const auto kept = handle.keep_lists();
    handle.parallel_new<Piece>(50);
    CHECK(look<PieceHandle, Piece>(handle).first == 100);
  }
  CHECK(look<PieceHandle, Piece>(handle).first == 150);
}

}  // namespace recorded_steps_test
