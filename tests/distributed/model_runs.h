// What tests of the applications' models on divided lattices share: the slabs that they run with, and the comparison of
// all cells with those of a reference, which each rank computes for itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/distributed.h>
#include <dynasoar/lattice.h>
#include <dynasoar/platform/memory.h>

#include "world.h"

namespace dynasoar::test {

using Slabs = std::vector<std::size_t>;  ///< layers of each rank

/// For the rank's number, as often as there are ranks: those in the list; the last rank has what is left.
inline Slabs repeated(const Slabs& list, std::size_t layers) {
  Slabs slabs;
  for (int rank = 0; rank + 1 < world().size(); ++rank) {
    slabs.push_back(list[static_cast<std::size_t>(rank) % list.size()]);
    layers -= slabs.back();
  }
  slabs.push_back(layers);
  return slabs;
}

/// Equal slabs; slabs as small as they may be, and larger ones; some ranks without any.
inline std::vector<Slabs> slabs_to_test(std::size_t halo, std::size_t layers) {
  return {{}, repeated({halo, halo + 3}, layers), repeated({0, halo + 5}, layers)};
}

/// Device memory with a cell for each place of the whole lattice, all zero.
template <class Cell>
DeviceArray<Cell> blank_cells(const LatticeShape& shape) {
  DeviceArray<Cell> cells(static_cast<std::size_t>(shape.size()));
  cells.fill_bytes(0);
  return cells;
}

/// The cells of all ranks, each of which has filled in its own. Collective.
template <class Cell>
std::vector<Cell> of_all_ranks(const DeviceArray<Cell>& own) {
  std::vector<Cell> cells = own.download();
  std::vector<std::uint64_t> words(cells.size() * sizeof(Cell) / sizeof(std::uint64_t) + 1);
  std::memcpy(words.data(), cells.data(), cells.size() * sizeof(Cell));
  world().sum(words);  // of numbers of which all but one are 0
  std::memcpy(static_cast<void*>(cells.data()), words.data(), cells.size() * sizeof(Cell));
  return cells;
}

/// Ten rows of a lattice whose cells have numbers of more than 32 bits from the middle of a block of one row on.
struct FarRows {
  static constexpr std::size_t kWidth = 70, kHeight = std::size_t{1} << 26;
  static constexpr std::size_t kFirst = 61356670, kRows = 10;
  static constexpr std::uint64_t kFirstNumber = kFirst * kWidth, kCells = kRows * kWidth;
  static_assert(kFirstNumber < std::uint64_t{1} << 32 && kFirstNumber + kCells > std::uint64_t{1} << 32);
  static_assert((std::uint64_t{1} << 32) % kWidth == 46);  // of 64

  static LatticeShape shape() {
    return LatticeShape({kWidth, kHeight}, {true, true, false}, detail::Slab{kFirst, kRows, 1});
  }

  /// The number of a place, by its coordinates.
  __device__ static std::uint64_t number(const LatticeShape& shape, Place place) {
    const LatticeVector at = shape.coordinates(place);
    return static_cast<std::uint64_t>(at.y) * kWidth + static_cast<std::uint64_t>(at.x);
  }
};

/// Notes for each cell of FarRows whether `is_right(place, number)`.
template <class T, class F>
struct NoteCell {
  F is_right;
  std::uint8_t* notes;
  __device__ void operator()(Place place) const {
    const std::uint64_t number = FarRows::number(lattice_of<T>(), place);
    notes[number - FarRows::kFirstNumber] = is_right(place, number) ? 1 : 2;
  }
};

/// How many cells of FarRows are right. @tparam T   a class of the lattice
template <class T, class Handle, class LatticeT, class F>
std::uint64_t right_cells(Handle& handle, LatticeT& lattice, const F& is_right) {
  DeviceArray<std::uint8_t> notes(FarRows::kCells);
  notes.fill_bytes(0);
  lattice.parallel_for(NoteCell<T, F>{is_right, notes.data()});
  handle.synchronize();
  const std::vector<std::uint8_t> all = notes.download();
  return static_cast<std::uint64_t>(std::count(all.begin(), all.end(), 1));
}

/// How many cells differ.
template <class Cell>
std::size_t differences(const std::vector<Cell>& a, const std::vector<Cell>& b) {
  REQUIRE(a.size() == b.size());
  std::size_t number = 0;
  for (std::size_t i = 0; i < a.size(); ++i) number += a[i] == b[i] ? 0 : 1;
  return number;
}

/// Runs a model with all slabs, and with slabs that change after every few steps.
///
/// @tparam Model   `Model(parameters, options)`, `step()`, `cells()` on all ranks, `lattice()`
/// @param options  without layers
template <class Model, class Parameters, class Cell>
void check_model(const Parameters& parameters, DistributedLatticeOptions options, int steps,
                 const std::vector<Cell>& expected) {
  CAPTURE(options.halo);
  options.divides_for_one_rank = true;
  const std::vector<Slabs> all = slabs_to_test(options.halo, static_cast<std::size_t>(parameters.height));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    options.layers = all[i];
    Model model(parameters, options);
    for (int step = 0; step < steps; ++step) model.step();
    CHECK(differences(model.cells(), expected) == 0);
  }
  options.layers = {};
  Model model(parameters, options);
  for (int step = 0; step < steps; ++step) {
    model.step();
    if (step % 4 == 3) model.lattice().divide(all[static_cast<std::size_t>(step / 4 + 1) % all.size()]);
  }
  CHECK(differences(model.cells(), expected) == 0);
}

}  // namespace dynasoar::test
