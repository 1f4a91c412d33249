// Heaps that grow: by need, ahead of it, on request; up to a limit; with all objects where they were.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "../platform/thrown.h"

namespace growth_test {

using namespace dynasoar;
using dynasoar::test::thrown;

class Cell;
class Seed;
using AllocatorT = dynasoar::SoaAllocator<Cell, Seed>;

/// Cells that divide, remember each other and die.
class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (number_, std::uint64_t), (child_, Cell*), (wanted_, std::uint32_t))

  __device__ explicit Cell(std::size_t number) : number_(number), child_(nullptr), wanted_(0u) {}
  __device__ void want(std::uint32_t children) { wanted_ = children; }
  /// Makes the children that are wanted still.
  __device__ void divide() {
    while (wanted_ > 0) {
      Cell* const child = dynasoar::make_new<Cell>(static_cast<std::size_t>(number_));
      if (child == nullptr) return;
      child_ = child;
      wanted_ -= 1;
    }
  }
  __device__ void divide_once() { dynasoar::make_new<Cell>(static_cast<std::size_t>(number_)); }
  __device__ void sow(std::uint32_t seeds);
  __device__ void die_if(std::uint64_t remainder, std::uint64_t modulus) {
    if (number_ % modulus == remainder) dynasoar::destroy(this);
  }
  __device__ bool has_wrong_child() { return child_ != nullptr && child_->number_ != number_; }
};

class Seed : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Seed, (parent_, Cell*), (number_, std::uint64_t))
  __device__ explicit Seed(std::uint32_t, Cell* parent) : parent_(parent), number_(parent->number_) {}
  __device__ bool has_wrong_parent() { return parent_->number_ != number_; }
};

__device__ void Cell::sow(std::uint32_t seeds) {
  dynasoar::make_new_n<Seed>(seeds, this);
}

using Handle = AllocatorHandle<AllocatorT>;

constexpr std::size_t kPage = AllocatorT::pages().bytes;

HandleOptions grows(std::size_t pages, std::size_t limit_pages, OnRefusal on_refusal = OnRefusal::throw_error) {
  return {.heap_bytes = pages * kPage, .heap_limit_bytes = limit_pages * kPage, .on_refusal = on_refusal, .threads = 4};
}

/// Cells that `pages` pages have room for.
constexpr std::size_t cells_of(std::size_t pages) {
  return pages * AllocatorT::pages().blocks_per_page[0] * AllocatorT::kSlotsPerBlock;
}

std::uint64_t sum_to(std::uint64_t count) {
  return count * (count - 1) / 2;
}

TEST_CASE("creating more objects than there is room for makes room first, and objects stay where they were") {
  Handle handle(grows(4, 4096));
  CHECK(handle.statistics().heap_bytes == 4 * kPage);
  CHECK(handle.statistics().heap_limit_bytes == 4096 * kPage);
  handle.parallel_new<Cell>(100);
  handle.parallel_do<&Cell::want>(1u);
  handle.parallel_do<&Cell::divide>();
  const std::size_t many = cells_of(300);
  handle.parallel_new<Cell>(many);
  handle.synchronize();  // nothing was refused
  CHECK(handle.count<Cell>() == many + 200);
  CHECK(handle.sum<&Cell::number_>() == sum_to(many) + 2 * sum_to(100));
  CHECK(handle.count_if<Cell>([] __device__(Cell * one) { return one->has_wrong_child(); }) == 0);
  const Statistics now = handle.statistics();
  CHECK(now.growths >= 1);
  CHECK(now.heap_bytes >= 300 * kPage);
  CHECK(now.heap_bytes <= 4096 * kPage);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("the host looks ahead: a population that doubles slowly never meets a full heap") {
  Handle handle(grows(64, 16384));
  handle.parallel_new<Cell>(cells_of(16));
  std::size_t expected = cells_of(16);
  for (int step = 0; step < 80; ++step) {
    // One in sixteen divides, and the host waits, so that it knows how things stand.
    handle.parallel_do<Cell>([] __device__(Cell * cell) {
      if (cell->number_ % 16 == 0) dynasoar::make_new<Cell>(static_cast<std::size_t>(cell->number_) + 1);
      cell->number_ += 1;
    });
    CHECK_NOTHROW(handle.synchronize());
  }
  const std::uint64_t cells = handle.count<Cell>();
  CHECK(cells > 10 * expected);
  const Statistics now = handle.statistics();
  CHECK(now.refused() == 0);
  CHECK(now.growths >= 3);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("births that were refused are possible in the next step") {
  Handle handle(grows(2, 2048));
  handle.parallel_new<Cell>(64);
  handle.parallel_do<&Cell::want>(static_cast<std::uint32_t>(cells_of(100) / 64));
  handle.parallel_do<&Cell::divide>();
  const auto error = thrown<AllocationError>([&] { handle.synchronize(); });
  const std::string message = error.what();
  CHECK(error.failures() > 0);
  CHECK(message.find("Cell: make_new failed") != std::string::npos);
  CHECK(message.find("the heap has grown, and there is room for them now") != std::string::npos);
  CHECK(message.find("heap_bytes") == std::string::npos);
  int steps = 0;
  do {
    handle.parallel_do<&Cell::divide>();
    ++steps;
  } while (handle.retry_with_growth());
  CHECK(steps > 1);  // each refused cell asked for one cell only
  CHECK(handle.count<Cell>() == 64 + cells_of(100) / 64 * 64);
  CHECK(handle.count_if<Cell>([] __device__(Cell * one) { return one->has_wrong_child(); }) == 0);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("a heap also grows for handles that only record refusals") {
  Handle handle(grows(2, 2048, OnRefusal::record));
  handle.parallel_new<Cell>(64);
  handle.parallel_do<&Cell::want>(static_cast<std::uint32_t>(cells_of(50) / 64));
  int steps = 0;
  for (; handle.count<Cell>() < 64 + cells_of(50) / 64 * 64 && steps < 100; ++steps)
    handle.parallel_do<&Cell::divide>();
  CHECK(steps < 100);
  CHECK(handle.statistics().refused() > 0);
}

TEST_CASE("a heap stops at its limit, and says so") {
  Handle handle(grows(2, 8));
  handle.parallel_new<Cell>(cells_of(8) + 1);
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("make the handle with a higher heap_limit_bytes"),
                       AllocationError);
  CHECK(handle.statistics().heap_bytes == 8 * kPage);
  CHECK(handle.count<Cell>() == cells_of(8));
  handle.parallel_do<&Cell::divide_once>();
  CHECK_THROWS_WITH_AS(static_cast<void>(handle.retry_with_growth()), doctest::Contains("that is the heap's limit"),
                       AllocationError);
  CHECK_THROWS_WITH_AS(handle.reserve<Cell>(cells_of(8)), doctest::Contains("there is no room for"), Error);
  handle.parallel_do<&Cell::die_if>(std::uint64_t{0}, std::uint64_t{1});
  CHECK(handle.count<Cell>() == 0);
  handle.parallel_new<Cell>(cells_of(7));
  CHECK(handle.count<Cell>() == cells_of(7));
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("a heap grows for up to twice what its limit has room for, and for more it does not") {
  // For 15 pages, an eighth and one more are wanted, which are 17; for 16 or a bit more than 15, these are 19.
  for (const std::size_t cells : {cells_of(15), cells_of(15) + 1, cells_of(16)}) {
    CAPTURE(cells);
    Handle handle(grows(2, 8));
    handle.parallel_new<Cell>(cells);
    CHECK_THROWS_AS(handle.synchronize(), AllocationError);
    CHECK(handle.count<Cell>() == cells_of(cells == cells_of(15) ? 8 : 2));
  }
}

TEST_CASE("a request for more than twice what the limit has room for is told so") {
  for (const std::size_t pages : {16, 18}) {  // of which 14 and 16 are refused, for which 16 and 19 are wanted
    Handle handle(grows(2, 8));
    handle.parallel_new<Cell>(cells_of(pages));
    CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains(pages == 16 ? "try again" : "so many do not fit"),
                         AllocationError);
  }
}

TEST_CASE("a heap of fixed size does not grow") {
  Handle handle({.heap_bytes = 8 * kPage, .threads = 4});
  handle.parallel_new<Cell>(cells_of(8) + 1);
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("make the handle with more heap_bytes"),
                       AllocationError);
  handle.parallel_do<&Cell::divide_once>();
  CHECK_THROWS_AS(static_cast<void>(handle.retry_with_growth()), AllocationError);
  CHECK_FALSE(handle.retry_with_growth());
  const Statistics now = handle.statistics();
  CHECK(now.heap_bytes == 8 * kPage);
  CHECK(now.heap_limit_bytes == 8 * kPage);
  CHECK(now.growths == 0);
}

TEST_CASE("far more objects than the limit allows are refused at once, without growth, and as a number") {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  Handle handle(grows(2, 1 << 14));
  handle.parallel_new<Cell>(kHuge);
  const auto error = thrown<AllocationError>([&] { handle.synchronize(); });
  const std::string message = error.what();
  const std::uint64_t failures = error.failures();
  CHECK(failures == kHuge - cells_of(2));
  CHECK(message.find("Cell: make_new failed " + std::to_string(failures) + " times, heap full") != std::string::npos);
  CHECK(message.find("so many do not fit into the " + std::to_string((1 << 14) * kPage) + " bytes") !=
        std::string::npos);
  CHECK(handle.statistics().heap_bytes <= 4 * kPage);  // twice what it had, for loops to come
  // Twice 2^63 is not 0, and what was reported is not reported again.
  for (int round = 0; round < 2; ++round) {
    handle.parallel_do<&Cell::die_if>(std::uint64_t{1}, std::uint64_t{1});
    handle.parallel_new<Cell>(std::size_t{1} << 63);
    handle.parallel_new<Cell>(std::size_t{1} << 63);
    CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("make_new failed 18446744073709"), AllocationError);
    CHECK_NOTHROW(handle.synchronize());
  }
  CHECK_THROWS_WITH_AS(handle.reserve<Cell>(kHuge), doctest::Contains(std::to_string(kHuge).c_str()), Error);
  CHECK(AllocatorT::heap_bytes_for<Cell>(kHuge) == kHuge);
  CHECK(AllocatorT::heap_bytes_for<Cell>(cells_of(3)) == 3 * kPage);
  CHECK(AllocatorT::heap_bytes_for<Cell>(cells_of(3) + 1) == 4 * kPage);
  // In recorded steps, too.
  auto step = handle.record([&] { handle.parallel_new<Cell>(kHuge); });
  step();
  CHECK_THROWS_AS(handle.synchronize(), AllocationError);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("room that was reserved is there") {
  Handle handle(grows(2, 4096));
  handle.parallel_new<Cell>(64);
  handle.reserve<Seed>(64 * 1000);
  const std::uint64_t growths = handle.statistics().growths;
  CHECK(growths > 0);
  handle.reserve<Seed>(64 * 1000);  // is there already
  CHECK(handle.statistics().growths == growths);
  handle.parallel_do<&Cell::sow>(1000u);
  handle.synchronize();
  CHECK(handle.count<Seed>() == 64 * 1000);
  CHECK(handle.count_if<Seed>([] __device__(Seed * one) { return one->has_wrong_parent(); }) == 0);
}

TEST_CASE("recorded steps go on when the heap has grown, and visit what lies in its new part") {
  Handle handle(grows(4, 4096));
  auto add = handle.record([&handle] { handle.parallel_new<Cell>(cells_of(3)); });
  auto touch = handle.record([&handle] { handle.parallel_do<&Cell::want>(7u); });
  for (std::size_t i = 1; i <= 20; ++i) {
    CAPTURE(i);
    add();
    touch();
    CHECK(handle.sum<&Cell::wanted_>() == 7 * i * cells_of(3));
  }
  CHECK(handle.statistics().growths >= 3);
  // Births that parallel_new does not announce: the steps grow ahead of them.
  auto divide = handle.record([&handle] {
    handle.parallel_do<Cell>([] __device__(Cell * cell) {
      if (cell->number_ % 8 == 0) dynasoar::make_new<Cell>(static_cast<std::size_t>(cell->number_) + 1);
    });
  });
  const std::uint64_t before = handle.count<Cell>();
  for (int i = 0; i < 10; ++i) {
    divide();
    handle.synchronize();
  }
  CHECK(handle.count<Cell>() > 2 * before);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("objects that come and go at random are all counted, through many growths") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  dynasoar::test::Random random{seed};
  Handle handle(grows(2, 1 << 16));
  std::uint64_t cells = 0;
  std::uint64_t seeds = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const std::size_t more = random.below(3000u << round / 12);
    handle.parallel_new<Cell>(more);
    cells += more;
    const std::uint32_t each = random.below(4);
    handle.reserve<Seed>(cells * each);
    handle.parallel_do<&Cell::sow>(each);
    seeds += cells * each;
    CHECK(handle.count<Cell>() == cells);
    CHECK(handle.count<Seed>() == seeds);
    if (round % 3 == 2) {
      handle.parallel_do<Seed>([] __device__(Seed * one) { dynasoar::destroy(one); });
      seeds = 0;
      const std::uint64_t before = handle.count<Cell>();
      const std::uint64_t remainder = random.below(4);
      cells -= handle.count_if<Cell>([remainder] __device__(Cell * cell) { return cell->number_ % 4 == remainder; });
      handle.parallel_do<&Cell::die_if>(remainder, std::uint64_t{4});
      CHECK(handle.count<Cell>() == cells);
      CHECK(cells <= before);
    }
    CHECK(handle.count_if<Seed>([] __device__(Seed * one) { return one->has_wrong_parent(); }) == 0);
    CHECK(dynasoar::test::heap_errors(handle) == "");
  }
  CHECK(handle.statistics().growths >= 5);
  CHECK(handle.statistics().refused() == 0);
}

TEST_CASE("a heap without a size starts small and may have most of the memory") {
  AllocatorHandle<AllocatorT> handle;
  const Statistics now = handle.statistics();
  CHECK(now.heap_bytes > 250 * std::size_t{1 << 20});
  CHECK(now.heap_bytes <= 256 * std::size_t{1 << 20});
  CHECK(now.heap_limit_bytes > now.heap_bytes);
  CHECK(now.state_bytes < now.heap_bytes);
}

TEST_CASE("sizes that do not fit together are refused with advice") {
  CHECK_THROWS_WITH_AS(Handle(grows(9, 8)), doctest::Contains("is more than heap_limit_bytes"), Error);
  CHECK_THROWS_WITH_AS(Handle({.heap_limit_bytes = std::size_t{0}}), doctest::Contains("too small"), Error);
  CHECK_THROWS_WITH_AS(Handle({.heap_bytes = 16 * kPage, .heap_limit_bytes = std::size_t{1} << 49}),
                       doctest::Contains("is too large for 48-bit offsets and 31-bit block numbers"), Error);
  CHECK_NOTHROW(Handle(grows(8, 8)));
}

TEST_CASE("without memory to grow the heap stays as it was, and goes on") {
  // Ten times what the machine has, of which nothing is taken yet.
  const std::size_t machine = dynasoar::detail::free_memory();
  Handle handle({.heap_bytes = 16 * kPage, .heap_limit_bytes = 10 * machine, .threads = 4});
  handle.parallel_new<Cell>(1000);
  const std::size_t too_many = 8 * machine / kPage * cells_of(1);
  CHECK_THROWS_WITH_AS(handle.reserve<Cell>(too_many), doctest::Contains("of memory left for the heap to grow"), Error);
  const Statistics now = handle.statistics();
  CHECK(now.heap_bytes == 16 * kPage);
  CHECK(now.growths == 0);
  CHECK(handle.sum<&Cell::number_>() == sum_to(1000));
  handle.parallel_new<Cell>(cells_of(100));
  CHECK(handle.count<Cell>() == 1000 + cells_of(100));
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("the next heap starts anew") {
  const std::size_t many = (std::size_t{64} << 20) / kPage * cells_of(1);
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    Handle handle(grows(4, 1 << 20));
    CHECK(handle.count<Cell>() == 0);
    CHECK(handle.statistics().heap_bytes == 4 * kPage);
    handle.parallel_new<Cell>(many);
    CHECK(handle.count<Cell>() == many);
  }
  Handle handle({.heap_bytes = 64 * kPage});
  handle.parallel_new<Cell>(100);
  CHECK(handle.count<Cell>() == 100);
}

#if DYNASOAR_CUDA_BACKEND

// Other programs may use the device, so how much of its memory is in use tells nothing.
TEST_CASE("memory is given back with the handle: heaps that have more than the device together, one after the other") {
  std::size_t free = 0;
  std::size_t total = 0;
  dynasoar::detail::check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const std::size_t pages = total / 64 / kPage;
  for (int round = 0; round < 72; ++round) {
    CAPTURE(round);
    Handle handle(grows(4, 2 * pages));
    handle.reserve<Cell>(pages * cells_of(1));
    REQUIRE(handle.statistics().heap_bytes >= pages * kPage);
  }
}

#else

/// Memory of this process, in bytes.
std::size_t used_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmRSS:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

TEST_CASE("memory is given back with the handle") {
  constexpr std::size_t kSlack = std::size_t{24 * dynasoar::test::kSlowdown} << 20;  // sanitizers keep books
  std::size_t before = 0;
  {
    Handle handle(grows(4, 1 << 20));
    before = used_memory();
    handle.parallel_new<Cell>((std::size_t{64} << 20) / kPage * cells_of(1));
    CHECK(used_memory() > before + (std::size_t{60} << 20));
  }
  CHECK(used_memory() < before + kSlack);
}

#endif

class Brick;
using BrickAllocator = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Brick>;
class Brick : public dynasoar::SoaBase<BrickAllocator> {
 public:
  DYNASOAR_FIELDS(Brick, (number_, std::uint64_t))
  __device__ explicit Brick(std::size_t number) : number_(number) {}
};

TEST_CASE("the heap of an AosAllocator cannot grow") {
  CHECK_THROWS_WITH_AS(AllocatorHandle<BrickAllocator>({.heap_limit_bytes = std::size_t{1} << 20}),
                       doctest::Contains("an AosAllocator cannot grow"), Error);
  AllocatorHandle<BrickAllocator> handle;
  handle.parallel_new<Brick>(1000);
  CHECK(handle.count<Brick>() == 1000);
  CHECK(handle.statistics().heap_bytes == std::size_t{256} << 20);
  CHECK(handle.statistics().heap_limit_bytes == std::size_t{256} << 20);
}

#if DYNASOAR_CHECKED
TEST_CASE("a checked build finds misuse in the new part of a heap") {
  Handle handle(grows(2, 1024));
  handle.parallel_new<Cell>(cells_of(100));
  handle.parallel_do<Cell>([] __device__(Cell * cell) {
    if (cell->number_ == cells_of(100) - 1) {
      dynasoar::destroy(cell);
      dynasoar::destroy(cell);
    }
  });
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("Cell"), dynasoar::MisuseError);
  CHECK(handle.count<Cell>() == cells_of(100) - 1);
}
#endif

}  // namespace growth_test
