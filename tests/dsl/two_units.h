/// @file
/// Classes that two translation units of one program share, and what each unit offers the other.
#pragma once

#include <cstdint>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace two_units {

class Cell;
class Ball;
using AllocatorT = dynasoar::SoaAllocator<Cell, Ball>;
using Handle = dynasoar::AllocatorHandle<AllocatorT>;

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (index_, std::uint32_t), (total_, std::uint64_t))
  __device__ explicit Cell(std::size_t index) : index_(static_cast<std::uint32_t>(index)), total_(0) {}
  __device__ void add(std::uint64_t amount) { total_ += amount; }
};

class Ball : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Ball, (weight_, double))
  __device__ explicit Ball(double weight) : weight_(weight) {}
};

/// A template that both units instantiate with the same arguments.
template <class T>
std::uint64_t sum_of_totals(Handle& handle) {
  dynasoar::test::Counters sum(1);
  handle.parallel_do<T>(
      [] __device__(T * cell, dynasoar::test::Counter * to) { to->fetch_add(cell->total_, dynasoar::Order::relaxed); },
      sum.data());
  handle.synchronize();
  return sum[0];
}

/// What each unit does with a handle; the loops are the same, but instantiated in its own unit.
struct Unit {
  void (*create)(Handle& handle, std::size_t count);
  void (*add_with_method)(Handle& handle, std::uint64_t amount);
  void (*add_with_lambda)(Handle& handle, std::uint64_t amount);
  void (*throw_balls)(Handle& handle);  // one for each cell
  std::uint64_t (*sum)(Handle& handle);
  std::uint64_t (*count)(Handle& handle);
};

Unit first_unit();
Unit second_unit();

}  // namespace two_units
