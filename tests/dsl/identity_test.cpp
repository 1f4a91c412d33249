// Identities: numbers that stay the same in later versions, how seldom two are equal, what keeps them, and looking
// objects up by them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/identity.h>

#include "../platform/captured.h"
#include "../platform/test_support.h"
#include "../platform/thrown.h"
#include "record_and_run.h"
#include "test_folder.h"

namespace identity_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Cell;
class Tumour;
class Watcher;
using AllocatorT = dynasoar::SoaAllocator<Watcher, Cell, Tumour>;
using HandleT = AllocatorHandle<AllocatorT>;

constexpr random::Seed kSeed{42};

__host__ __device__ constexpr std::uint64_t number_of(Identity identity) {
  return static_cast<std::uint64_t>(identity);
}

/// Divides, dies and ages as its number says.
class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (identity_, Identity), (births_, std::uint32_t), (age_, std::uint32_t))

  __device__ explicit Cell(std::size_t index) : Cell(first_identity(random::Seed{42}, index)) {}
  __device__ explicit Cell(Identity identity) : identity_(identity), births_(0u), age_(0u) {}

  template <class Child>
  __device__ void live_as(std::uint32_t step) {
    const random::Words words = random::words(random::Seed{1}, 0, number_of(identity_), step);
    ++age_;
    for (std::uint32_t children = random::below(words[0], 4) / 2 * 2; children > 0; children -= 2) {
      make_new<Child>(child_identity(identity_, births_++));
      make_new<Cell>(child_identity(identity_, births_++));
    }
    if (random::below(words[1], 2) == 0) destroy(this);
  }
  __device__ void live(std::uint32_t step);
};

class Tumour : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Tumour, (size_, float))
  __device__ explicit Tumour(Identity identity) : Cell(identity), size_(1.0f) {}
  __device__ void live(std::uint32_t step) { live_as<Cell>(step); }
};

__device__ inline void Cell::live(std::uint32_t step) {
  live_as<Tumour>(step);
}

DYNASOAR_METHOD(Live, live);

class Watcher : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Watcher, (watched_, Identity), (lost_, std::uint32_t))
  __device__ explicit Watcher(std::size_t index) : watched_(first_identity(random::Seed{42}, index)), lost_(0u) {}
  __device__ void look(IdentityView<Cell> cells) {
    Cell* const cell = cells.find(watched_);
    lost_ = cell == nullptr || cell->identity_ != watched_ ? 1u : 0u;
  }
};

struct NumberOf {
  __device__ std::uint64_t operator()(Cell* cell) const { return number_of(cell->identity_); }
};
struct ReversedNumberOf {
  __device__ std::uint64_t operator()(Cell* cell) const { return ~number_of(cell->identity_); }
};
struct PrintIt {
  __device__ void operator()(Watcher* watcher) const { print(watcher); }
};
struct MakeOlder {
  Cell* cell;
  __device__ void operator()(std::size_t) const { cell->age_ = 3; }
};
struct KnownIdentities {
  Identity* to;
  __host__ __device__ void operator()(std::size_t) const {
    to[0] = first_identity({0}, 0);
    to[1] = first_identity({42}, 1);
    to[2] = first_identity({0x0123456789abcdef}, 0xfedcba9876543210);
    to[3] = child_identity(Identity{1}, 0);
    to[4] = child_identity(Identity{0x0123456789abcdef}, 0xfedcba9876543210);
    to[5] = child_identity(child_identity(first_identity({42}, 1), 0), 1);
  }
};

/// A number with the age of the cell that has it.
using Ages = std::map<std::uint64_t, std::uint64_t>;

Ages ages_of(HandleT& handle) {
  const Columns cells = handle.columns<Cell>();
  const auto identities = cells["identity_"].as<std::uint64_t>();
  const auto ages = cells["age_"].as<std::uint64_t>();
  Ages result;
  for (std::size_t i = 0; i < cells.rows; ++i) result[identities[i]] = ages[i];
  CHECK(result.size() == cells.rows);
  return result;
}

void live(HandleT& handle, std::uint32_t first_step, std::uint32_t end_step) {
  for (std::uint32_t step = first_step; step < end_step; ++step) handle.parallel_do<Cell>(Live{}, step);
}

TEST_CASE("identities are the same in all versions, on the host and on the device") {
  // Computed by another program from the definition of Philox4x32-10.
  const std::vector<Identity> expected = {Identity{0xd06ccf8abeed9451}, Identity{0xbfa55107d28d8f1b},
                                          Identity{0x75ee58ffc90bd0c0}, Identity{0xa8ddcf1fae82c812},
                                          Identity{0x5da5c7b5843a72ac}, Identity{0xe8a875ef0c125a8d}};
  std::vector<Identity> here(expected.size());
  KnownIdentities{here.data()}(0);
  CHECK(here == expected);
  const DeviceArray<Identity> there(expected.size());
  run_loop(1, KnownIdentities{there.data()});
  CHECK(there.download() == expected);
}

TEST_CASE("each bit of the seed, the index, the parent and the birth changes about half of an identity's bits") {
  const auto check = [](const auto& identity_of) {
    const std::uint64_t before = number_of(identity_of(0));
    int changed = 0;
    for (int bit = 0; bit < 64; ++bit) {
      const int bits = detail::popcount(before ^ number_of(identity_of(std::uint64_t{1} << bit)));
      CHECK(bits > 10);
      CHECK(bits < 54);
      changed += bits;
    }
    CHECK(std::abs(changed - 64 * 32) < 5 * 4 * 8);  // five standard deviations
  };
  check([](std::uint64_t flipped) { return first_identity({1 ^ flipped}, 2); });
  check([](std::uint64_t flipped) { return first_identity({1}, 2 ^ flipped); });
  check([](std::uint64_t flipped) { return child_identity(Identity{3 ^ flipped}, 4); });
  check([](std::uint64_t flipped) { return child_identity(Identity{3}, 4 ^ flipped); });
}

/// How often `bits` bits of a number, from bit `shift` on, are those of another one.
std::uint64_t collisions(std::vector<std::uint64_t> numbers, int bits, int shift) {
  for (std::uint64_t& number : numbers) number = number >> shift & ((std::uint64_t{1} << bits) - 1);
  std::sort(numbers.begin(), numbers.end());
  std::uint64_t found = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) found += numbers[i] == numbers[i - 1] ? 1 : 0;
  return found;
}

// Of n random numbers of b bits, n^2 / 2^(b + 1) pairs are equal on average, with the square root of that as the
// standard deviation. So it is with some of the bits of identities; of all 64 bits it would take 2^32 of them.
TEST_CASE("as many identities of a reduced width are equal as of random numbers, however objects descend") {
  constexpr int kLogCount = 16;
  constexpr std::uint64_t kCount = std::uint64_t{1} << kLogCount;
  constexpr int kWidth = 28;
  const std::uint64_t families = 24 / std::min(kSlowdown, 8u);
  std::uint64_t found[4] = {};
  for (std::uint64_t family = 0; family < families; ++family) {
    std::vector<std::uint64_t> numbers[2] = {std::vector<std::uint64_t>(kCount), std::vector<std::uint64_t>(kCount)};
    // Without parents, and a tree in which each object has two children.
    for (std::uint64_t i = 0; i < kCount; ++i) numbers[0][i] = number_of(first_identity({family}, i));
    numbers[1][0] = numbers[0][0];
    for (std::uint64_t i = 1; i < kCount; ++i) {
      numbers[1][i] = number_of(child_identity(Identity{numbers[1][(i - 1) / 2]}, i % 2));
    }
    for (int i = 0; i < 2; ++i) {
      found[2 * i] += collisions(numbers[i], kWidth, 0);
      found[2 * i + 1] += collisions(numbers[i], kWidth, 64 - kWidth);
    }
    // A single line, and the children of one object.
    numbers[0][0] = numbers[1][0] = number_of(first_identity({family}, kCount));
    for (std::uint64_t i = 1; i < kCount; ++i) {
      numbers[0][i] = number_of(child_identity(Identity{numbers[0][i - 1]}, 0));
      numbers[1][i] = number_of(child_identity(Identity{numbers[1][0]}, i));
    }
    for (int i = 0; i < 2; ++i) {
      found[2 * i] += collisions(numbers[i], kWidth, 0);
      found[2 * i + 1] += collisions(numbers[i], kWidth, 64 - kWidth);
    }
  }
  const double expected = 2 * static_cast<double>(families) * std::ldexp(1.0, 2 * kLogCount - kWidth - 1);
  for (const std::uint64_t count : found) {
    CAPTURE(expected);
    CAPTURE(count);
    CHECK(std::abs(static_cast<double>(count) - expected) < 5 * std::sqrt(expected));
  }
}

TEST_CASE("births get the same numbers for any number of threads, with compactions, sorts and checkpoints between") {
  const TestFolder folder;
  constexpr std::uint32_t kCells = 2000 / kSlowdown;
  const auto grown = [&](int threads, bool moves) {
    {
      HandleT handle({.heap_bytes = 64 << 20, .threads = threads});
      handle.parallel_new<Cell>(kCells);
      live(handle, 0, 4);
      if (moves) {
        handle.compact<Cell>();
        handle.sort<Cell>(NumberOf{});
      }
      live(handle, 4, 7);
      if (!moves) return ages_of(handle);
      handle.save(folder / "cells");
    }
    HandleT other({.heap_bytes = 64 << 20, .threads = threads + 1});
    other.load(folder / "cells");
    other.sort<Tumour>(ReversedNumberOf{});
    other.compact<Cell>();
    live(other, 7, 9);
    return ages_of(other);
  };
  const Ages unmoved = grown(1, false);
  CHECK(unmoved.size() > kCells / 4);
  for (const int threads : kCudaBackend ? std::vector{1} : std::vector{2, 3, 8}) {
    CAPTURE(threads);
    CHECK(grown(threads, false) == unmoved);
  }
  const Ages moved = grown(1, true);
  CHECK(moved != unmoved);  // two more steps
  for (const int threads : kCudaBackend ? std::vector{1} : std::vector{3, 8}) {
    CAPTURE(threads);
    CHECK(grown(threads, true) == moved);
  }
  HandleT handle({.heap_bytes = 64 << 20, .threads = 2});
  handle.parallel_new<Cell>(kCells);
  live(handle, 0, 9);
  CHECK(ages_of(handle) == moved);
}

TEST_CASE("an index has no objects after a checkpoint was loaded, until it is rebuilt") {
  const TestFolder folder;
  HandleT handle({.heap_bytes = 16 << 20, .threads = 1});
  handle.parallel_new<Cell>(100u);
  handle.save(folder / "cells");
  IdentityIndex<&Cell::identity_> index(handle);
  index.rebuild();
  const Identity some = first_identity(kSeed, 7);
  CHECK(index.find(some) != nullptr);
  handle.load(folder / "cells");
  CHECK(index.size() == 0);
  CHECK(index.find(some) == nullptr);
  index.rebuild();
  CHECK(index.size() == 100);
  CHECK(index.find(some) != nullptr);
}

TEST_CASE("columns, CSV files and print show identities as numbers") {
  const TestFolder folder;
  HandleT handle({.heap_bytes = 16 << 20, .threads = 1});
  handle.parallel_new<Watcher>(1);
  const std::uint64_t expected = number_of(first_identity(kSeed, 0));
  const Columns watchers = handle.columns<Watcher>();
  CHECK(watchers["watched_"].type == ColumnType::u64);
  CHECK(watchers["watched_"].as<std::uint64_t>() == std::vector{expected});
  write_csv(folder / "watchers.csv", watchers);
  std::ifstream file(folder / "watchers.csv");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str().find("," + std::to_string(expected) + ",") != std::string::npos);
  Captured output(stdout);
  handle.parallel_do<Watcher>(PrintIt{});
  handle.synchronize();
  const std::string printed = output.text();
  CHECK(printed.find("watched_ = " + std::to_string(expected) + "\n") != std::string::npos);
}

TEST_CASE("an index finds all objects that have a number, and no others") {
  for (const std::uint32_t count : {0u, 1u, 2u, 3u, 64u, 1000u, 5000u / kSlowdown}) {
    CAPTURE(count);
    HandleT handle({.heap_bytes = 64 << 20, .threads = 4});
    handle.parallel_new<Watcher>(count + 7);
    handle.parallel_new<Cell>(count);
    handle.parallel_for(10, [] __device__(std::size_t) { make_new<Cell>(Identity::none); });
    IdentityIndex<&Cell::identity_> index(handle);
    CHECK(index.size() == 0);
    CHECK(index.find(first_identity(kSeed, 0)) == nullptr);
    index.rebuild();
    CHECK(index.size() == count);
    CHECK(index.view().size() == count);
    handle.parallel_do<&Watcher::look>(index.view());
    CHECK(handle.count_if<Watcher>([] __device__(Watcher * watcher) { return watcher->lost_ != 0u; }) == 7);
    auto out_of_order = dynasoar::test::zeroed<std::uint32_t>(count + 1);
    handle.parallel_for(
        count,
        [] __device__(std::size_t i, IdentityView<Cell> cells, std::uint32_t * wrong) {
          const auto place = static_cast<std::uint32_t>(i);
          const Identity here = cells[place]->identity_;
          const bool is_found = cells.find(here) == cells[place];
          const bool is_after = i == 0 || static_cast<std::uint64_t>(cells[place - 1]->identity_.get()) <
                                              static_cast<std::uint64_t>(here);
          wrong[i] = is_found && is_after ? 0 : 1;
        },
        index.view(), out_of_order.data());
    handle.synchronize();
    CHECK(out_of_order.download() == std::vector<std::uint32_t>(count + 1, 0));
    CHECK(index.find(Identity::none) == nullptr);
    CHECK(index.find(Identity{~std::uint64_t{0}}) == nullptr);
    CHECK(index.find(Identity{1}) == nullptr);
  }
}

struct CountWrong {
  IdentityView<Cell> cells;
  Counter* wrong;
  __device__ void operator()(Cell* cell) const { count_if(*wrong, cells.find(cell->identity_) != cell); }
};

std::uint64_t wrong_in(HandleT& handle, const IdentityIndex<&Cell::identity_>& index) {
  Counters wrong(1);
  handle.parallel_do<Cell>(CountWrong{index.view(), wrong.data()});
  handle.synchronize();
  return wrong[0];
}

TEST_CASE("an index that a compaction or a sort is told of stays right, and a rebuilt one has the objects there are") {
  constexpr std::uint32_t kCells = 3000 / kSlowdown;
  HandleT handle({.heap_bytes = 64 << 20, .threads = 3});
  handle.parallel_new<Cell>(kCells);
  live(handle, 0, 5);
  IdentityIndex<&Cell::identity_> index(handle);
  index.rebuild();
  CHECK(index.size() == handle.count<Cell>());
  CHECK(handle.count<Tumour>() > 0);
  CHECK(wrong_in(handle, index) == 0);
  handle.compact<Cell>({}, index.objects());
  CHECK(wrong_in(handle, index) == 0);
  handle.sort<Cell>(NumberOf{}, {}, index.objects());
  CHECK(wrong_in(handle, index) == 0);
  live(handle, 5, 6);
  index.rebuild();
  CHECK(index.size() == handle.count<Cell>());
  CHECK(wrong_in(handle, index) == 0);

  const auto some = static_cast<Identity>(handle.columns<Cell>()["identity_"].as<std::uint64_t>().back());
  Cell* const cell = index.find(some);
  REQUIRE(cell != nullptr);
  handle.parallel_for(1, [cell] __device__(std::size_t) { destroy(cell); });
  index.rebuild();
  CHECK(index.find(some) == nullptr);
  handle.parallel_for(1, [some] __device__(std::size_t) { make_new<Cell>(some); });
  CHECK(index.find(some) == nullptr);
  index.rebuild();
  CHECK(index.find(some) != nullptr);
}

TEST_CASE("an index reports numbers that several objects have, and has no objects then") {
  HandleT handle({.heap_bytes = 16 << 20, .threads = 2});
  handle.parallel_new<Cell>(100);
  IdentityIndex<&Cell::identity_> index(handle);
  index.rebuild();
  handle.parallel_for(3, [] __device__(std::size_t) { make_new<Tumour>(Identity{5}); });
  handle.parallel_for(2, [] __device__(std::size_t) { make_new<Cell>(child_identity(Identity{7}, 1)); });
  const std::string message = message_of<Error>([&] { index.rebuild(); });
  CAPTURE(message);
  CHECK(message.find("found 3 objects of identity_test::Cell whose number another one has already; the least such "
                     "number is 5.") != std::string::npos);
  CHECK(index.size() == 0);
  CHECK(index.find(first_identity(kSeed, 3)) == nullptr);
  handle.parallel_do<Cell>([] __device__(Cell * cell) {
    if (is_a<Tumour>(cell) || cell->identity_ == child_identity(Identity{7}, 1)) destroy(cell);
  });
  index.rebuild();
  CHECK(index.size() == 100);
}

TEST_CASE("a recorded step looks objects up in the index as it was rebuilt last, but cannot rebuild it") {
  HandleT handle({.heap_bytes = 64 << 20, .threads = 2});
  handle.parallel_new<Watcher>(300);
  IdentityIndex<&Cell::identity_> index(handle);
  auto step = handle.record([&] { handle.parallel_do<&Watcher::look>(index.view()); });
  const auto lost = [&] { return handle.sum<&Watcher::lost_>(); };
  step();
  CHECK(lost() == 300);
  handle.parallel_new<Cell>(200);
  index.rebuild();
  step();
  CHECK(lost() == 100);
  handle.parallel_for(1, [] __device__(std::size_t) { make_new<Cell>(std::size_t{250}); });
  index.rebuild();
  step();
  CHECK(lost() == 99);
  CHECK_THROWS_WITH_AS(record_and_run(handle, [&] { index.rebuild(); }), doctest::Contains("cannot wait"), Error);
}

TEST_CASE("checked builds report the use of a pointer that an outdated index has returned") {
  if constexpr (kChecked) {
    HandleT handle({.heap_bytes = 16 << 20, .threads = 1});
    handle.parallel_new<Cell>(10);
    IdentityIndex<&Cell::identity_> index(handle);
    index.rebuild();
    Cell* const cell = index.find(first_identity(kSeed, 3));
    handle.parallel_for(1, [cell] __device__(std::size_t) { destroy(cell); });
    handle.synchronize();
    const auto use = [&] {
      handle.parallel_for(1, MakeOlder{index.find(first_identity(kSeed, 3))});
      handle.synchronize();
    };
    CHECK_THROWS_AS(use(), MisuseError);
    index.rebuild();
    CHECK(index.find(first_identity(kSeed, 3)) == nullptr);
  }
}

}  // namespace identity_test
