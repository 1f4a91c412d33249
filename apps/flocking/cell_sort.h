/// @file
/// CellSort: the numbers of boids in the order of their cells, those of one cell in their own order; by hand for both
/// backends. For the baselines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#if DYNASOAR_CUDA_BACKEND
#include <cub/device/device_radix_sort.cuh>
#endif

namespace flocking {

#if DYNASOAR_CUDA_BACKEND

/// CUB's radix sort, which is stable, over as many bits as cells need.
class CellSort {
 public:
  CellSort(std::uint32_t count, std::uint32_t cells) : count_(count) {
    while (cells > std::uint32_t{1} << bits_) ++bits_;
    std::size_t bytes = 0;
    dynasoar::detail::check_cuda(sort(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, nullptr), "CUB's radix sort");
    scratch_ = dynasoar::DeviceArray<char>(bytes);
  }

  /// Sorts `cells` with `numbers`, which are 0, 1, 2, ..., into `sorted_cells` and `order`.
  void run(dynasoar::Executor& executor, const std::uint32_t* cells, const std::uint32_t* numbers,
           std::uint32_t* sorted_cells, std::uint32_t* order) {
    std::size_t bytes = scratch_.bytes();
    dynasoar::detail::check_cuda(sort(scratch_.data(), bytes, cells, sorted_cells, numbers, order, executor.stream()),
                                 "CUB's radix sort");
  }

 private:
  cudaError_t sort(void* scratch, std::size_t& bytes, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                   const std::uint32_t* values, std::uint32_t* sorted_values, cudaStream_t stream) const {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                           static_cast<int>(count_), 0, bits_, stream);
  }

  std::uint32_t count_;
  int bits_ = 1;
  dynasoar::DeviceArray<char> scratch_;
};

#else

/// A counting sort, which each thread does for a part of the boids.
class CellSort {
 public:
  CellSort(std::uint32_t count, std::uint32_t cells) : count_(count), cells_(cells) {}

  void run(dynasoar::Executor& executor, const std::uint32_t* cells, const std::uint32_t*, std::uint32_t* sorted_cells,
           std::uint32_t* order) {
    const auto parts = static_cast<std::size_t>(executor.threads());
    places_.assign(parts * cells_, 0);
    const auto for_each_of_part = [&](std::size_t part, auto function) {
      for (std::size_t i = count_ * part / parts; i < count_ * (part + 1) / parts; ++i) function(i);
    };
    executor.for_each_index(parts, [&](std::size_t part) {
      std::uint32_t* const counts = places_.data() + part * cells_;
      for_each_of_part(part, [&](std::size_t i) { ++counts[cells[i]]; });
    });
    std::uint32_t before = 0;
    for (std::size_t cell = 0; cell < cells_; ++cell) {
      for (std::size_t part = 0; part < parts; ++part) {
        std::uint32_t& place = places_[part * cells_ + cell];
        const std::uint32_t count = place;
        place = before;
        before += count;
      }
    }
    executor.for_each_index(parts, [&](std::size_t part) {
      std::uint32_t* const places = places_.data() + part * cells_;
      for_each_of_part(part, [&](std::size_t i) {
        const std::uint32_t place = places[cells[i]]++;
        sorted_cells[place] = cells[i];
        order[place] = static_cast<std::uint32_t>(i);
      });
    });
  }

 private:
  std::size_t count_;
  std::size_t cells_;
  std::vector<std::uint32_t> places_;  // by part and cell: first how many, then where the next one goes
};

#endif

}  // namespace flocking
