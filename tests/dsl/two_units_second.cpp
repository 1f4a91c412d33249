// The second of two translation units that share classes and handles; see two_units_test.cpp.
#include "two_units.h"

namespace two_units {

// Not in the lambdas below: nvcc allows device lambdas in named functions only.
static void add_with_lambda_in_second(Handle& handle, std::uint64_t amount) {
  handle.parallel_do<Cell>([amount] __device__(Cell * cell) { cell->total_ += amount; });
}
static void throw_balls_in_second(Handle& handle) {
  handle.parallel_do<Cell>([] __device__(Cell*) { dynasoar::make_new<Ball>(2.0); });
}

Unit second_unit() {
  Unit unit{};
  unit.create = +[](Handle& handle, std::size_t count) { handle.parallel_new<Cell>(count); };
  unit.add_with_method = +[](Handle& handle, std::uint64_t amount) { handle.parallel_do<&Cell::add>(amount); };
  unit.add_with_lambda = add_with_lambda_in_second;
  unit.throw_balls = throw_balls_in_second;
  unit.sum = +[](Handle& handle) { return sum_of_totals<Cell>(handle); };
  unit.count = +[](Handle& handle) { return handle.count<Cell>(); };
  return unit;
}

}  // namespace two_units
