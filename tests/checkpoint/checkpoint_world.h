// A simulation that is saved and loaded, for checkpoint_test.cpp and checkpoint_files_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../dsl/test_folder.h"
#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "../platform/thrown.h"

namespace checkpoint_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Animal;
class Fish;
class Shark;
class Reef;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark, Reef>;

/// What fish and sharks have in common. They live and die by their numbers, wherever they are in the heap.
class Animal : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Animal, (number_, std::uint64_t), (home_, Reef*), (short_home_, CompressedPointer<Reef>),
                  (friend_, Animal*))
  __device__ Animal(std::uint64_t number, Reef* home)
      : number_(number), home_(home), short_home_(home), friend_(nullptr) {}
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
  /// Fish forget friends that are about to die; they keep other friends.
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

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Why a file is not loaded.
template <class F>
std::pair<CheckpointFault, std::string> fault_of(const F& load) {
  const auto error = thrown<CheckpointError>(load);
  return {error.fault(), error.what()};
}

inline HandleOptions on_threads(int threads) {
  return {.heap_bytes = 400 * kPage, .threads = threads};
}

/// A simulation with values of its own.
struct World {
  explicit World(const HandleOptions& options = on_threads(1)) : handle(options), reefs(kReefs), hashes(1) {
    reefs.fill_bytes(0);
    hashes.fill_bytes(0);
  }

  void start() {
    hashes.fill_bytes(0x5a);
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
      Reef* const home = all[animal->home_->number_];
      if (home != animal->home_ || home != animal->short_home_) to[2].fetch_add(1, dynasoar::Order::relaxed);
    });
    handle.parallel_do<Fish>([to] __device__(Fish * fish) {
      std::uint64_t fields = fish->eggs_;
      for (std::size_t i = 0; i < 3; ++i) fields = fields * 1009 + static_cast<std::uint64_t>(fish->speed_[i]);
      to[3].fetch_add(Random::of(fish->number_, fields).next(), dynasoar::Order::relaxed);
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
    numbers.push_back(hashes.download()[0]);
    for (const std::uint64_t entry : history) numbers.push_back(entry);
    return numbers;
  }

  /// Checks that the heap is in order and has this population.
  void check(const std::vector<std::uint64_t>& expected) {
    CHECK(digest() == expected);
    CHECK(dynasoar::test::heap_errors(handle) == "");
  }

  Handle handle;
  DeviceArray<Reef*> reefs;
  DeviceArray<std::uint32_t> hashes;
  std::vector<std::uint64_t> history;
  std::uint64_t step = 0;
};

/// A simulation after so many steps.
struct RunningWorld : World {
  explicit RunningWorld(int steps, const HandleOptions& options = on_threads(1)) : World(options) {
    start();
    run(steps);
  }
};

/// Saves a simulation after so many steps. @return its population
inline std::vector<std::uint64_t> save_run(const HandleOptions& options, int steps, const std::string& path) {
  RunningWorld world(steps, options);
  world.save(path);
  return world.digest();
}

}  // namespace checkpoint_test
