/// @file
/// Trees as objects that are placed on a lattice, and the functions that their loops call. Used by placed.cpp and, on
/// several ranks, by tests. README.md defines the model.
///
/// Trees and burning trees are two classes without fields: their place is their whole state. A step is one loop over
/// blocks of 64 places, which sees the objects at its beginning, so the result does not depend on the order of threads.
#pragma once

#include <cstdint>

#include <app/allocator.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/step_value.h>

#include "rules.h"
#include "simulation.h"

namespace forest_fire::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using dynasoar::Direction;
using dynasoar::Place;
using dynasoar::PlaceBlock;

class Plant;
class Tree;
class BurningTree;
using AllocatorT = app::Allocator<Plant, Tree, BurningTree>;

class Plant : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Plant);
};

class Tree final : public Plant {
 public:
  using BaseClass = Plant;
  DYNASOAR_FIELDS(Tree);
};

class BurningTree final : public Plant {
 public:
  using BaseClass = Plant;
  DYNASOAR_FIELDS(BurningTree);
};

/// A cell's number, for random numbers.
__device__ inline std::uint64_t number(Place place) {
  return dynasoar::lattice_of<Tree>().number(place);
}

/// Loops over places.
struct Settle {
  Chance chance;
  __device__ bool operator()(Place place) const { return chance.starts_with_tree(number(place)); }
};

/// A step of 64 places.
struct GrowAndBurn {
  Chance chance;
  dynasoar::StepNumber now;

  __device__ void operator()(PlaceBlock block) const {
    const std::uint64_t trees = dynasoar::where<Tree>(block);
    const std::uint64_t fires = dynasoar::where<BurningTree>(block);
    const std::uint64_t near_fire =
        dynasoar::where<BurningTree>(block, Direction::left) | dynasoar::where<BurningTree>(block, Direction::up) |
        dynasoar::where<BurningTree>(block, Direction::right) | dynasoar::where<BurningTree>(block, Direction::down);
    // Trees that are struck, and places without a tree where a tree would grow.
    const std::uint64_t drawn = strikes_or_grows(trees, number(block.place(0)));
    const std::uint64_t ignite = trees & (drawn | near_fire);
    dynasoar::create_where<Tree>(block, drawn & ~trees & ~fires);
    dynasoar::destroy_where<Tree>(block, ignite);
    dynasoar::create_where<BurningTree>(block, ignite);
    dynasoar::destroy_where<BurningTree>(block, fires);
  }

 private:
  /// Chance::strikes_or_grows() for 64 places with consecutive numbers from `first` on. It computes in 32 bits, which
  /// compilers vectorize for CPUs, with less work if all numbers fit in 32 bits.
  __device__ std::uint64_t strikes_or_grows(std::uint64_t trees, std::uint64_t first) const {
    const auto low = static_cast<std::uint32_t>(first), high = static_cast<std::uint32_t>(first >> 32);
    if ((first + 63) >> 32 == 0) [[likely]] {
      return dynasoar::map_places(trees,
                                  [dice = chance, low, step = std::uint32_t{now}](std::uint32_t i, bool has_tree) {
                                    return dice.strikes_or_grows(has_tree, low + i, step);
                                  });
    }
    return dynasoar::map_places(trees,
                                [dice = chance, low, high, step = std::uint32_t{now}](std::uint32_t i, bool has_tree) {
                                  const std::uint32_t sum = low + i, carry = sum < low ? 1u : 0u;
                                  return dice.strikes_or_grows(has_tree, std::uint64_t{high + carry} << 32 | sum, step);
                                });
  }
};

/// The contents of cells, by their numbers.
struct View {
  using CellNumber = std::uint64_t;

  __device__ Ground state(std::uint64_t c) const {
    const Place place = dynasoar::lattice_of<Tree>().place_of_number(c);
    if (dynasoar::at<BurningTree>(place) != nullptr) return Ground::fire;
    return dynasoar::at<Tree>(place) != nullptr ? Ground::tree : Ground::empty;
  }
};

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace forest_fire::placed
