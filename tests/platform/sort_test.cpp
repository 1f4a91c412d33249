/// @file
/// KeySort and sort_pairs: sort numbers by keys, and keep the order of numbers with equal keys.

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

namespace {

template <class Key>
void check_sort_pairs(int threads, std::size_t count, int bits) {
  CAPTURE(sizeof(Key));
  CAPTURE(count);
  CAPTURE(bits);
  dynasoar::Executor executor(threads);
  const Key mask = bits == 8 * sizeof(Key) ? ~Key{0} : static_cast<Key>((Key{1} << bits) - 1);
  std::vector<Key> key_of(count);
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (std::size_t i = 0; i < count; ++i) {
    key_of[i] = static_cast<Key>((i * 0x9E3779B97F4A7C15u ^ i << 40) >> i % 3 * 16 & ~std::uint64_t{0xF0});
  }
  std::vector<std::uint32_t> expected = numbers;
  std::stable_sort(expected.begin(), expected.end(),
                   [&](auto a, auto b) { return (key_of[a] & mask) < (key_of[b] & mask); });

  dynasoar::DeviceArray<Key> keys(count), other_keys(count);
  dynasoar::DeviceArray<std::uint32_t> from(count), to(count);
  keys.upload(key_of);
  from.upload(numbers);
  const std::size_t bytes = dynasoar::detail::sort_scratch_bytes<Key>(count);
  const dynasoar::DeviceArray<char> scratch(bytes);
  const int place = dynasoar::detail::sort_pairs<Key>(
      executor, {{keys.data(), other_keys.data()}, {from.data(), to.data()}}, count, bits, scratch.data(), bytes);
  executor.synchronize();
  CHECK((place == 0 ? from : to).download() == expected);
}

}  // namespace

TEST_CASE("numbers are sorted by all or some bits of keys of 32 or 64 bits, for any number of threads") {
  for (const int threads : {1, 2, 5}) {
    for (const std::size_t count : {1, 2, 255, 30000}) {
      for (const int bits : {1, 7, 8, 13, 32}) check_sort_pairs<std::uint32_t>(threads, count, bits);
      for (const int bits : {3, 33, 64}) check_sort_pairs<std::uint64_t>(threads, count, bits);
    }
  }
}
