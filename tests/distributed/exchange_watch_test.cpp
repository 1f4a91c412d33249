/// @file
/// ExchangeWatch: exchanges that take too long, or fail, are aborted; others are not. In place of NCCL, which needs
/// GPUs, are messages that only note what is done with them.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <dynasoar/detail/device_messages.h>
#include <dynasoar/detail/exchange_watch.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/platform/executor.h>

namespace {

using namespace dynasoar;
using detail::ExchangeWatch;

class NotedMessages final : public detail::DeviceMessages {
 public:
  void exchange(const OfSides&, const OfSides&, void*) override {}
  bool is_connecting() override { return connects; }
  std::string failure() override { return has_failed ? "the network is down" : ""; }
  void abort() override { ++aborts; }

  std::atomic<bool> has_failed{false}, connects{false};
  std::atomic<int> aborts{0};
};

/// What the loop in front of an exchange does, or the one behind it; indices other than 0 count nothing.
struct Count {
  detail::ExchangeCount count;
  __device__ void operator()(std::size_t i) const { count.add_one(i); }
};

void count(Executor& executor, const detail::ExchangeCount& which) {
  executor.for_each_index(100, Count{which});
  executor.synchronize();
}

void sleep(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Whether messages are aborted within some seconds.
bool is_aborted(const NotedMessages& messages, double seconds) {
  for (double waited = 0; waited < seconds && messages.aborts == 0; waited += 0.01) sleep(0.01);
  return messages.aborts > 0;
}

}  // namespace

TEST_CASE("an exchange for which a neighbour does not come is aborted when patience is over") {
  Executor executor;
  NotedMessages messages;
  ExchangeWatch watch(messages, 0.5);
  count(executor, watch.begun());
  count(executor, watch.ended());
  sleep(0.8);
  CHECK(messages.aborts == 0);  // none is under way
  messages.connects = true;
  count(executor, watch.begun());
  sleep(0.8);
  CHECK(messages.aborts == 0);  // the host waits, with a time limit of its own
  CHECK(watch.end() == ExchangeWatch::End::none);
  messages.connects = false;
  CHECK(is_aborted(messages, 20));
  CHECK(watch.end() == ExchangeWatch::End::too_late);
  sleep(0.2);
  CHECK(messages.aborts == 1);
}

TEST_CASE("exchanges that end in time are not aborted, also if there is always one under way") {
  Executor executor;
  NotedMessages messages;
  ExchangeWatch watch(messages, 4);
  count(executor, watch.begun());
  for (int i = 0; i < 50; ++i) {
    sleep(0.1);
    count(executor, watch.begun());
    count(executor, watch.ended());
  }
  CHECK(messages.aborts == 0);
  CHECK(watch.end() == ExchangeWatch::End::none);
}

TEST_CASE("messages that have failed are aborted at once") {
  NotedMessages messages;
  ExchangeWatch watch(messages, 1000);
  messages.has_failed = true;
  CHECK(is_aborted(messages, 20));
  CHECK(watch.end() == ExchangeWatch::End::failed);
  CHECK(watch.failure() == "the network is down");
}

TEST_CASE("a watch that is destroyed aborts nothing") {
  Executor executor;
  NotedMessages messages;
  {
    ExchangeWatch watch(messages, 0.2);
    count(executor, watch.begun());
  }
  sleep(0.4);
  CHECK(messages.aborts == 0);
}
