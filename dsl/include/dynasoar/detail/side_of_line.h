/// @file
/// side_of_line: decides without rounding errors on which side of a line a point lies. Used by obstacle_shapes.h, so
/// that no agent gets through a wall.
///
/// Follows section 2 of Shewchuk's "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates"
/// (1997). Rounded arithmetic decides if the absolute value of the result is greater than its possible error.
/// Otherwise, the determinant is computed exactly, as a sum of numbers that do not overlap. The last of them has the
/// sign of the sum.
#pragma once

#include <cmath>

#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

struct PlanePoint {
  double x, y;
};

enum class Side {
  left,
  right,
  on_line,   ///< exactly
  undecided  ///< the points are not known exactly enough, or numbers are beyond the range of a double
};

/// Whether two points are certainly on the same side. The line then does not pass between them.
__host__ __device__ inline bool are_together(Side a, Side b) {
  return a == b && (a == Side::left || a == Side::right);
}

/// A rounded sum and its rounding error. Their sum is exact.
struct ExactPair {
  double value, rest;
};
__host__ __device__ inline ExactPair exact_sum(double a, double b) {
  const double sum = a + b;
  const double part_of_b = sum - a;
  return {sum, (a - (sum - part_of_b)) + (b - part_of_b)};
}

/// An exact sum of up to 16 numbers, as numbers that do not overlap, the greatest last.
class ExactSum {
 public:
  __host__ __device__ void add(double value) {
    for (int i = 0; i < count_; ++i) {
      const ExactPair sum = exact_sum(value, parts_[i]);
      parts_[i] = sum.rest;
      value = sum.value;
    }
    parts_[count_++] = value;
  }

  /// Adds a * b. @return false if the product cannot be represented exactly: its last digits are less than the least
  /// double, or it is infinite
  __host__ __device__ bool add_product(double a, double b) {
    constexpr double kLeast = 1e-270;
    const double product = separate_product(a, b);
    if (a == 0 || b == 0) return true;
    if (!(std::abs(product) > kLeast && std::abs(product) < 1 / kLeast)) return false;
    add(std::fma(a, b, -product));
    add(product);
    return true;
  }
  __host__ __device__ bool add_product(const ExactPair& a, const ExactPair& b, double sign) {
    const double c = sign * b.value;
    const double d = sign * b.rest;
    return add_product(a.rest, d) && add_product(a.rest, c) && add_product(a.value, d) && add_product(a.value, c);
  }

  __host__ __device__ Side side() const {
    for (int i = count_ - 1; i >= 0; --i) {
      if (parts_[i] != 0) return parts_[i] > 0 ? Side::left : Side::right;
    }
    return Side::on_line;
  }

 private:
  double parts_[16];
  int count_ = 0;
};

/// side_of_line for points that rounded arithmetic cannot decide.
__host__ __device__ inline Side exact_side_of_line(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  ExactSum sum;
  const bool is_sure = sum.add_product(exact_sum(b.x, -a.x), exact_sum(c.y, -a.y), 1) &&
                       sum.add_product(exact_sum(b.y, -a.y), exact_sum(c.x, -a.x), -1);
  return is_sure ? sum.side() : Side::undecided;
}

/// The side of the line from a to b on which c lies. The same on both backends.
///
/// @param slack   the greatest error of each coordinate. If it is 0, the result is exact. Otherwise it holds for all
///                points within this error
__host__ __device__ inline Side side_of_line(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c,
                                             double slack = 0) {
  constexpr double kRounding = 1.8e-15;  // 16 units in the last place of a double: greater than the sum of all errors
  const double abx = b.x - a.x;
  const double aby = b.y - a.y;
  const double acx = c.x - a.x;
  const double acy = c.y - a.y;
  const double plus = separate_product(abx, acy);
  const double minus = separate_product(aby, acx);
  double error = separate_product(kRounding, std::abs(plus) + std::abs(minus)) + 1e-290;
  if (slack > 0) {
    const double lengths = std::abs(abx) + std::abs(aby) + std::abs(acx) + std::abs(acy);
    error += separate_product(4 * slack, lengths) + separate_product(16 * slack, slack);
  }
  const double determinant = plus - minus;
  if (determinant > error) return Side::left;
  if (determinant < -error) return Side::right;
  return slack > 0 ? Side::undecided : exact_side_of_line(a, b, c);
}

}  // namespace dynasoar::detail
