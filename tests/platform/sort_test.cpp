/// @file
/// KeySort: the order of numbers by keys, which leaves equal keys as they were.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/sort.h>

TEST_CASE("numbers are sorted by their keys, and those with equal keys stay in their order") {
  dynasoar::Executor executor(3);
  for (const std::uint32_t keys : {1u, 2u, 3u, 64u, 65u, 1000u}) {
    for (const std::size_t count : {1, 2, 1000, 20000}) {
      CAPTURE(keys);
      CAPTURE(count);
      std::vector<std::uint32_t> numbers(count), key_of(count), expected_keys(count);
      std::iota(numbers.begin(), numbers.end(), 0u);
      for (std::size_t i = 0; i < count; ++i) key_of[i] = static_cast<std::uint32_t>(i * 7919 % 1009 % keys);
      std::vector<std::uint32_t> expected = numbers;
      std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return key_of[a] < key_of[b]; });
      for (std::size_t i = 0; i < count; ++i) expected_keys[i] = key_of[expected[i]];

      dynasoar::DeviceArray<std::uint32_t> from(count), ids(count), sorted(count), order(count);
      from.upload(key_of);
      ids.upload(numbers);
      dynasoar::detail::KeySort sort(static_cast<std::uint32_t>(count), keys);
      for (int run = 0; run < 2; ++run) {
        sorted.fill_bytes(0xFF);
        order.fill_bytes(0xFF);
        sort.run(executor, from.data(), ids.data(), sorted.data(), order.data());
        executor.synchronize();
        CHECK(order.download() == expected);
        CHECK(sorted.download() == expected_keys);
      }
    }
  }
}
