#include <dynasoar/platform/sort.h>

#if DYNASOAR_CUDA_BACKEND
#include <bit>

#include <cub/device/device_radix_sort.cuh>

#include <dynasoar/platform/error.h>
#endif

namespace dynasoar::detail {

#if DYNASOAR_CUDA_BACKEND

namespace {

cudaError_t sort_pairs(void* scratch, std::size_t& bytes, std::size_t count, std::size_t all_keys,
                       const std::uint32_t* keys, std::uint32_t* sorted_keys, const std::uint32_t* numbers,
                       std::uint32_t* order, cudaStream_t stream) {
  const int bits = all_keys <= 2 ? 1 : std::bit_width(all_keys - 1);
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, numbers, order, static_cast<int>(count), 0,
                                         bits, stream);
}

}  // namespace

KeySort::KeySort(std::uint32_t count, std::uint32_t keys) : count_(count), keys_(keys) {
  std::size_t bytes = 0;
  check_cuda(sort_pairs(nullptr, bytes, count, keys, nullptr, nullptr, nullptr, nullptr, nullptr), "CUB's radix sort");
  scratch_ = DeviceArray<char>(bytes);
}

void KeySort::run(Executor& executor, const std::uint32_t* keys, const std::uint32_t* numbers,
                  std::uint32_t* sorted_keys, std::uint32_t* order) {
  std::size_t bytes = scratch_.bytes();
  check_cuda(sort_pairs(scratch_.data(), bytes, count_, keys_, keys, sorted_keys, numbers, order, executor.stream()),
             "CUB's radix sort");
}

#else

KeySort::KeySort(std::uint32_t count, std::uint32_t keys) : count_(count), keys_(keys) {}

void KeySort::run(Executor& executor, const std::uint32_t* keys, const std::uint32_t*, std::uint32_t* sorted_keys,
                  std::uint32_t* order) {
  const auto parts = static_cast<std::size_t>(executor.threads());
  places_.assign(parts * keys_, 0);
  const auto for_each_of_part = [&](std::size_t part, auto function) {
    for (std::size_t i = count_ * part / parts; i < count_ * (part + 1) / parts; ++i) function(i);
  };
  executor.for_each_index(parts, [&](std::size_t part) {
    std::uint32_t* const counts = places_.data() + part * keys_;
    for_each_of_part(part, [&](std::size_t i) { ++counts[keys[i]]; });
  });
  std::uint32_t before = 0;
  for (std::size_t key = 0; key < keys_; ++key) {
    for (std::size_t part = 0; part < parts; ++part) {
      std::uint32_t& place = places_[part * keys_ + key];
      const std::uint32_t count = place;
      place = before;
      before += count;
    }
  }
  executor.for_each_index(parts, [&](std::size_t part) {
    std::uint32_t* const places = places_.data() + part * keys_;
    for_each_of_part(part, [&](std::size_t i) {
      const std::uint32_t place = places[keys[i]]++;
      sorted_keys[place] = keys[i];
      order[place] = static_cast<std::uint32_t>(i);
    });
  });
}

#endif

}  // namespace dynasoar::detail
