// Checkpoints: a heap and a program's values go to a file and come back; runs go on as if nothing had happened; files
// that are damaged, foreign or half written do no harm.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/allocator/checkpoint_format.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/platform/durable_file.h>

#include "../allocator/handle_check.h"
#include "../platform/test_support.h"
#include "test_folder.h"

namespace checkpoint_test {

using dynasoar::AllocatorHandle;
using dynasoar::CheckpointError;
using dynasoar::CheckpointFault;
using dynasoar::DeviceArray;
using dynasoar::Error;
using dynasoar::HandleOptions;
using dynasoar::test::contents_of;
using dynasoar::test::Counter;
using dynasoar::test::Counters;
using dynasoar::test::Random;
using dynasoar::test::TestFolder;

class Animal;
class Fish;
class Shark;
class Reef;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark, Reef>;

/// What fish and sharks have in common. They live and die by their numbers, wherever they are in the heap.
class Animal : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Animal, (number_, std::uint64_t), (home_, Reef*), (friend_, Animal*))
  __device__ Animal(std::uint64_t number, Reef* home) : number_(number), home_(home), friend_(nullptr) {}
  __device__ std::uint64_t draw(std::uint64_t step, std::uint32_t bound) {
    return Random::of(number_, step).below(bound);
  }
};

class Reef : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Reef, (number_, std::uint32_t), (kind_, std::uint8_t))
  __device__ explicit Reef(std::size_t number)
      : number_(static_cast<std::uint32_t>(number)), kind_(static_cast<std::uint8_t>(number % 7)) {}
};

class Fish : public Animal {
 public:
  using BaseClass = Animal;
  DYNASOAR_FIELDS(Fish, (eggs_, std::uint16_t), (speed_, std::array<float, 3>))
  __device__ Fish(std::uint64_t number, Reef* home) : Animal(number, home), eggs_(std::uint16_t{0}) {
    for (std::size_t i = 0; i < 3; ++i) speed_[i] = static_cast<float>(number % 100 + i);
  }
  __device__ void live(std::uint64_t step) {
    eggs_ += std::uint16_t{1};
    if (draw(step, 5) == 0) {
      Fish* const child = dynasoar::make_new<Fish>(static_cast<std::uint64_t>(number_) * 31 + step, home_);
      if (child != nullptr) friend_ = child;
    } else if (draw(step, 5) == 1) {
      friend_ = nullptr;
    }
  }
  __device__ void die(std::uint64_t step) {
    if (draw(step + 1000, 6) == 0) dynasoar::destroy(this);
  }
  /// Fish forget friends that are about to die: nobody else is asked for long.
  __device__ void forget() { friend_ = nullptr; }
};

class Shark : public Animal {
 public:
  using BaseClass = Animal;
  DYNASOAR_FIELDS(Shark, (energy_, double))
  __device__ Shark(std::size_t number, Reef** reefs)
      : Animal(number, reefs[number % 16]), energy_(static_cast<double>(number)) {}
  __device__ void live(std::uint64_t step) { energy_ += static_cast<double>(draw(step, 100)); }
};

using Handle = AllocatorHandle<AllocatorT>;

constexpr std::size_t kPage = AllocatorT::pages().bytes;
constexpr std::size_t kReefs = 16;

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Why a file is not loaded.
template <class F>
std::pair<CheckpointFault, std::string> fault_of(const F& load) {
  try {
    load();
  } catch (const CheckpointError& error) {
    return {error.fault(), error.what()};
  }
  FAIL("it was loaded");
  return {};
}

/// A simulation with values of its own.
struct World {
  explicit World(HandleOptions options = {.heap_bytes = 400 * kPage, .threads = 1})
      : handle(options), reefs(kReefs), hashes(1) {
    hashes.fill_bytes(0);
  }

  void start() {
    handle.parallel_new<Reef>(kReefs);
    Reef** const all = reefs.data();
    handle.parallel_do<Reef>([all] __device__(Reef * reef) { all[reef->number_] = reef; });
    handle.parallel_new<Shark>(100, all);
    handle.parallel_for(2000, [all] __device__(std::size_t i) {
      dynasoar::make_new<Fish>(std::uint64_t{i}, static_cast<Reef*>(all[i % kReefs]));
    });
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i, ++step) {
      handle.parallel_do<&Fish::live>(step);
      handle.parallel_do<&Fish::forget>();
      handle.parallel_do<&Fish::die>(step);
      handle.parallel_do<&Shark::live>(step);
      history.push_back(step * step);
    }
  }

  template <class... Options>
  void save(const std::string& path, const Options&... options) {
    handle.save(path, options..., dynasoar::value("step", step), dynasoar::array("reefs", reefs),
                dynasoar::array("hashes", hashes), dynasoar::array("history", history));
  }

  void load(const std::string& path) {
    handle.load(path, dynasoar::array("history", history), dynasoar::value("step", step),
                dynasoar::array("hashes", hashes), dynasoar::array("reefs", reefs));
  }

  /// Numbers that tell populations apart, wherever the objects are.
  std::vector<std::uint64_t> digest() {
    Counters sums(6);
    Counter* const to = sums.data();
    Reef** const all = reefs.data();
    handle.parallel_do<Animal>([to, all] __device__(Animal * animal) {
      const std::uint64_t number = animal->number_;
      to[0].fetch_add(Random::of(number, 1).next(), dynasoar::Order::relaxed);
      to[1].fetch_add(Random::of(number, 2).next() * (1 + animal->home_->number_), dynasoar::Order::relaxed);
      if (all[animal->home_->number_] != animal->home_) to[2].fetch_add(1, dynasoar::Order::relaxed);
    });
    handle.parallel_do<Fish>([to] __device__(Fish * fish) {
      std::uint64_t mine = fish->eggs_;
      for (std::size_t i = 0; i < 3; ++i) mine = mine * 1009 + static_cast<std::uint64_t>(fish->speed_[i]);
      to[3].fetch_add(Random::of(fish->number_, mine).next(), dynasoar::Order::relaxed);
    });
    handle.parallel_do<Shark>([to] __device__(Shark * shark) {
      to[4].fetch_add(static_cast<std::uint64_t>(shark->energy_), dynasoar::Order::relaxed);
    });
    handle.parallel_do<Reef>([to] __device__(Reef * reef) {
      to[5].fetch_add(std::uint64_t{reef->kind_} << (reef->number_ % 16 * 3), dynasoar::Order::relaxed);
    });
    handle.synchronize();
    std::vector<std::uint64_t> numbers = sums.values();
    numbers.push_back(handle.count<Fish>());
    numbers.push_back(handle.count<Shark>());
    numbers.push_back(handle.count<Reef>());
    numbers.push_back(step);
    for (const std::uint64_t entry : history) numbers.push_back(entry);
    return numbers;
  }

  Handle handle;
  DeviceArray<Reef*> reefs;
  DeviceArray<std::uint32_t> hashes;
  std::vector<std::uint64_t> history;
  std::uint64_t step = 0;
};

HandleOptions on_threads(int threads) {
  return {.heap_bytes = 400 * kPage, .threads = threads};
}

TEST_CASE("a restored heap has the objects, the pointers and the program's values of the saved one") {
  const TestFolder folder;
  std::vector<std::uint64_t> expected;
  {
    World world(on_threads(4));
    world.start();
    world.run(10);
    world.save(folder / "a");
    expected = world.digest();
    CHECK(expected[2] == 0);  // pointers in the array are those in the fields
  }
  World world(on_threads(4));
  world.load(folder / "a");
  CHECK(world.digest() == expected);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  CHECK(folder.files() == 1);
}

TEST_CASE("a run that is saved and restored goes on bit for bit like one that was not") {
  const TestFolder folder;
  std::vector<std::uint64_t> expected;
  {
    World world;
    world.start();
    world.run(7);
    world.save(folder / "early");
    world.run(13);
    world.save(folder / "late");
    expected = world.digest();
  }
  World world;
  world.load(folder / "early");
  world.run(13);
  world.save(folder / "late again");
  CHECK(world.digest() == expected);
  // One thread allocates in one order, so even where objects lie, and where warps look next, is the same.
  if (!dynasoar::kCudaBackend) CHECK(contents_of(folder / "late") == contents_of(folder / "late again"));
}

TEST_CASE("saving changes nothing, and equal states make equal files") {
  const TestFolder folder;
  World world;
  world.start();
  world.run(5);
  world.save(folder / "a");
  world.save(folder / "b");
  CHECK(contents_of(folder / "a") == contents_of(folder / "b"));
  world.load(folder / "a");
  world.save(folder / "c");
  CHECK(contents_of(folder / "a") == contents_of(folder / "c"));
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("loading replaces what was in the heap") {
  const TestFolder folder;
  World world;
  world.start();
  world.save(folder / "start");
  const auto expected = world.digest();
  world.run(20);
  CHECK(world.digest() != expected);
  world.load(folder / "start");
  CHECK(world.digest() == expected);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("saving waits for loops that run") {
  const TestFolder folder;
  World world(on_threads(4));
  world.start();
  for (int i = 0; i < 20; ++i) world.run(1);  // on a GPU, none of them need be done
  world.save(folder / "a");
  const auto expected = world.digest();
  world.load(folder / "a");
  CHECK(world.digest() == expected);
}

TEST_CASE("an empty heap and a full one can be saved and loaded") {
  const TestFolder folder;
  World world({.heap_bytes = 40 * kPage, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
  world.save(folder / "empty");
  world.start();
  Reef** const all = world.reefs.data();
  world.handle.parallel_for(200'000, [all] __device__(std::size_t i) {
    dynasoar::make_new<Fish>(std::uint64_t{i}, static_cast<Reef*>(all[i % kReefs]));
  });
  world.handle.synchronize();
  const auto fish = world.handle.count<Fish>();
  CHECK(world.handle.statistics().free_pages == 0);
  world.save(folder / "full");
  world.load(folder / "empty");
  CHECK(world.handle.statistics().objects() == 0);
  CHECK(world.handle.statistics().free_pages == 40);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  world.load(folder / "full");
  CHECK(world.handle.count<Fish>() == fish);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  // It is still full, and what it refused before is not reported again.
  const auto refused = world.handle.statistics().refused();
  world.handle.synchronize();
  world.handle.parallel_for(1000, [all] __device__(std::size_t i) {
    dynasoar::make_new<Fish>(std::uint64_t{i}, static_cast<Reef*>(all[0]));
  });
  world.handle.synchronize();
  CHECK(world.handle.count<Fish>() == fish);
  CHECK(world.handle.statistics().refused() == refused + 1000);
  world.run(1);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("what was refused before a checkpoint is not reported after it is loaded") {
  const TestFolder folder;
  std::uint64_t refused = 0;
  {
    World world({.heap_bytes = 40 * kPage, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
    world.handle.parallel_new<Reef>(200'000);
    world.save(folder / "full");
    refused = world.handle.statistics().refused();
    CHECK(refused > 0);
  }
  World world({.heap_bytes = 40 * kPage, .threads = 4});
  world.load(folder / "full");
  CHECK_NOTHROW(world.handle.synchronize());
  CHECK(world.handle.statistics().refused() == refused);
}

TEST_CASE("a checkpoint is loaded into a larger heap, by another number of threads, and the heap is whole") {
  const TestFolder folder;
  std::vector<std::uint64_t> expected;
  std::vector<std::uint64_t> later;
  {
    World world(on_threads(4));
    world.start();
    world.run(10);
    world.save(folder / "a");
    expected = world.digest();
    world.run(10);
    later = world.digest();
  }
  World world({.heap_bytes = 777 * kPage, .threads = 2});
  world.load(folder / "a");
  CHECK(world.handle.statistics().pages == 777);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  CHECK(world.digest() == expected);
  world.run(10);
  CHECK(world.digest() == later);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("a smaller heap takes a checkpoint if the used blocks fit, and says how large it must be if not") {
  const TestFolder folder;
  std::vector<std::uint64_t> expected;
  {
    World world(on_threads(1));
    world.start();
    world.save(folder / "a");
    expected = world.digest();
  }
  std::size_t needed = 0;
  {
    World world({.heap_bytes = 4 * kPage, .threads = 1});
    world.handle.parallel_new<Reef>(5);
    const auto [fault, text] = fault_of([&] { world.load(folder / "a"); });
    CHECK(fault == CheckpointFault::heap_too_small);
    const std::size_t at = text.find("needs a heap of ");
    REQUIRE(at != std::string::npos);
    needed = std::stoull(text.substr(at + 16));
    CHECK(world.handle.count<Reef>() == 5);
    CHECK(world.step == 0);
  }
  CHECK(needed % kPage == 0);
  CHECK(needed > 4 * kPage);
  World world({.heap_bytes = needed, .threads = 1});
  world.load(folder / "a");
  CHECK(world.digest() == expected);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("a growing heap grows to the size of the saved one, and goes on bit for bit") {
  const TestFolder folder;
  const HandleOptions grows{.heap_bytes = 16 * kPage, .heap_limit_bytes = 4000 * kPage, .threads = 1};
  std::uint64_t pages = 0;
  std::vector<std::uint64_t> expected;
  {
    World world(grows);
    world.start();
    world.handle.reserve<Fish>(10'000);  // grows it, which these few animals may not
    world.run(30);
    world.save(folder / "a");
    pages = world.handle.statistics().pages;
    CHECK(pages > 16);
    world.run(40);
    world.save(folder / "b");
    expected = world.digest();
  }
  World world(grows);
  world.load(folder / "a");
  CHECK(world.handle.statistics().pages == pages);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  world.run(40);
  world.save(folder / "b again");
  CHECK(world.digest() == expected);
  if (!dynasoar::kCudaBackend) CHECK(contents_of(folder / "b") == contents_of(folder / "b again"));
}

TEST_CASE("compacted objects are saved where they are") {
  const TestFolder folder;
  World world(on_threads(4));
  world.start();
  world.run(15);
  world.handle.compact<Fish>();
  const auto expected = world.digest();
  world.save(folder / "a");
  world.handle.compact<Animal>();
  world.run(3);
  world.load(folder / "a");
  CHECK(world.digest() == expected);
  world.handle.compact<Animal>();
  CHECK(world.digest() == expected);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("a recorded step runs on what was loaded, also if the heap has grown for it") {
  const TestFolder folder;
  {
    World world({.heap_bytes = 300 * kPage, .threads = 4});
    world.start();
    world.save(folder / "a");
  }
  World world({.heap_bytes = 8 * kPage, .heap_limit_bytes = 4000 * kPage, .threads = 4});
  world.handle.parallel_new<Reef>(3);
  auto step = world.handle.record([&world] { world.handle.parallel_do<Shark, &Shark::live>(std::uint64_t{1}); });
  step();
  world.load(folder / "a");
  const double before = world.handle.sum<&Shark::energy_>();
  step();
  step();
  CHECK(world.handle.sum<&Shark::energy_>() > before);
  CHECK(world.handle.count<Reef>() == kReefs);
}

TEST_CASE("lists may be kept while a checkpoint is saved, but not while one is loaded") {
  const TestFolder folder;
  World world;
  world.start();
  world.handle.synchronize();
  {
    const auto kept = world.handle.keep_lists();
    world.save(folder / "a");
    world.handle.parallel_do<&Shark::live>(std::uint64_t{1});
    CHECK_THROWS_WITH_AS(world.load(folder / "a"), doctest::Contains("while lists are kept"), Error);
  }
  world.load(folder / "a");
  CHECK(world.handle.count<Shark>() == 100);
}

TEST_CASE("neither saving nor loading is a part of a recorded step") {
  const TestFolder folder;
  World world;
  world.save(folder / "a");
  CHECK_THROWS_AS(
      {
        auto step = world.handle.record([&] { world.save(folder / "b"); });
        step();
      },
      Error);
  CHECK_THROWS_AS(
      {
        auto step = world.handle.record([&] { world.load(folder / "a"); });
        step();
      },
      Error);
}

// Values of the program.

TEST_CASE("values are found by name, and checked by size and type") {
  const TestFolder folder;
  World world;
  std::uint32_t a = 1;
  double b = 2.5;
  std::array<int, 3> c{1, 2, 3};
  DeviceArray<float> d(10);
  d.upload(std::vector<float>(10, 0.5f));
  world.handle.save(folder / "a", dynasoar::value("a", a), dynasoar::value("b", b), dynasoar::value("c", c),
                    dynasoar::array("d", d.data(), 10));
  a = 0, b = 0, c = {};
  d.fill_bytes(0);
  world.handle.load(folder / "a", dynasoar::array("d", d), dynasoar::value("c", c), dynasoar::value("b", b),
                    dynasoar::value("a", a));
  CHECK(a == 1);
  CHECK(b == 2.5);
  CHECK(c == std::array<int, 3>{1, 2, 3});
  CHECK(d.download() == std::vector<float>(10, 0.5f));

  dynasoar::CheckpointItems items;
  items.add(dynasoar::value("b", b)).add(dynasoar::array("d", d)).add(dynasoar::value("c", c));
  items.add(dynasoar::value("a", a));
  {
    std::vector<int> growing{1, 2, 3};
    dynasoar::CheckpointItems more;
    more.add(dynasoar::array("growing", growing));
    world.handle.save(folder / "b", more);
    growing.assign(10000, 4);
    world.handle.load(folder / "b", more);
    CHECK(growing == std::vector<int>{1, 2, 3});
    growing.assign(10000, 5);
    world.handle.save(folder / "b", more);  // as it is now
    growing.clear();
    world.handle.load(folder / "b", more);
    CHECK(growing == std::vector<int>(10000, 5));
    std::filesystem::remove(folder / "b");
  }
  a = 0, b = 0, c = {};
  d.fill_bytes(0);
  world.handle.load(folder / "a", items);
  CHECK(a == 1);
  CHECK(b == 2.5);
  CHECK(c == std::array<int, 3>{1, 2, 3});
  CHECK(d.download() == std::vector<float>(10, 0.5f));
  a = 7;
  world.handle.save(folder / "a", items);
  a = 8;
  world.handle.load(folder / "a", items);
  CHECK(a == 7);
  a = 1;
  CHECK_THROWS_WITH_AS(world.handle.save(folder / "b", items.add(dynasoar::value("a", b))),
                       doctest::Contains("the name 'a'"), Error);

  const auto text_of = [&](const auto&... items) {
    const auto [fault, text] = fault_of([&] { world.handle.load(folder / "a", items...); });
    CHECK(fault == CheckpointFault::other_values);
    return text;
  };
  using dynasoar::array;
  using dynasoar::value;
  float other = 0;
  DeviceArray<float> shorter(9);
  CHECK(text_of(value("a", a), value("b", b), value("c", c)).find("'d: 10 * f4' that the program does not ask for") !=
        std::string::npos);
  CHECK(text_of(value("a", a), value("b", b), value("c", c), array("d", d), value("e", other)).find("no value 'e'") !=
        std::string::npos);
  CHECK(text_of(value("a", other), value("b", b), value("c", c), array("d", d))
            .find("'a: 1 * u4', and the program asks for 'a: 1 * f4'") != std::string::npos);
  CHECK(text_of(value("a", a), value("b", b), value("c", c), array("d", shorter))
            .find("'d: 10 * f4', and the program asks for 'd: 9 * f4'") != std::string::npos);
  CHECK(a == 1);
  CHECK_THROWS_WITH_AS(world.handle.save(folder / "b", value("a", a), value("a", b)), doctest::Contains("the name 'a'"),
                       Error);
  CHECK_THROWS_WITH_AS(world.handle.save(folder / "b", value("a:b", a)), doctest::Contains("is no name"), Error);
  CHECK(folder.files() == 1);
}

TEST_CASE("values are read without a handle, and without the objects") {
  using dynasoar::array;
  using dynasoar::load_values;
  using dynasoar::value;
  const TestFolder folder;
  {
    World world;
    world.start();
    world.run(5);
    world.save(folder / "a");
    world.handle.save(folder / "none");
  }
  std::uint64_t step = 0;
  std::vector<std::uint64_t> history;
  load_values(folder / "a", array("history", history), value("step", step));
  CHECK(step == 5);
  CHECK(history == std::vector<std::uint64_t>{0, 1, 4, 9, 16});
  step = 0;
  load_values(folder / "a", value("step", step));
  CHECK(step == 5);
  load_values(folder / "none");

  std::uint32_t other = 0;
  const auto text_of = [&](const std::string& file, const auto&... items) {
    const auto [fault, text] = fault_of([&] { load_values(folder / file, items...); });
    CHECK(fault == CheckpointFault::other_values);
    return text;
  };
  CHECK(text_of("a", value("steps", other)).find("has no value 'steps'") != std::string::npos);
  CHECK(text_of("none", value("step", step)).find("has no value 'step'") != std::string::npos);
  CHECK(text_of("a", value("step", other)).find("'step: 1 * u8', and the program asks for 'step: 1 * u4'") !=
        std::string::npos);
  DeviceArray<Reef*> reefs(kReefs);
  CHECK_THROWS_WITH_AS(load_values(folder / "a", array("reefs", reefs)), doctest::Contains("with a handle"), Error);
  std::string bytes = contents_of(folder / "a");
  bytes[bytes.size() / 2] ^= 1;
  write_file(folder / "a", bytes);
  CHECK(fault_of([&] { load_values(folder / "a", value("step", step)); }).first == CheckpointFault::damaged);
}

TEST_CASE("arrays of many chunks and empty ones come back") {
  const TestFolder folder;
  World world;
  DeviceArray<std::uint64_t> large(9'000'000);
  std::vector<std::uint64_t> numbers(large.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * i;
  large.upload(numbers);
  DeviceArray<int> none;
  std::vector<std::uint64_t> copy = numbers;
  std::vector<int> empty;
  const auto a = dynasoar::array("large", large);
  const auto b = dynasoar::array("none", none);
  world.handle.save(folder / "a", b, a, dynasoar::array("copy", copy), dynasoar::array("empty", empty));
  large.fill_bytes(0);
  copy.clear();
  empty.resize(7);
  world.handle.load(folder / "a", a, b, dynasoar::array("copy", copy), dynasoar::array("empty", empty));
  CHECK(large.download() == numbers);
  CHECK(copy == numbers);
  CHECK(empty.empty());
}

// Files that will not do.

class Speck;
using SpeckAllocator = dynasoar::SoaAllocator<Speck>;
class Speck : public dynasoar::SoaBase<SpeckAllocator> {
 public:
  DYNASOAR_FIELDS(Speck, (number_, std::uint8_t))
  __device__ explicit Speck(std::size_t number) : number_(static_cast<std::uint8_t>(number)) {}
};
using SpeckHandle = AllocatorHandle<SpeckAllocator>;

HandleOptions specks() {
  return {.heap_bytes = 4 * SpeckAllocator::pages().bytes, .threads = 1};
}

TEST_CASE("a flipped bit anywhere in a file is found, and nothing changes") {
  const TestFolder folder;
  SpeckHandle handle(specks());
  handle.parallel_new<Speck>(130);
  std::uint64_t step = 17;
  handle.save(folder / "a", dynasoar::value("step", step));
  const std::string good = contents_of(folder / "a");
  MESSAGE("a file of ", good.size(), " bytes");
  step = 18;
  handle.parallel_do<Speck>([] __device__(Speck * speck) { speck->number_ += std::uint8_t{1}; });
  const auto sum = handle.sum<&Speck::number_>();
  std::size_t loaded = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write_file(folder / "b", bad);
    try {
      handle.load(folder / "b", dynasoar::value("step", step));
      ++loaded;
    } catch (const CheckpointError& error) {
      const bool is_clear =
          error.fault() == CheckpointFault::damaged || (i < 8 && error.fault() == CheckpointFault::not_a_checkpoint);
      if (!is_clear) FAIL_CHECK("byte ", i, ": ", error.what());
    }
  }
  CHECK(loaded == 0);
  CHECK(step == 18);
  CHECK(handle.sum<&Speck::number_>() == sum);
  handle.load(folder / "a", dynasoar::value("step", step));
  CHECK(step == 17);
  CHECK(handle.sum<&Speck::number_>() == sum - 130);
}

/// The file with another header, which gets the right checksum.
template <class Change>
std::string with_header(std::string file, const Change& change) {
  dynasoar::detail::CheckpointHeader header{};
  std::memcpy(&header, file.data(), sizeof header);
  change(header);
  header.checksum = header.expected_checksum();
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

/// The file with one more in the shard number `word` of all that section `counters` has, and the right checksums.
std::string with_counter_off(std::string file, std::size_t word) {
  using namespace dynasoar::detail;
  std::vector<std::uint64_t> sums;
  for (std::size_t at = sizeof(CheckpointHeader); at < file.size();) {
    ChunkHeader chunk;
    std::memcpy(&chunk, file.data() + at, sizeof chunk);
    char* const contents = file.data() + at + sizeof chunk;
    if (chunk.section == Section::counters) {
      std::uint64_t value = 0;
      std::memcpy(&value, contents + word * sizeof value, sizeof value);
      ++value;
      std::memcpy(contents + word * sizeof value, &value, sizeof value);
      chunk.data = checksum(contents, chunk.stored);
      chunk.checksum = chunk.expected_checksum();
      std::memcpy(file.data() + at, &chunk, sizeof chunk);
    }
    sums.push_back(chunk.checksum);
    at += sizeof chunk + chunk.stored;
  }
  return with_header(std::move(file), [&](CheckpointHeader& header) {
    header.body = checksum(sums.data(), sums.size() * sizeof(std::uint64_t));
  });
}

TEST_CASE("a file whose counters do not count its blocks and pages is refused") {
  const TestFolder folder;
  SpeckHandle handle(specks());
  handle.parallel_new<Speck>(130);
  handle.save(folder / "a");
  const std::string good = contents_of(folder / "a");
  constexpr std::size_t kShards = dynasoar::PlatformAtomics::kShards;
  constexpr std::size_t kOfClass = 6 * kShards + dynasoar::kRefusals + 1;
  // created, deleted, opened, closed, emptied, reused; pages freed, pages taken
  for (const std::size_t word :
       {std::size_t{0}, kShards, 2 * kShards, 3 * kShards, 4 * kShards, 5 * kShards, kOfClass, kOfClass + kShards}) {
    CAPTURE(word / kShards);
    write_file(folder / "b", with_counter_off(good, word));
    if (word < 2 * kShards) {  // as after an object was destroyed twice
      CHECK_NOTHROW(handle.load(folder / "b"));
    } else {
      const auto [fault, what] = fault_of([&] { handle.load(folder / "b"); });
      CHECK(fault == CheckpointFault::damaged);
      CHECK(what.find("its parts do not fit together") != std::string::npos);
    }
  }
  handle.load(folder / "a");
  CHECK(handle.count<Speck>() == 130);
}

TEST_CASE("a truncated file is found, wherever it ends, and nothing changes; so is a longer one") {
  const TestFolder folder;
  SpeckHandle handle(specks());
  handle.parallel_new<Speck>(130);
  handle.save(folder / "a");
  const std::string good = contents_of(folder / "a");
  std::size_t truncated = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_file(folder / "b", good.substr(0, size));
    const auto [fault, text] = fault_of([&] { handle.load(folder / "b"); });
    if (fault == CheckpointFault::truncated) ++truncated;
  }
  CHECK(truncated == good.size());
  write_file(folder / "b", good + '\0');
  CHECK(fault_of([&] { handle.load(folder / "b"); }).first == CheckpointFault::damaged);
  CHECK(handle.count<Speck>() == 130);
}

TEST_CASE("random damage to a larger file is found") {
  const TestFolder folder;
  World world;
  world.start();
  world.run(5);
  const auto expected = world.digest();
  world.save(folder / "a");
  const std::string good = contents_of(folder / "a");
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  };
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    const std::size_t begin = below(bad.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(bad.size() - begin, 5000));
    switch (i % 3) {
      case 0:
        for (std::size_t k = 0; k < length; ++k) bad[begin + k] = static_cast<char>(random());
        break;
      case 1: bad.erase(begin, length), bad += std::string(length, '\0'); break;
      default: std::swap(bad[begin], bad[below(bad.size())]); break;
    }
    if (bad == good) continue;
    write_file(folder / "b", bad);
    const auto [fault, text] = fault_of([&] { world.load(folder / "b"); });
    CHECK((fault == CheckpointFault::damaged || fault == CheckpointFault::not_a_checkpoint));
  }
  CHECK(world.digest() == expected);
  world.load(folder / "a");
  CHECK(world.digest() == expected);
}

TEST_CASE("parts of another checkpoint of the same program are found") {
  const TestFolder folder;
  SpeckHandle handle(specks());
  const auto age = [&handle] {
    handle.parallel_do<Speck>([] __device__(Speck * speck) { speck->number_ += std::uint8_t{1}; });
  };
  handle.parallel_new<Speck>(130);
  age();
  handle.save(folder / "a");
  age();
  handle.save(folder / "b");
  const std::string a = contents_of(folder / "a");
  const std::string b = contents_of(folder / "b");
  REQUIRE(a.size() == b.size());
  // Each half is what was written, so all of its chunks have the right checksums.
  const std::size_t half = a.size() - 3 * 128 - 40;
  const std::string both = a.substr(0, half) + b.substr(half);
  REQUIRE(both != a);
  REQUIRE(both != b);
  write_file(folder / "c", both);
  CHECK(fault_of([&] { handle.load(folder / "c"); }).first == CheckpointFault::damaged);
}

TEST_CASE("foreign, older and newer files are told apart") {
  const TestFolder folder;
  SpeckHandle handle(specks());
  handle.parallel_new<Speck>(130);
  handle.save(folder / "a");
  const std::string good = contents_of(folder / "a");
  write_file(folder / "b", "Not a checkpoint at all, but a text of more than sixty-four characters.");
  const auto foreign = fault_of([&] { handle.load(folder / "b"); });
  CHECK(foreign.first == CheckpointFault::not_a_checkpoint);
  const auto of_version = [&](std::uint32_t version) {
    write_file(folder / "b", with_header(good, [&](auto& header) { header.version = version; }));
    return fault_of([&] { handle.load(folder / "b"); });
  };
  const auto older = of_version(1);
  CHECK(older.first == CheckpointFault::older_format);
  CHECK(older.second.find("is in format 1, and this program reads formats 2 to 2") != std::string::npos);
  const auto newer = of_version(3);
  CHECK(newer.first == CheckpointFault::newer_format);
  CHECK(newer.second.find("newer version of the library") != std::string::npos);
  CHECK_THROWS_WITH_AS(handle.load(folder / "none"), doctest::Contains("No such file"), Error);
  CHECK_THROWS_WITH_AS(handle.load(folder / "."), doctest::Contains("it is not a file"), Error);
  CHECK(handle.count<Speck>() == 130);
}

namespace other {
class Speck;
using Allocator = dynasoar::SoaAllocator<Speck>;
class Speck : public dynasoar::SoaBase<Allocator> {
 public:
  DYNASOAR_FIELDS(Speck, (number_, std::int8_t))
  __device__ explicit Speck(std::size_t number) : number_(static_cast<std::int8_t>(number)) {}
};
}  // namespace other

TEST_CASE(
    "a file of other classes is refused, and the message shows the first difference; two handles have two files") {
  const TestFolder folder;
  SpeckHandle handle(specks());
  handle.parallel_new<Speck>(130);
  AllocatorHandle<other::Allocator> another({.heap_bytes = 4 * other::Allocator::pages().bytes, .threads = 1});
  another.parallel_new<other::Speck>(7);
  handle.save(folder / "a");
  another.save(folder / "b");
  const auto [fault, text] = fault_of([&] { another.load(folder / "a"); });
  CHECK(fault == CheckpointFault::other_classes);
  CHECK(text.find("the file has 'Speck: 128 bytes") != std::string::npos);
  CHECK(text.find("u1 at 0', the program 'Speck: 128 bytes") != std::string::npos);
  World world;
  CHECK(fault_of([&] { world.handle.load(folder / "a"); }).first == CheckpointFault::other_classes);
  another.load(folder / "b");
  handle.load(folder / "a");
  CHECK(handle.count<Speck>() == 130);
  CHECK(another.count<other::Speck>() == 7);
}

// Compression.

TEST_CASE("a compressed checkpoint is smaller and gives the same heap; without zstd it is refused clearly") {
  const TestFolder folder;
  World world;
  world.start();
  world.run(5);
  world.save(folder / "plain");
  if (dynasoar::detail::kHasZstd) world.save(folder / "small", dynasoar::SaveOptions{.compression_level = 3});
  const auto expected = world.digest();
  if (!dynasoar::detail::kHasZstd) {
    CHECK_THROWS_WITH_AS(world.save(folder / "a", dynasoar::SaveOptions{.compression_level = 3}),
                         doctest::Contains("link it to dynasoar::zstd"), Error);
    // What a file looks like to such a program: a chunk that says that it is compressed.
    std::string file = contents_of(folder / "plain");
    dynasoar::detail::ChunkHeader chunk{};
    std::memcpy(&chunk, file.data() + 64, sizeof chunk);
    chunk.method = dynasoar::detail::Storing::zstd;
    chunk.checksum = chunk.expected_checksum();
    std::memcpy(file.data() + 64, &chunk, sizeof chunk);
    write_file(folder / "a", file);
    const auto [fault, text] = fault_of([&] { world.load(folder / "a"); });
    CHECK(fault == CheckpointFault::needs_compression);
    CHECK(text.find("link it to dynasoar::zstd") != std::string::npos);
    CHECK(world.digest() == expected);
    return;
  }
  CHECK(contents_of(folder / "small").size() < contents_of(folder / "plain").size() / 2);
  world.run(5);
  world.load(folder / "small");
  world.save(folder / "again");
  CHECK(world.digest() == expected);
  CHECK(contents_of(folder / "again") == contents_of(folder / "plain"));
}

TEST_CASE("compression levels that do not exist are refused") {
  const TestFolder folder;
  World world;
  CHECK_THROWS_WITH_AS(world.save(folder / "a", dynasoar::SaveOptions{.compression_level = 20}),
                       doctest::Contains("0, or 1 to 19"), Error);
  CHECK_THROWS_AS(world.save(folder / "a", dynasoar::SaveOptions{.compression_level = -1}), Error);
  CHECK(folder.files() == 0);
}

// Failures of the disk and of programs.

TEST_CASE("if a checkpoint cannot be written, the old one stays, and the heap as well") {
  const TestFolder folder;
  World world;
  world.start();
  world.save(folder / "a");
  const std::string before = contents_of(folder / "a");
  const auto expected = world.digest();
  CHECK_THROWS_WITH_AS(world.save(folder / "no/such/folder"), doctest::Contains("No such file"), Error);
  world.run(1);
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 10'000;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_THROWS_WITH_AS(world.save(folder / "a"), doctest::Contains("File too large"), Error);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  CHECK(folder.files() == 1);
  CHECK(contents_of(folder / "a") == before);
  world.load(folder / "a");
  CHECK(world.digest() == expected);
}

TEST_CASE("two saves to one path at once: the second one is refused") {
  const TestFolder folder;
  World world;
  dynasoar::detail::DurableFile first(folder / "a");
  CHECK_THROWS_WITH_AS(world.save(folder / "a"), doctest::Contains("being written by another save"), Error);
  first.commit();
  world.save(folder / "a");
  CHECK(folder.files() == 1);
}

TEST_CASE("a save that refused objects interrupt saves nothing, and the next one does") {
  const TestFolder folder;
  World world({.heap_bytes = 8 * kPage, .threads = 1});
  world.handle.parallel_new<Reef>(200'000);
  CHECK_THROWS_AS(world.save(folder / "a"), dynasoar::AllocationError);
  CHECK(folder.files() == 0);
  world.save(folder / "a");
  world.load(folder / "a");
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

constexpr const char* kVictim = "victim: saves until it is killed";

/// Every object has the number of the step, so a file that is half old and half new can be told.
TEST_CASE("victim: saves until it is killed" * doctest::skip()) {
  const char* const path = std::getenv("DYNASOAR_CHECKPOINT");
  REQUIRE(path != nullptr);
  World world(on_threads(2));
  DeviceArray<std::uint32_t> steps(300'000);
  std::uint32_t step = 0;
  const auto a = dynasoar::value("step", step);
  const auto b = dynasoar::array("steps", steps);
  world.handle.load(path, a, b);
  for (;;) {
    ++step;
    steps.upload(std::vector<std::uint32_t>(steps.size(), step));
    world.handle.parallel_do<Shark>([] __device__(Shark * shark) { shark->number_ += 1; });
    world.handle.save(path, a, b);
  }
}

TEST_CASE("a program that is killed while it saves leaves the old file or the new one") {
  const TestFolder folder;
  const std::string path = folder / "a";
  DeviceArray<std::uint32_t> steps(300'000);
  std::uint32_t step = 0;
  const auto a = dynasoar::value("step", step);
  const auto b = dynasoar::array("steps", steps);
  World world(on_threads(2));
  steps.fill_bytes(0);
  world.start();
  world.handle.parallel_do<Shark>([] __device__(Shark * shark) { shark->number_ = 0; });
  world.handle.save(path, a, b);

  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::string filter = std::string("--test-case=") + kVictim;
  const std::string variable = "DYNASOAR_CHECKPOINT=" + path;
  std::uint32_t last = 0;
  for (int round = 0; round < 15; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      putenv(const_cast<char*>(variable.c_str()));
      execl("/proc/self/exe", "victim", filter.c_str(), "--no-skip", static_cast<char*>(nullptr));
      _exit(1);
    }
    REQUIRE(child > 0);
    // It has begun when the file changes; on a GPU that takes seconds.
    const auto written = std::filesystem::last_write_time(path);
    for (int i = 0; i < 3000 && std::filesystem::last_write_time(path) == written; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));  // else it failed by itself
    world.handle.load(path, a, b);
    CHECK(step > last);
    last = step;
    const std::vector<std::uint32_t> found = steps.download();
    CHECK(std::count(found.begin(), found.end(), step) == static_cast<std::ptrdiff_t>(found.size()));
    CHECK(world.handle.sum<&Animal::number_>() > 0);
    CHECK(world.handle.minimum<&Animal::number_>().has_value());
    const std::uint64_t now = step;
    CHECK(world.handle.count_if<Shark>([now] __device__(Shark * shark) { return shark->number_ == now; }) == 100);
    CHECK(dynasoar::test::heap_errors(world.handle) == "");
  }
  world.handle.save(path, a, b);
  CHECK(folder.files() == 1);  // what was left behind has been overwritten
}

#if DYNASOAR_CHECKED

TEST_CASE("in checked builds, what was found before is found after a checkpoint was loaded") {
  const TestFolder folder;
  DeviceArray<Fish*> stale(1);
  {
    World world;
    world.start();
    Fish** const to = stale.data();
    world.handle.parallel_do<Fish>([to] __device__(Fish * fish) {
      if (fish->number_ == 5) {
        *to = fish;
        dynasoar::destroy(fish);
      }
    });
    // On a GPU, and with one thread here, its slot is used again.
    world.handle.parallel_new<Shark>(10, world.reefs.data());
    world.handle.save(folder / "a", dynasoar::array("stale", stale));
  }
  World world;
  world.handle.load(folder / "a", dynasoar::array("stale", stale));
  CHECK_NOTHROW(world.handle.synchronize());
  CHECK(world.handle.count<Fish>() == 1999);
  Fish** const from = stale.data();
  world.handle.parallel_for(1, [from] __device__(std::size_t) { (*from)->eggs_ = std::uint16_t{1}; });
  CHECK_THROWS_WITH_AS(world.handle.synchronize(), doctest::Contains("Fish"), dynasoar::MisuseError);
  world.handle.parallel_for(1, [from] __device__(std::size_t) { dynasoar::destroy(*from); });
  CHECK_THROWS_AS(world.handle.synchronize(), dynasoar::MisuseError);
  world.run(5);
  CHECK_NOTHROW(world.handle.synchronize());
}

TEST_CASE("calls that are to fail are counted on after a checkpoint was loaded") {
  const TestFolder folder;
  const HandleOptions options{.heap_bytes = 400 * kPage,
                              .on_refusal = dynasoar::OnRefusal::record,
                              .threads = 1,
                              .failing_allocations = {.first = 15}};
  {
    World world(options);
    world.handle.parallel_new<Reef>(10);
    world.save(folder / "a");
  }
  World world(options);
  world.load(folder / "a");
  world.handle.parallel_new<Reef>(10);
  CHECK(world.handle.count<Reef>() == 19);
}

#endif

// Between kinds of build: each program has these two, and CMakeLists.txt has one load what the other one saves.

const char* path_of_other_build() {
  const char* const path = std::getenv("DYNASOAR_CHECKPOINT");
  REQUIRE(path != nullptr);
  return path;
}

TEST_CASE("other build: saves" * doctest::skip()) {
  World world(on_threads(2));
  world.start();
  world.run(3);
  world.save(path_of_other_build());
}

TEST_CASE("other build: loads" * doctest::skip()) {
  std::vector<std::uint64_t> expected;
  {
    World world(on_threads(2));
    world.start();
    world.run(3);
    expected = world.digest();
  }
  World world(on_threads(2));
  if (!dynasoar::kChecked) {
    const auto [fault, text] = fault_of([&] { world.load(path_of_other_build()); });
    CHECK(fault == CheckpointFault::checked_build);
    CHECK(text.find("DYNASOAR_CHECKED=1") != std::string::npos);
    return;
  }
  world.load(path_of_other_build());
  CHECK(world.digest() == expected);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  // Pointers of objects that were alive are good, and others are found.
  Counters bits(1);
  Counter* const to = bits.data();
  world.handle.parallel_do<Fish>([to] __device__(Fish * fish) {
    if (fish->number_ == 7) to->fetch_add(reinterpret_cast<std::uint64_t>(fish), dynasoar::Order::relaxed);
    dynasoar::destroy(fish);
  });
  world.handle.synchronize();
  const std::uint64_t stale = bits[0];
  world.handle.parallel_for(1, [stale] __device__(std::size_t) {
    if (stale != 0) reinterpret_cast<Fish*>(stale)->eggs_ = std::uint16_t{1};
    Reef* const reef = dynasoar::make_new<Reef>(std::size_t{1});
    reef->kind_ = std::uint8_t{3};
  });
  if (stale == 0) {
    CHECK_NOTHROW(world.handle.synchronize());
  } else {
    CHECK_THROWS_AS(world.handle.synchronize(), dynasoar::MisuseError);
  }
}

}  // namespace checkpoint_test
