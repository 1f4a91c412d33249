/// @file
/// The loops of a unit of two_units.h, which each of the two includes, to have its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "two_units.h"

namespace two_units {

// Not in the lambdas below: nvcc allows device lambdas in named functions only.
static void add_with_own_lambda(Handle& handle, std::uint64_t amount) {
  handle.parallel_do<Cell>([amount] __device__(Cell * cell) { cell->total_ += amount; });
}
static void throw_own_balls(Handle& handle) {
  handle.parallel_do<Cell>([] __device__(Cell*) { dynasoar::make_new<Ball>(1.0); });
}

static Unit own_unit() {
  Unit unit{};
  unit.create = +[](Handle& handle, std::size_t count) { handle.parallel_new<Cell>(count); };
  unit.add_with_method = +[](Handle& handle, std::uint64_t amount) { handle.parallel_do<&Cell::add>(amount); };
  unit.add_with_lambda = add_with_own_lambda;
  unit.throw_balls = throw_own_balls;
  unit.sum = +[](Handle& handle) { return sum_of_totals<Cell>(handle); };
  unit.count = +[](Handle& handle) { return handle.count<Cell>(); };
  return unit;
}

}  // namespace two_units
