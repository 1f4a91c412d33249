// AllocatorHandle: loops with arguments, over base classes, creation by index, and errors that say what to do.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace allocator_handle_test {

using namespace dynasoar;
using namespace dynasoar::test;
using namespace dynasoar::literals;

static_assert(1_GiB == 1024 * 1_MiB && 1_MiB == 1024 * 1_KiB && 1_KiB == 1024);

class Fish;
class Trout;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Trout, Shark>;

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (index_, std::uint32_t), (sum_, std::uint64_t), (visits_, std::uint32_t))
  __device__ explicit Agent(std::size_t index) : index_(static_cast<std::uint32_t>(index)), sum_(0), visits_(0) {}

  __device__ void none() { ++visits_; }
  __device__ void one(std::uint32_t a) { sum_ += a; }
  __device__ void two(std::uint32_t a, const std::uint64_t& b) { sum_ += a + 10 * b; }
  __device__ void three(char a, std::uint32_t b, double c) {
    sum_ += (a == 'x' ? 1 : 0) + 10 * b + static_cast<std::uint64_t>(100 * c);
  }
  __device__ void four(std::uint32_t a, std::uint32_t b, std::uint32_t c, Counter* d) {
    d->fetch_add(a + 10 * b + 100 * c, Order::relaxed);
  }
  __device__ void five(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d, std::uint32_t e) {
    sum_ += a + 10 * b + 100 * c + 1000 * d + 10000 * e;
  }
  __device__ void add_next(std::uint32_t own_copy) { sum_ += ++own_copy; }
  __device__ void add_all(const std::uint32_t& own_copy) { sum_ += own_copy; }
  __device__ std::uint64_t look() const { return sum_; }  // a loop may ignore what a method returns
};

class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish)
  __device__ explicit Fish(std::size_t index) : Agent(index) {}
  __device__ Fish(std::size_t index, std::uint32_t a, std::uint64_t b) : Agent(index) { sum_ = a + b; }
};

class Trout : public Fish {
 public:
  using BaseClass = Fish;
  DYNASOAR_FIELDS(Trout, (spots_, int))
  __device__ explicit Trout(std::size_t index) : Fish(index), spots_(3) {}
  __device__ void only_trout(int spots) { spots_ += spots; }
};

class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (teeth_, int))
  __device__ explicit Shark(std::size_t index) : Agent(index), teeth_(100) {}
  __device__ void bite() { --teeth_; }
  __device__ void bite_often(int times, int force) { teeth_ -= times * force; }
};

constexpr std::uint64_t kFish = 1000, kTrout = 500, kShark = 300;

void populate(AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_new<Fish>(kFish);
  handle.parallel_new<Trout>(kTrout);
  handle.parallel_new<Shark>(kShark);
}

dynasoar::HandleOptions small_heap() {
  return {.heap_bytes = 4_MiB, .threads = 4};
}

struct Totals {
  std::uint64_t visits, sum;
};

/// Of the objects of class T and its subclasses.
template <class T>
Totals totals(AllocatorHandle<AllocatorT>& handle) {
  Counters counters(2);
  handle.parallel_do<T>([visits = counters.data(), sums = counters.data() + 1] __device__(T * object) {
    visits->fetch_add(object->visits_, Order::relaxed);
    sums->fetch_add(object->sum_, Order::relaxed);
  });
  handle.synchronize();
  return {counters[0], counters[1]};
}

// ---- Loops ---------------------------------------------------------------------------------------------------------

TEST_CASE("a loop passes up to five arguments to the method of every object") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Shark>(kShark);
  handle.parallel_do<Shark, &Agent::none>();
  CHECK(totals<Shark>(handle).visits == kShark);
  handle.parallel_do<Shark, &Agent::one>(7u);
  CHECK(totals<Shark>(handle).sum == kShark * 7);
  handle.parallel_do<Shark, &Agent::two>(1u, 2ull);
  CHECK(totals<Shark>(handle).sum == kShark * (7 + 21));
  handle.parallel_do<Shark, &Agent::three>('x', 2u, 3.0);
  CHECK(totals<Shark>(handle).sum == kShark * (7 + 21 + 321));
  Counters counter(1);
  handle.parallel_do<Shark, &Agent::four>(1u, 2u, 3u, counter.data());
  handle.synchronize();
  CHECK(counter[0] == kShark * 321);
  handle.parallel_do<Shark, &Agent::five>(1u, 2u, 3u, 4u, 5u);
  CHECK(totals<Shark>(handle).sum == kShark * (7 + 21 + 321 + 54321));
}

template <class Cuda, class Handle>
void loop_over_const_method(Cuda, Handle& handle) {
  if constexpr (!Cuda::value) handle.template parallel_do<Shark, &Agent::look>();  // see is_const_method_v
  handle.template parallel_do<Shark>([] __device__(Shark * shark) { return shark->look(); });
}

TEST_CASE("a loop ignores what a method returns") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Shark>(kShark);
  loop_over_const_method(std::bool_constant<dynasoar::kCudaBackend>{}, handle);
  handle.synchronize();
  CHECK(handle.count<Shark>() == kShark);
}

TEST_CASE("every object gets a copy of the arguments") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  populate(handle);
  handle.parallel_do<Agent, &Agent::add_next>(41u);
  CHECK(totals<Agent>(handle).sum == 42 * (kFish + kTrout + kShark));
  handle.parallel_do<Agent, &Agent::add_all>(8u);
  CHECK(totals<Agent>(handle).sum == 50 * (kFish + kTrout + kShark));
  handle.parallel_new<Fish>(10, 3u, 4ull);  // their sums begin with 7
  CHECK(totals<Agent>(handle).sum == 50 * (kFish + kTrout + kShark) + 10 * 7);
}

TEST_CASE("a method that one listed class declares runs without naming the class") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  populate(handle);
  handle.parallel_do<&Trout::only_trout>(4);
  handle.parallel_do<&Shark::bite>();
  handle.parallel_do<&Shark::bite_often>(2, 5);
  CHECK(handle.count_if<Trout>([] __device__(Trout * trout) { return trout->spots_ == 7; }) == kTrout);
  CHECK(handle.count_if<Shark>([] __device__(Shark * shark) { return shark->teeth_ == 89; }) == kShark);
}

/// Whether an object stays until only so many per cent do: whole blocks go, and single objects of others.
__host__ __device__ bool stays(std::uint32_t index, std::uint32_t percent) {
  return (index / 64 % 8 != 0 || percent > 50) && (index * 2654435761u >> 16) % 100 < percent;
}

TEST_CASE("a loop visits every object of half-empty blocks exactly once") {
  // On a GPU, so many that their list is long enough for lanes to be dealt out.
  constexpr std::uint32_t kSharks = dynasoar::kCudaBackend ? 1 << 22 : 1 << 14;
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 256_MiB, .threads = 4});
  handle.parallel_new<Shark>(kSharks);
  std::uint32_t loops = 0;
  for (const std::uint32_t percent : {100u, 60u, 30u, 4u}) {
    CAPTURE(percent);
    handle.parallel_do<Shark>([percent] __device__(Shark * shark) {
      if (!stays(shark->index_, percent)) dynasoar::destroy(shark);
    });
    handle.parallel_do<Shark, &Agent::none>();
    ++loops;
    std::uint64_t expected = 0;
    for (std::uint32_t i = 0; i < kSharks; ++i) expected += stays(i, percent) ? 1 : 0;
    CHECK(handle.count<Shark>() == expected);
    CHECK(handle.count_if<Shark>([loops] __device__(Shark * shark) { return shark->visits_ == loops; }) == expected);
  }
  // Each is replaced by a new one, which this loop does not visit.
  const std::uint64_t before = handle.count<Shark>();
  handle.parallel_do<Shark>([] __device__(Shark * shark) {
    dynasoar::make_new<Shark>(shark->index_);
    shark->none();
    dynasoar::destroy(shark);
  });
  CHECK(handle.count<Shark>() == before);
  CHECK(handle.count_if<Shark>([] __device__(Shark * shark) { return shark->visits_ == 0; }) == before);
}

TEST_CASE("a loop over a base class visits every object of every subclass exactly once") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  populate(handle);
  handle.parallel_do<Agent, &Agent::none>();
  CHECK(totals<Shark>(handle).visits == kShark);
  CHECK(totals<Trout>(handle).visits == kTrout);
  CHECK(totals<Fish>(handle).visits == kFish + kTrout);
  CHECK(handle.count_if<Agent>([] __device__(Agent * agent) { return agent->visits_ != 1; }) == 0);
}

TEST_CASE("a loop over a subclass with an inherited method leaves other classes alone") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  populate(handle);
  handle.parallel_do<Fish, &Agent::one>(1u);
  CHECK(totals<Agent>(handle).sum == kFish + kTrout);
  CHECK(totals<Shark>(handle).sum == 0);
  handle.parallel_do<Trout, &Agent::one>(1u);
  CHECK(totals<Agent>(handle).sum == kFish + 2 * kTrout);
}

TEST_CASE("a loop takes a callable, with or without arguments") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  populate(handle);
  std::uint32_t captured = 2;
  captured += 3;
  handle.parallel_do<Fish>([captured] __device__(Fish * fish) { fish->sum_ += captured; });
  CHECK(totals<Agent>(handle).sum == 5 * (kFish + kTrout));
  handle.parallel_do<Shark>(
      [captured] __device__(Shark * shark, std::uint32_t a, std::uint64_t b) { shark->sum_ += captured + a + b; }, 10u,
      100ull);
  CHECK(totals<Shark>(handle).sum == 115 * kShark);
}

TEST_CASE("a loop over a class without objects does nothing") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Fish>(10);
  handle.parallel_do<&Shark::bite>();
  handle.parallel_new<Shark>(0);
  CHECK(handle.count<Shark>() == 0);
  CHECK(totals<Agent>(handle).visits == 0);
}

TEST_CASE("a loop sees what loops before it have created and deleted") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  std::vector<std::uint32_t> alive;  // their indices
  for (std::uint32_t round = 1; round <= 20; ++round) {
    handle.parallel_new<Fish>(100 * round);
    for (std::uint32_t i = 0; i < 100 * round; ++i) alive.push_back(i);
    CHECK(handle.count<Fish>() == alive.size());
    Counters visits(1);
    handle.parallel_do<Fish>(
        [visits = visits.data()] __device__(Fish * fish, std::uint32_t modulus) {
          visits->fetch_add(1, Order::relaxed);
          if (fish->index_ % modulus == 0) dynasoar::destroy(fish);
        },
        round);
    handle.synchronize();
    CHECK(visits[0] == alive.size());
    std::erase_if(alive, [round](std::uint32_t index) { return index % round == 0; });
    Counters left(1);
    handle.parallel_do<Fish>([left = left.data()] __device__(Fish*) { left->fetch_add(1, Order::relaxed); });
    handle.synchronize();
    CHECK(handle.count<Fish>() == alive.size());
    CHECK(left[0] == alive.size());
  }
}

// ---- Errors --------------------------------------------------------------------------------------------------------

TEST_CASE("a second handle of the same allocator type is refused, and the first goes on") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Fish>(10);
  CHECK_THROWS_WITH_AS(AllocatorHandle<AllocatorT>{small_heap()}, doctest::Contains("is alive already"), Error);
  handle.parallel_do<Fish, &Agent::one>(1u);
  CHECK(totals<Fish>(handle).sum == 10);
  CHECK_THROWS_AS(AllocatorHandle<AllocatorT>{small_heap()}, Error);
}

TEST_CASE("a heap that is too small is refused with the size that is needed") {
  const std::size_t page = AllocatorT::pages().bytes;
  const std::size_t needed = 3 * page;
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, page, needed - 1}) {
    CAPTURE(bytes);
    CHECK_THROWS_WITH_AS(AllocatorHandle<AllocatorT>({.heap_bytes = bytes}),
                         doctest::Contains(("at least " + std::to_string(needed) + " bytes").c_str()), Error);
  }
  AllocatorHandle<AllocatorT> smallest({.heap_bytes = needed});  // and a refused handle does not count as alive
  smallest.parallel_new<Fish>(64);
  CHECK(smallest.count<Fish>() == 64);
}

TEST_CASE("a heap that is absurdly large is refused with advice") {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (std::size_t bytes : {kMost, kMost - 4096, kMost / 2, std::size_t{1} << 49}) {
    CAPTURE(bytes);
    CHECK_THROWS_WITH_AS(AllocatorHandle<AllocatorT>({.heap_bytes = bytes}), doctest::Contains("too large"), Error);
  }
  // Can be addressed, but no machine has this much memory: 240 TiB.
  CHECK_THROWS_AS(AllocatorHandle<AllocatorT>({.heap_bytes = std::size_t{240} << 40}), Error);
  CHECK_NOTHROW(AllocatorHandle<AllocatorT>{small_heap()});
}

// ---- Life ----------------------------------------------------------------------------------------------------------

TEST_CASE("allocations fail on purpose in checked builds only") {
  if (dynasoar::kChecked) return;  // for these, see misuse_test.cpp
  CHECK_THROWS_WITH_AS(AllocatorHandle<AllocatorT>({.failing_allocations = {.first = 1}}),
                       doctest::Contains("compile with DYNASOAR_CHECKED=1"), Error);
}

TEST_CASE("a handle can be made again after it was destroyed, with another size, and starts empty") {
  for (std::uint32_t round = 1; round <= 5; ++round) {
    AllocatorHandle<AllocatorT> handle({.heap_bytes = round * 1_MiB, .threads = static_cast<int>(round)});
    CHECK(handle.count<Agent>() == 0);
    handle.parallel_new<Fish>(100 * round);
    handle.parallel_do<Fish, &Agent::one>(round);
    CHECK(totals<Fish>(handle).sum == 100 * round * round);
    CHECK(handle.count<Agent>() == 100 * round);
  }
}

class Other;
using OtherAllocator = dynasoar::SoaAllocator<Other>;
class Other : public dynasoar::SoaBase<OtherAllocator> {
 public:
  DYNASOAR_FIELDS(Other, (value_, std::uint64_t))
  __device__ explicit Other(std::size_t value) : value_(value) {}
};

TEST_CASE("handles of two allocator types live side by side") {
  AllocatorHandle<AllocatorT> first(small_heap());
  AllocatorHandle<OtherAllocator> second(small_heap());
  first.parallel_new<Fish>(100);
  second.parallel_new<Other>(200);
  CHECK(first.count<Fish>() == 100);
  CHECK(second.count<Other>() == 200);
  first.parallel_do<Fish>([] __device__(Fish * fish) { dynasoar::make_new<Other>(fish->index_); });  // across heaps
  first.synchronize();
  CHECK(second.count<Other>() == 300);
}

TEST_CASE("the result of a run does not depend on the number of threads") {
  for (int threads : {1, 2, 7}) {
    CAPTURE(threads);
    AllocatorHandle<AllocatorT> handle({.heap_bytes = 4_MiB, .threads = threads});
    populate(handle);
    handle.parallel_do<Agent>([] __device__(Agent * agent) {
      agent->sum_ = agent->index_;
      if (agent->index_ % 7 == 0) dynasoar::destroy(agent);
    });
    CHECK(handle.count<Agent>() == 1800 - 143 - 72 - 43);
    CHECK(totals<Trout>(handle).sum == 500u * 499 / 2 - 7 * (71u * 72 / 2));
  }
}

/// Calls a function in a child. @return its exit status; -1 if it was killed, as it is after 20 s
template <class F>
int status_of_child(const F& function) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int status = 1;
    try {
      status = function();
    } catch (const Error& error) {
      status = std::string(error.what()).find("fork()") != std::string::npos ? 77 : 2;
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kExpected = dynasoar::kCudaBackend ? 77 : 0;  // works, or an error that speaks of fork()

TEST_CASE("in a child that fork() made, handles work on a CPU, and are an error on a GPU") {
  if (dynasoar::test::kRunsUnderTsan) return;  // it ends children of processes with threads
  auto handle =
      std::make_unique<AllocatorHandle<AllocatorT>>(dynasoar::HandleOptions{.heap_bytes = 8_MiB, .threads = 4});
  handle->parallel_new<Fish>(100000);
  CHECK(handle->count<Fish>() == 100000);
  const auto use = [&handle] {
    const std::uint64_t before = handle->sum<&Fish::visits_>();
    handle->parallel_new<Fish>(1000);
    handle->parallel_do<Fish, &Agent::none>();
    return handle->count<Fish>() == 101000 && handle->sum<&Fish::visits_>() == before + 101000 ? 0 : 1;
  };
  CHECK(status_of_child(use) == kExpected);
  CHECK(status_of_child([&] {
          handle.reset();
          return 0;
        }) == 0);
  CHECK(status_of_child([&] {
          handle.reset();
          handle =
              std::make_unique<AllocatorHandle<AllocatorT>>(dynasoar::HandleOptions{.heap_bytes = 8_MiB, .threads = 4});
          handle->parallel_new<Fish>(100000);
          use();
          const int grandchild = status_of_child(use);
          handle.reset();
          return grandchild == 1 ? 0 : 1;  // it has 1000 more
        }) == kExpected);
  CHECK(handle->count<Fish>() == 100000);
  handle->parallel_do<Fish, &Agent::none>();
  CHECK(handle->sum<&Fish::visits_>() == 100000);
#if !DYNASOAR_CUDA_BACKEND
  // A child of a thread that forks while another one is in a loop.
  std::atomic<int> stage{0};
  std::thread forks([&] {
    while (stage < 1) std::this_thread::yield();
    CHECK(status_of_child(use) == 77);
    stage = 2;
  });
  handle->parallel_for(100000, [&](std::size_t) {
    int expected = 0;
    stage.compare_exchange_strong(expected, 1);
    while (stage < 2) std::this_thread::yield();
  });
  forks.join();
  CHECK(status_of_child(use) == 0);
#endif
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("functions of the host that a loop calls are an error, and change nothing") {
  for (const int threads : {1, 4}) {
    CAPTURE(threads);
    AllocatorHandle<AllocatorT> handle({.heap_bytes = 64_KiB, .heap_limit_bytes = 64_MiB, .threads = threads});
    handle.parallel_new<Fish>(1000);
    handle.synchronize();
    const std::string before = to_json(handle.statistics());
    auto step = handle.record([&] { handle.parallel_do<Fish, &Agent::none>(); });
    const auto check = [&](const auto& call) {
      const doctest::Contains why("code that a loop runs called a function of the host");
      const auto loop = [&] { handle.parallel_do<Fish>([&](Fish*) { call(); }); };
      CHECK_THROWS_WITH_AS(loop(), why, Error);
      CHECK_THROWS_WITH_AS(handle.parallel_for(100000, [&](std::size_t) { call(); }), why, Error);
      CHECK(to_json(handle.statistics()) == before);
    };
    check([&] { handle.parallel_do<Fish, &Agent::none>(); });
    check([&] { handle.parallel_do<Fish, &Agent::none>(); });
    check([&] { handle.parallel_do<Fish>([](Fish* fish) { fish->none(); }); });
    check([&] { handle.parallel_new<Fish>(std::size_t{1000000}); });
    check([&] { handle.parallel_new<Fish>(std::size_t{0}); });
    check([&] { handle.parallel_for(10, [](std::size_t) {}); });
    check([&] { handle.parallel_for(0, [](std::size_t) {}); });
    check([&] { static_cast<void>(handle.count<Fish>()); });
    check([&] { static_cast<void>(handle.sum<&Fish::visits_>()); });
    check([&] { static_cast<void>(handle.minimum<&Fish::visits_>()); });
    check([&] { static_cast<void>(handle.count_if<Fish>([](Fish*) { return true; })); });
    check([&] { static_cast<void>(handle.columns<Fish>()); });
    check([&] { static_cast<void>(handle.all_columns<Agent>()); });
    check([&] { static_cast<void>(handle.statistics()); });
    check([&] { static_cast<void>(handle.keep_lists()); });
    check([&] { static_cast<void>(handle.record([] {})); });
    check([&] { static_cast<void>(handle.retry_with_growth()); });
    check([&] { static_cast<void>(handle.device_pointer()); });
    check([&] { static_cast<void>(handle.field_accesses()); });
    check([&] { handle.compact<Fish>(); });
    check([&] { handle.reserve<Fish>(1000000); });
    check([&] { handle.synchronize(); });
    check([&] { handle.save("/nonexistent/x"); });
    check([&] { handle.load("/nonexistent/x"); });
    check([&] { step(); });
    check([] { AllocatorHandle<dynasoar::SoaAllocator<Fish, Trout, Shark>> another({.heap_bytes = 64_KiB}); });
    step();
    CHECK(handle.sum<&Fish::visits_>() == 1000);
  }
}

#endif

TEST_CASE("a program that is not linked to zstd saves no compressed checkpoint, and says what to do") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 64_KiB});
  CHECK_THROWS_WITH_AS(handle.save("/nonexistent/x", {.compression_level = 1}),
                       doctest::Contains("built without zstd: link it to dynasoar::zstd"), dynasoar::Error);
}

}  // namespace allocator_handle_test
