// Random numbers of lanes: within bounds, spread evenly, and different from lane to lane and from time to time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/malloc/lane_random.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

#include "../platform/test_support.h"

namespace lane_random_test {

using dynasoar::detail::LaneRandom;
using namespace dynasoar::test;

TEST_CASE("each generator of a lane is another") {
  constexpr std::size_t kDraws = 20000;
  dynasoar::DeviceArray<std::uint32_t> numbers(kDraws);
  // Each index writes the first number of a generator of its own.
  run_loop(kDraws, [numbers = numbers.data()] __device__(std::size_t index) {
    numbers[index] = LaneRandom::of_lane(dynasoar::PlatformWarp{}.id()).next();
  });
  std::vector<std::uint32_t> drawn = numbers.download();
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  CHECK(drawn.size() > kDraws - 10);  // 0.05 pairs that are equal are to be expected
}

TEST_CASE("numbers below a bound are spread evenly, also over generators") {
  Counters places(11);
  // Each index counts where its numbers below 10 fall, and those that are not.
  run_loop(10000, [places = places.data()] __device__(std::size_t) {
    LaneRandom random = LaneRandom::of_lane(dynasoar::PlatformWarp{}.id());
    for (int i = 0; i < 4; ++i) places[std::min(random.below(10), 10u)].fetch_add(1, dynasoar::Order::relaxed);
  });
  const std::vector<std::uint64_t> counts = places.values();
  for (std::size_t place = 0; place < 10; ++place) {
    CAPTURE(place);
    CHECK(counts[place] > 3600);  // 4000 are expected, with a deviation of 60
    CHECK(counts[place] < 4400);
  }
  CHECK(counts[10] == 0);
}

}  // namespace lane_random_test
