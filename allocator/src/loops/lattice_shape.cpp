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

// With s = ceil(log2(d)) and m = ceil(2^(31 + s) / d), which is less than 2^32, n * m / 2^(31 + s) exceeds n / d by less
// than n / 2^(31 + s), and so by less than 1 / d for all n < 2^31, as d <= 2^s.
Divider::Divider(std::uint32_t divisor)
    : divisor_(divisor), shift_(static_cast<std::uint32_t>(std::bit_width(divisor - 1))) {
  multiplier_ = static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift_)) + divisor - 1) / divisor);
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
  if (rows > kMostRows || rows > kMostPlaces / stride) {
    throw Error("dynasoar: a Lattice has at most 2^37 places in at most 2^31 rows, but this one is given " +
                std::to_string(rows) + " rows of " + std::to_string(sizes[0]) + " places: make it smaller");
  }
  const auto of_axis = [&](std::size_t axis) {
    return axis < sizes.size() ? static_cast<std::uint32_t>(sizes[axis]) : 1;
  };
  axes_ = static_cast<std::int32_t>(sizes.size());
  width_ = static_cast<std::int32_t>(of_axis(0));
  height_ = static_cast<std::int32_t>(of_axis(1));
  depth_ = static_cast<std::int32_t>(of_axis(2));
  stride_ = static_cast<std::uint32_t>(stride);
  words_ = (stride * rows + 63) / 64;
  rows_of_group_ = stride_ % 64 == 0 ? 1 : 64;
  by_width_ = detail::Divider(of_axis(0));
  by_height_ = detail::Divider(of_axis(1));
  by_depth_ = detail::Divider(of_axis(2));
  by_stride_ = detail::Divider(stride_);
  by_blocks_ = detail::Divider(stride_ % 64 == 0 ? stride_ / 64 : stride_);
  for (std::size_t axis = 0; axis < 3; ++axis) periodic_[axis] = axis < sizes.size() && periodic[axis];
}

}  // namespace dynasoar
