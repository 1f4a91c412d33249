// Executor: every index once, in the order of submission, on as many threads as asked for.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/host_threads.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

#include "test_support.h"

namespace executor_test {

using namespace dynasoar;
using dynasoar::test::Counters;

TEST_CASE("an executor refuses a negative number of threads" * doctest::skip(kCudaBackend)) {
  CHECK_THROWS_WITH_AS(Executor(-5), doctest::Contains("-5 threads; leave the number of threads out"), Error);
}

TEST_CASE("a loop calls its function once for every index") {
  for (int threads : {0, 1, 3, 8}) {
    for (std::size_t count : {0, 1, 2, 63, 64, 1000, 100003}) {
      CAPTURE(threads);
      CAPTURE(count);
      Executor executor(threads);
      Counters calls(count + 1);  // one more than may be called
      executor.for_each_index(
          count, [calls = calls.data()] __device__(std::size_t i) { calls[i].fetch_add(1, Order::relaxed); });
      executor.synchronize();
      const std::vector<std::uint64_t> values = calls.values();
      CHECK(std::all_of(values.begin(), values.end() - 1, [](std::uint64_t value) { return value == 1; }));
      CHECK(values.back() == 0);
    }
  }
}

TEST_CASE("loops run in the order in which they were submitted") {
  constexpr std::size_t kCount = 50000;
  Executor executor(8);
  DeviceArray<std::uint32_t> values(kCount);
  auto* const at = values.data();
  executor.for_each_index(kCount, [at] __device__(std::size_t i) { at[i] = static_cast<std::uint32_t>(i); });
  for (int round = 0; round < 5; ++round) {
    // Each index reads what another wrote in the loop before.
    executor.for_each_index(kCount / 2, [at] __device__(std::size_t i) {
      const std::uint32_t other = at[kCount - 1 - i];
      at[kCount - 1 - i] = at[i] + 1;
      at[i] = other + 1;
    });
  }
  executor.synchronize();
  const std::vector<std::uint32_t> found = values.download();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) wrong += found[i] != kCount - 1 - i + 5;  // five swaps: reversed, plus 5
  CHECK(wrong == 0);
}

TEST_CASE("a warp's id is below the executor's number of concurrent warps") {
  constexpr std::size_t kCount = 20000;
  for (int threads : {1, 8}) {
    Executor executor(threads);
    DeviceArray<std::uint32_t> ids(kCount);
    executor.for_each_index(kCount,
                            [ids = ids.data()] __device__(std::size_t i) { ids[i] = dynasoar::PlatformWarp{}.id(); });
    executor.synchronize();
    const std::vector<std::uint32_t> found = ids.download();
    CHECK(*std::max_element(found.begin(), found.end()) < executor.concurrent_warps());
  }
}

TEST_CASE("an executor of eight threads runs eight indices at the same time") {
  constexpr std::uint64_t kThreads = 8;
  Executor executor(kThreads);
  Counters arrived(1);
  Counters gave_up(1);
  executor.for_each_index(kThreads, [arrived = arrived.data(), gave_up = gave_up.data()] __device__(std::size_t) {
    arrived->fetch_add(1, Order::relaxed);
    std::uint64_t looks = 0;
    while (arrived->load(Order::relaxed) < kThreads) {
      dynasoar::PlatformAtomics::pause();
      if (++looks == 20000000) {
        gave_up->fetch_add(1, Order::relaxed);
        return;
      }
    }
  });
  executor.synchronize();
  CHECK(arrived[0] == kThreads);
  CHECK(gave_up[0] == 0);
}

template <class Cuda>
void check_exceptions(Cuda) {
  if constexpr (!Cuda::value) {  // device code cannot throw
    for (int threads : {1, 8}) {
      Executor executor(threads);
      CHECK_THROWS_WITH_AS(executor.for_each_index(1000,
                                                   [](std::size_t i) {
                                                     if (i == 700) throw std::range_error("index 700");
                                                   }),
                           "index 700", std::range_error);
      std::atomic<int> calls{0};
      executor.for_each_index(100, [&calls](std::size_t) { ++calls; });
      CHECK(calls == 100);
    }
  }
}

TEST_CASE("on the host, an exception in a loop reaches the caller and the executor stays usable") {
  check_exceptions(std::bool_constant<dynasoar::kCudaBackend>{});
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("a loop over as many indices as there can be ends when its function throws, and calls it once for each") {
  constexpr std::size_t kSome = 1'000'000;
  Executor executor(8);
  std::vector<std::atomic<int>> calls(kSome);
  std::atomic<bool> throws{false};
  CHECK_THROWS_AS(executor.for_each_index(std::numeric_limits<std::size_t>::max(),
                                          [&](std::size_t i) {
                                            if (i < kSome) ++calls[i];
                                            if (i == kSome / 2 || throws) {
                                              throws = true;
                                              throw std::range_error("far enough");
                                            }
                                          }),
                  std::range_error);
  CHECK(std::all_of(calls.begin(), calls.end(), [](int times) { return times <= 1; }));
}

TEST_CASE("a loop in a loop is an error that reaches the caller") {
  const doctest::Contains why("code that a loop runs called a function of the host");
  for (const int threads : {1, 4}) {
    Executor executor(threads);
    const auto loop = [&] {
      executor.for_each_index(1000, [&](std::size_t) { executor.for_each_index(1, [](std::size_t) {}); });
    };
    const auto check = [&](const auto& function) {
      CHECK_THROWS_WITH_AS(executor.for_each_index(1, [&](std::size_t) { function(); }), why, dynasoar::Error);
    };
    CHECK_THROWS_WITH_AS(loop(), why, dynasoar::Error);
    check([] { DeviceArray<int> array(1); });
    DeviceArray<int> array(1);
    array.upload({7});
    check([&] { array.upload({8}); });
    check([&] { array.fill_bytes(0); });
    check([&] { static_cast<void>(array.download()); });
    CHECK(array.download() == std::vector<int>{7});
    CHECK_NOTHROW(executor.for_each_index(1000, [](std::size_t) {}));
  }
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST_CASE("threads that have nothing to do take no processor time") {
  Executor executor(dynasoar::detail::usable_processors());
  double idle = 0;
  for (int i = 0; i < 10; ++i) {
    executor.for_each_index(100000, [](std::size_t) {});
    const double before = processor_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    idle += processor_seconds() - before;
  }
  CHECK(idle < 0.2 * 0.1);  // of one processor
}

bool takes(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 0;
}

TEST_CASE("signals are left to the threads that the executor did not create") {
  const bool caller_takes = takes(SIGINT);
  std::atomic<int> takers{0};
  std::atomic<int> deaf_to_faults{0};
  Executor(8).for_each_index(1000, [&](std::size_t) {
    takers += takes(SIGINT) ? 1 : 0;
    deaf_to_faults += takes(SIGSEGV) ? 0 : 1;
  });
  CHECK((caller_takes || takers == 0));  // the calling thread runs some of them itself
  CHECK(deaf_to_faults == 0);            // or handlers, also the sanitizers', would not report them
  CHECK(takes(SIGINT) == caller_takes);
}

#endif

TEST_CASE("the device has a name") {
  CHECK(!Executor::device_name().empty());
  CHECK(Executor::device_available());
}

}  // namespace executor_test
