// Threads of a warp that create and delete objects of four classes in different branches and loops: none waits for ever
// for another one, and no lane gets another's object.
//
// DYNASOAR_STRESS_SECONDS says for how long; without it, there are a few rounds.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/test_classes.h"
#include "../platform/test_support.h"

namespace diverged_requests_test {

using namespace dynasoar::test;

constexpr std::uint32_t kMost = 16;  // objects of a thread at a time

/// A thread that does what its own random numbers say.
class Actor {
 public:
  __device__ Actor(Stamped** table, std::size_t threads, std::size_t thread, std::uint64_t seed, Counter& wrong)
      : mine_(table + thread),
        stride_(threads),
        owner_(static_cast<std::uint32_t>(thread)),
        random_(Random::of(seed, thread)),
        wrong_(wrong) {}

  __device__ void live() {
    const std::uint32_t steps = random_.below(40);
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (random_.below(64) == 0) break;  // some leave early
      step();
    }
    while (held_ > 0) destroy();
  }

 private:
  __device__ void step() {
    switch (random_.below(9)) {
      case 0: make<Tiny>(); break;
      case 1: make<Small>(); break;
      case 2: make<Medium>(); break;
      case 3: make<Large>(); break;
      case 4:
        for (std::uint32_t i = random_.below(5); i > 0; --i) {
          if (random_.below(2) == 0) {
            make<Small>();
          } else {
            make<Medium>();
          }
        }
        break;
      case 5: make_some(random_.below(6)); break;
      case 6:
        make<Small>();
        destroy();
        break;
      case 7:
        for (std::uint32_t i = random_.below(4); i > 0; --i) destroy();
        break;
      default: destroy(); break;
    }
  }

  template <class T>
  __device__ void make() {
    if (held_ == kMost) return;
    mine_[held_ * stride_] = dynasoar::make_new<T>(stamp_of(held_));
    dynasoar::test::count_if(wrong_, mine_[held_ * stride_] == nullptr);
    ++held_;
  }

  __device__ void make_some(std::uint32_t count) {
    if (count > kMost - held_) count = kMost - held_;
    const std::uint32_t made = dynasoar::make_new_n<Tiny>(count, mine_ + held_ * stride_, stride_, stamp_of(held_));
    dynasoar::test::count_if(wrong_, made != count);
    held_ += count;
  }

  /// Every object knows its owner, and where in the owner's table it is.
  __device__ std::uint32_t stamp_of(std::uint32_t place) const { return owner_ * kMost + place; }

  /// Deletes the newest object.
  __device__ void destroy() {
    if (held_ == 0) return;
    Stamped* const object = mine_[--held_ * stride_];
    dynasoar::test::count_if(wrong_, object == nullptr || !intact(object, stamp_of(held_)));
    dynasoar::destroy(object);
  }

  Stamped** mine_;
  std::size_t stride_;
  std::uint32_t owner_;
  std::uint32_t held_ = 0;
  Random random_;
  Counter& wrong_;
};

TEST_CASE("threads that part in branches and loops create and delete without losing, sharing or waiting for ever") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  const char* const limit = std::getenv("DYNASOAR_STRESS_SECONDS");
  const std::chrono::duration<double> time(limit != nullptr ? std::strtod(limit, nullptr) : 0);
  const std::size_t threads = dynasoar::kCudaBackend ? 100'000 / dynasoar::test::kSlowdown + 7 : 1007;
  dynasoar::AllocatorHandle<FourTypes> handle({.heap_bytes = std::size_t{dynasoar::kCudaBackend ? 1024u : 16u} << 20});
  auto table = dynasoar::test::zeroed<Stamped*>(kMost * threads);
  const dynasoar::test::Counters wrong(1);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t rounds = 0;
  do {
    const std::uint64_t round_seed = seed + rounds;
    handle.parallel_for(threads, [objects = table.data(), threads = threads, round_seed, to = wrong.data()] __device__(
                                     std::size_t i) { Actor(objects, threads, i, round_seed, *to).live(); });
    handle.synchronize();  // throws if an object could not be created
    REQUIRE(handle.count<Stamped>() == 0);
    REQUIRE(wrong[0] == 0);
  } while (++rounds < 4 || std::chrono::steady_clock::now() - begin < time);
  const dynasoar::Statistics statistics = handle.statistics();
  CHECK(statistics.created() > rounds * threads);
  CHECK(statistics.free_pages == statistics.pages);
  MESSAGE(rounds << " rounds, " << statistics.created() << " objects created and deleted");
}

}  // namespace diverged_requests_test
