/// @file
/// LatticeShape: what is computed once per lattice.

#include <dynasoar/loops/lattice_shape.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/platform/error.h>

namespace dynasoar {

namespace detail {

// With s = ceil(log2(d)) - 1 and m = ceil(2^(32 + s) / d), which is less than 2^32, n * m / 2^(32 + s) exceeds n / d by
// less than n * d / (d * 2^(32 + s)) <= n / 2^(32 + s), and so by less than 1 / d for all n < 2^31, as d <= 2^(s + 1).
Divider::Divider(std::uint32_t divisor) : multiplier_(0), shift_(0) {
  if (divisor == 1) return;
  shift_ = static_cast<std::uint32_t>(std::bit_width(divisor - 1)) - 1;
  multiplier_ = static_cast<std::uint32_t>(((std::uint64_t{1} << (32 + shift_)) + divisor - 1) / divisor);
}

namespace {

/// Slots from a row of `width` places to the next: whole blocks, unless that wastes more than an eighth of them.
std::size_t stride_of(std::size_t width, bool has_rows) {
  const std::size_t padded = (width + 63) / 64 * 64;
  return has_rows && 8 * (padded - width) <= padded ? padded : width;
}

}  // namespace

}  // namespace detail

LatticeShape::LatticeShape(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic) {
  if (sizes.empty() || sizes.size() > 3) {
    throw Error("dynasoar: a Lattice has 1 to 3 axes, but this one is given " + std::to_string(sizes.size()) +
                " sizes: write {width}, {width, height} or {width, height, depth}");
  }
  std::size_t rows = 1;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] < 1 || sizes[axis] > kMostPlacesOfAxis) {
      throw Error("dynasoar: a Lattice has 1 to 2^30 places along each axis, but this one is given " +
                  std::to_string(sizes[axis]) + " along axis " + std::to_string(axis));
    }
    if (axis > 0) rows *= sizes[axis];  // at most 2^60
  }
  const std::size_t stride = detail::stride_of(sizes[0], sizes.size() > 1);
  if (rows > kMostPlaces / stride) {
    throw Error("dynasoar: a Lattice has at most 2^38 places, but this one is given " + std::to_string(rows) +
                " rows of " + std::to_string(sizes[0]) + " places: make it smaller");
  }
  const std::size_t slots = stride * rows;
  axes_ = static_cast<std::int32_t>(sizes.size());
  width_ = static_cast<std::int32_t>(sizes[0]);
  height_ = axes_ > 1 ? static_cast<std::int32_t>(sizes[1]) : 1;
  depth_ = axes_ > 2 ? static_cast<std::int32_t>(sizes[2]) : 1;
  stride_ = static_cast<std::uint32_t>(stride);
  words_ = (slots + 63) / 64;
  by_stride_ = detail::Divider(stride_);
  by_height_ = detail::Divider(static_cast<std::uint32_t>(height_));
  for (std::size_t axis = 0; axis < 3; ++axis) periodic_[axis] = axis < sizes.size() && periodic[axis];
  is_small_ = slots <= std::size_t{1} << 31;
}

}  // namespace dynasoar
