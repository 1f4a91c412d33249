/// @file
/// Collects data of all ranks: cells and sums. Used by the implementations of models that several processes can run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <app/simulation.h>

namespace app {

/// The cells of a rank, by their numbers.
struct CellRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// The cells of all ranks on the first, in the order of ranks; nothing on others.
///
/// @param ranks   null: there is one process, which has all cells
template <class Cell>
std::vector<Cell> of_all_ranks(Ranks* ranks, std::vector<Cell> own) {
  static_assert(std::is_trivially_copyable_v<Cell>);
  if (ranks == nullptr) return own;
  const std::vector<std::vector<char>> parts = ranks->gather(own.data(), own.size() * sizeof(Cell));
  std::size_t bytes = 0;
  for (const std::vector<char>& part : parts) bytes += part.size();
  std::vector<Cell> cells(bytes / sizeof(Cell));
  auto* at = reinterpret_cast<char*>(cells.data());
  for (const std::vector<char>& part : parts) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return cells;
}

/// Adds up the censuses of all ranks for each step. @tparam Census   a struct whose members are all std::uint64_t
template <class Census>
std::vector<Census> sum_of_ranks(Ranks* ranks, std::vector<Census> own) {
  if (ranks == nullptr || own.empty()) return own;
  std::vector<std::uint64_t> numbers(own.size() * sizeof(Census) / sizeof(std::uint64_t));
  std::memcpy(numbers.data(), own.data(), own.size() * sizeof(Census));
  ranks->sum(numbers);
  std::memcpy(static_cast<void*>(own.data()), numbers.data(), own.size() * sizeof(Census));
  return own;
}

}  // namespace app
