/// @file
/// What tests of substances share: cells, agents, and rasters of concentrations.
#pragma once

#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>
#include <dynasoar/raster.h>
#include <dynasoar/substance.h>

#include "../platform/test_support.h"

namespace substance_test {

using namespace dynasoar;
using namespace dynasoar::test;
using doctest::Contains;

struct Vector2 {
  float x, y;
};
struct Vector3 {
  double x, y, z;
};

struct InArrays {
  template <class... Types>
  using Allocator = dynasoar::SoaAllocator<Types...>;
};
struct InPieces {
  template <class... Types>
  using Allocator = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Types...>;
};

/// Cells, and agents that visit them.
template <class Layout>
struct World {
  class Cell;
  class Agent;
  using AllocatorT = typename Layout::template Allocator<Cell, Agent>;
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;

  class Cell final : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    static constexpr bool kAtEveryPlace = true;
    DYNASOAR_FIELDS(Cell, (kind_, std::uint8_t), (scent_, float), (oxygen_, double));
    __device__ Cell() : kind_(std::uint8_t{0}), scent_(0.0f), oxygen_(0.0) {}
  };

  class Agent final : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Agent, (number_, std::uint32_t));
    __device__ explicit Agent(std::size_t i) : number_(static_cast<std::uint32_t>(i)) {}
  };

  using Scent = dynasoar::Substance<&Cell::scent_, Vector2>;
  using Scent3 = dynasoar::Substance<&Cell::scent_, Vector3>;
  using Oxygen = dynasoar::Substance<&Cell::oxygen_, Vector2>;
};
using Arrays = World<InArrays>;
using Cell = Arrays::Cell;
using Agent = Arrays::Agent;

inline HandleOptions small(int threads = 0) {
  HandleOptions options{.heap_bytes = 16 << 20};
  if (threads > 0) options.threads = threads;
  return options;
}

template <class T, class F>
Raster<T> raster_of(const LatticeShape& shape, const F& f) {
  Raster<T> raster{static_cast<std::size_t>(shape.width()),
                   static_cast<std::size_t>(shape.height()) * static_cast<std::size_t>(shape.depth()),
                   {}};
  for (std::size_t i = 0; i < raster.width * raster.height; ++i) raster.values.push_back(static_cast<T>(f(i)));
  return raster;
}

template <class T>
double sum_of(const Raster<T>& raster) {
  double sum = 0;
  for (const T value : raster.values) sum += static_cast<double>(value);
  return sum;
}

/// Deposits an amount at a position, once for each index.
template <class View, class P>
struct DepositAt {
  View view;
  P position;
  double amount;
  __device__ void operator()(std::size_t) const { view.deposit(position, amount); }
};

}  // namespace substance_test
