// bits.h against loops over single bits, on the device.
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/base/capped.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "test_support.h"

namespace bits_test {

using dynasoar::test::Random;
using dynasoar::test::run_loop;
namespace detail = dynasoar::detail;

struct Query {
  std::uint64_t mask;
  int number;  // 0 to 63
};

struct Answer {
  int popcount, lowest, highest, nth, next;
  int unused;  // named, because initcheck looks at padding that is copied to the host
  std::uint64_t first, lowest_set, mapped;
};

/// Of a bit, whatever depends on its position, on whether it is set and on a number.
struct Flip {
  int number;
  /// Not 1 where it is true, as functions of flags are.
  __host__ __device__ int operator()(std::uint32_t position, bool is_set) const {
    return (position % 3 == static_cast<std::uint32_t>(number) % 3) != is_set ? 4 : 0;
  }
};

struct Ask {
  const Query* queries;
  Answer* answers;
  __device__ void operator()(std::size_t i) const {
    const auto [mask, number] = queries[i];
    Answer answer{detail::popcount(mask),
                  -1,
                  -1,
                  -1,
                  -1,
                  0,
                  detail::first_bits(number),
                  detail::lowest_set_bits(mask, number),
                  detail::map_bits(mask, Flip{number})};
    if (mask != 0) {
      answer.lowest = detail::lowest_bit(mask);
      answer.highest = detail::highest_bit(mask);
      answer.next = detail::next_set_bit(mask, number);
    }
    if (number < answer.popcount) answer.nth = detail::nth_set_bit(mask, number);
    answers[i] = answer;
  }
};

Answer naive(const Query& query) {
  Answer answer{0, -1, -1, -1, -1, 0, 0, 0, 0};
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    if (bit < query.number) answer.first |= one;
    if (Flip{query.number}(static_cast<std::uint32_t>(bit), (query.mask & one) != 0) != 0) answer.mapped |= one;
    if ((query.mask & one) == 0) continue;
    if (answer.lowest < 0) answer.lowest = bit;
    answer.highest = bit;
    if (answer.next < 0 && bit >= query.number) answer.next = bit;
    if (answer.popcount == query.number) answer.nth = bit;
    if (answer.popcount < query.number) answer.lowest_set |= one;
    ++answer.popcount;
  }
  if (answer.next < 0) answer.next = answer.lowest;  // cyclically
  return answer;
}

std::vector<Query> queries(std::uint64_t seed) {
  std::vector<Query> queries;
  const auto add = [&](std::uint64_t mask) {
    for (int number = 0; number < 64; ++number) queries.push_back({mask, number});
  };
  for (std::uint64_t mask : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63}) add(mask);
  for (int bit = 0; bit < 64; ++bit) add(std::uint64_t{1} << bit);
  Random random{seed};
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t mask = random.next();
    add(mask);                                                       // half of the bits
    add(mask & random.next() & random.next());                       // few
    add(mask | random.next() | random.next());                       // most
    add(mask >> random.below(64) << random.below(64));               // runs of zeros at the ends
    add(~std::uint64_t{0} >> random.below(64) << random.below(64));  // one run of ones
  }
  return queries;
}

TEST_CASE("bit operations agree with loops over single bits") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  const std::vector<Query> asked = queries(seed);
  const auto queries_there = dynasoar::test::on_device(asked);
  dynasoar::DeviceArray<Answer> answers(asked.size());
  run_loop(asked.size(), Ask{queries_there.data(), answers.data()});
  const std::vector<Answer> found = answers.download();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CAPTURE(asked[i].mask);
    CAPTURE(asked[i].number);
    const Answer expected = naive(asked[i]);
    REQUIRE(found[i].popcount == expected.popcount);
    REQUIRE(found[i].lowest == expected.lowest);
    REQUIRE(found[i].highest == expected.highest);
    REQUIRE(found[i].next == expected.next);
    REQUIRE(found[i].nth == expected.nth);
    REQUIRE(found[i].first == expected.first);
    REQUIRE(found[i].lowest_set == expected.lowest_set);
    REQUIRE(found[i].mapped == expected.mapped);
  }
}

TEST_CASE("a mask of 64 bits has all bits") {
  CHECK(detail::first_bits(64) == ~std::uint64_t{0});
  CHECK(detail::lowest_set_bits(~std::uint64_t{0}, 64) == ~std::uint64_t{0});
}

TEST_CASE("sums and products that no number can hold are the greatest one") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t small : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 32}) {
    CHECK(detail::capped_sum(small, 3) == small + 3);
    CHECK(detail::capped_sum(kMost - small, small) == kMost);
    CHECK(detail::capped_sum(kMost - small + 1, small) == kMost);
    CHECK(detail::capped_product(small, 3) == 3 * small);
    CHECK(detail::capped_product(kMost / small, small) == kMost / small * small);
    CHECK(detail::capped_product(kMost / small + 1, small) == kMost);
  }
  CHECK(detail::capped_sum(kMost, kMost) == kMost);
  CHECK(detail::capped_sum(0, 0) == 0);
  CHECK(detail::capped_product(kMost, 0) == 0);
}

}  // namespace bits_test
