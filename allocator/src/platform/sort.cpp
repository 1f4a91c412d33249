#include <dynasoar/platform/sort.h>

#include <utility>

#if DYNASOAR_CUDA_BACKEND
#include <bit>

#include <cub/device/device_radix_sort.cuh>

#include <dynasoar/platform/error.h>
#endif

namespace dynasoar::detail {

#if DYNASOAR_CUDA_BACKEND

namespace {

constexpr const char* kRadixSort = "CUB's radix sort";

template <class Key>
cudaError_t radix_sort(void* scratch, std::size_t& bytes, std::size_t count, int key_bits, cub::DoubleBuffer<Key>& keys,
                       cub::DoubleBuffer<std::uint32_t>& numbers, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, numbers, static_cast<std::uint32_t>(count), 0, key_bits,
                                         stream);
}

cudaError_t radix_sort(void* scratch, std::size_t& bytes, std::size_t count, std::size_t all_keys,
                       const std::uint32_t* keys, std::uint32_t* sorted_keys, const std::uint32_t* numbers,
                       std::uint32_t* order, cudaStream_t stream) {
  const int bits = all_keys <= 2 ? 1 : std::bit_width(all_keys - 1);
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, numbers, order, static_cast<int>(count), 0,
                                         bits, stream);
}

}  // namespace

template <class Key>
std::size_t sort_scratch_bytes(std::size_t count) {
  std::size_t bytes = 0;
  cub::DoubleBuffer<Key> keys;
  cub::DoubleBuffer<std::uint32_t> numbers;
  check_cuda(radix_sort(nullptr, bytes, count, static_cast<int>(8 * sizeof(Key)), keys, numbers, nullptr), kRadixSort);
  return bytes;
}

template <class Key>
int sort_pairs(Executor& executor, const KeyedNumbers<Key>& pairs, std::size_t count, int bits, void* scratch,
               std::size_t scratch_bytes) {
  cub::DoubleBuffer<Key> keys(pairs.keys[0], pairs.keys[1]);
  cub::DoubleBuffer<std::uint32_t> numbers(pairs.numbers[0], pairs.numbers[1]);
  check_cuda(radix_sort(scratch, scratch_bytes, count, bits, keys, numbers, executor.stream()), kRadixSort);
  return numbers.selector;
}

KeySort::KeySort(std::uint32_t count, std::uint32_t keys) : count_(count), keys_(keys) {
  std::size_t bytes = 0;
  check_cuda(radix_sort(nullptr, bytes, count, keys, nullptr, nullptr, nullptr, nullptr, nullptr), kRadixSort);
  scratch_ = DeviceArray<char>(bytes);
}

void KeySort::run(Executor& executor, const std::uint32_t* keys, const std::uint32_t* numbers,
                  std::uint32_t* sorted_keys, std::uint32_t* order) {
  std::size_t bytes = scratch_.bytes();
  check_cuda(radix_sort(scratch_.data(), bytes, count_, keys_, keys, sorted_keys, numbers, order, executor.stream()),
             kRadixSort);
}

#else

namespace {

/// A stable counting sort by digits less than `digits`. Each thread handles a part of the input.
///
/// @param places     scratch, by part and digit: first the count, then the place of the next element
/// @param digit_of   called with an index
/// @param move       called with an index and the new place of its element
template <class DigitOf, class Move>
void sort_by_digit(Executor& executor, std::size_t count, std::size_t digits, std::vector<std::uint32_t>& places,
                   const DigitOf& digit_of, const Move& move) {
  const auto parts = static_cast<std::size_t>(executor.threads());
  places.assign(parts * digits, 0);
  const auto for_each_of_part = [&](std::size_t part, auto function) {
    for (std::size_t i = count * part / parts; i < count * (part + 1) / parts; ++i) function(i);
  };
  executor.for_each_index(parts, [&](std::size_t part) {
    std::uint32_t* const counts = places.data() + part * digits;
    for_each_of_part(part, [&](std::size_t i) { ++counts[digit_of(i)]; });
  });
  std::uint32_t before = 0;
  for (std::size_t digit = 0; digit < digits; ++digit) {
    for (std::size_t part = 0; part < parts; ++part) {
      before += std::exchange(places[part * digits + digit], before);
    }
  }
  executor.for_each_index(parts, [&](std::size_t part) {
    std::uint32_t* const next = places.data() + part * digits;
    for_each_of_part(part, [&](std::size_t i) { move(i, next[digit_of(i)]++); });
  });
}

}  // namespace

template <class Key>
std::size_t sort_scratch_bytes(std::size_t) {
  return 0;
}

template <class Key>
int sort_pairs(Executor& executor, const KeyedNumbers<Key>& pairs, std::size_t count, int bits, void*, std::size_t) {
  constexpr int kDigitBits = 8;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  std::vector<std::uint32_t> places;
  int now = 0;
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    const Key digit_mask = bits - shift < kDigitBits ? (Key{1} << (bits - shift)) - 1 : Key{kDigits - 1};
    const Key* const keys = pairs.keys[now];
    const std::uint32_t* const numbers = pairs.numbers[now];
    Key* const sorted_keys = pairs.keys[1 - now];
    std::uint32_t* const order = pairs.numbers[1 - now];
    sort_by_digit(
        executor, count, kDigits, places, [=](std::size_t i) { return keys[i] >> shift & digit_mask; },
        [=](std::size_t i, std::uint32_t place) {
          sorted_keys[place] = keys[i];
          order[place] = numbers[i];
        });
    now = 1 - now;
  }
  return now;
}

KeySort::KeySort(std::uint32_t count, std::uint32_t keys) : count_(count), keys_(keys) {}

void KeySort::run(Executor& executor, const std::uint32_t* keys, const std::uint32_t*, std::uint32_t* sorted_keys,
                  std::uint32_t* order) {
  sort_by_digit(
      executor, count_, keys_, places_, [=](std::size_t i) { return keys[i]; },
      [=](std::size_t i, std::uint32_t place) {
        sorted_keys[place] = keys[i];
        order[place] = static_cast<std::uint32_t>(i);
      });
}

#endif

template std::size_t sort_scratch_bytes<std::uint32_t>(std::size_t);
template std::size_t sort_scratch_bytes<std::uint64_t>(std::size_t);
template int sort_pairs(Executor&, const KeyedNumbers<std::uint32_t>&, std::size_t, int, void*, std::size_t);
template int sort_pairs(Executor&, const KeyedNumbers<std::uint64_t>&, std::size_t, int, void*, std::size_t);

}  // namespace dynasoar::detail
