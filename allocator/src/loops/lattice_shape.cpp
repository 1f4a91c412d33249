/// @file
/// LatticeShape: values that are computed once per lattice.

#include <dynasoar/loops/lattice_shape.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/platform/error.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

namespace detail {

// With s = ceil(log2(d)) and m = ceil(2^(31 + s) / d), which is less than 2^32, n * m / 2^(31 + s) exceeds n / d by
// less than n / 2^(31 + s), and so by less than 1 / d for all n < 2^31, as d <= 2^s.
Divider::Divider(std::uint32_t divisor)
    : divisor_(divisor), shift_(static_cast<std::uint32_t>(std::bit_width(divisor - 1))) {
  multiplier_ = static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift_)) + divisor - 1) / divisor);
}

PlacesOfWords::PlacesOfWords(std::size_t words, std::size_t places)
    : by_words_(static_cast<std::uint32_t>(words)), last_(first_bits(static_cast<int>(places - (words - 1) * 64))) {}

Axis::Axis(int number, std::size_t places, std::size_t slots, bool is_periodic)
    : length(static_cast<std::int32_t>(places)),
      is_periodic(is_periodic),
      stride(static_cast<std::int64_t>(slots)),
      before_first(is_periodic ? (places - 1) * slots : Place::beyond_edge(number)),
      after_last(is_periodic ? 0 - (places - 1) * slots : Place::beyond_edge(number)),
      two_before_first(is_periodic && places > 1 ? (places - 2) * slots : before_first),
      two_after_last(is_periodic ? 0 - two_before_first : after_last),
      beyond(Place::beyond_edge(number)),
      by_length(static_cast<std::uint32_t>(places)) {}

namespace {

/// Slots from a row of `width` places to the next: whole blocks, unless this wastes more than an eighth of the slots of
/// a large lattice.
std::size_t stride_of(std::size_t width, std::size_t rows, bool has_rows, bool is_divided) {
  const std::size_t padded = (width + 63) / 64 * 64;
  const bool is_small = rows <= kMostPaddedSlots / padded;
  return has_rows && (is_divided || is_small || 8 * (padded - width) <= padded) ? padded : width;
}

}  // namespace

}  // namespace detail

LatticeShape::LatticeShape(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic,
                           const detail::Slab* slab) {
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
  if (slab != nullptr && sizes.size() == 1) {
    throw Error(
        "dynasoar: a Lattice with one axis cannot be divided among processes: give it {width, height}, of which "
        "each process gets some rows");
  }
  const std::size_t stride = detail::stride_of(sizes[0], rows, sizes.size() > 1, slab != nullptr);
  if (rows > kMostRows || rows > kMostPlaces / stride) {
    throw Error("dynasoar: a Lattice has at most 2^37 places in at most 2^31 rows, but this one is given " +
                std::to_string(rows) + " rows of " + std::to_string(sizes[0]) + " places: make it smaller");
  }
  const auto all_places = [&](std::size_t axis) { return axis < sizes.size() ? sizes[axis] : 1; };
  const auto is_periodic = [&](std::size_t axis) { return axis < sizes.size() && periodic[axis]; };
  const auto all_rows = [&](std::size_t axis) {
    const auto length = static_cast<std::int32_t>(all_places(axis));
    return detail::Numbering<std::int32_t>{0, 0, length, length};
  };
  rows_ = all_rows(1);
  planes_ = all_rows(2);
  y_is_periodic_ = is_periodic(1) ? 1 : 0;
  z_is_periodic_ = is_periodic(2) ? 1 : 0;
  const auto size = static_cast<std::int64_t>(sizes[0] * rows);
  numbers_ = {0, 0, size, size};
  own_size_ = static_cast<std::uint64_t>(size);
  is_divided_ = slab != nullptr ? 1 : 0;
  const std::size_t divided = sizes.size() - 1;  // the divided axis, if there is one
  std::size_t layers_in_memory = 0, ghosts_before = 0;
  if (slab != nullptr) {
    const std::size_t all = sizes[divided], places_of_layer = static_cast<std::size_t>(size) / all;
    const std::size_t behind = all - slab->first - slab->length;
    ghosts_before = is_periodic(divided) ? slab->ghosts : std::min(slab->ghosts, slab->first);
    const std::size_t ghosts_after = is_periodic(divided) ? slab->ghosts : std::min(slab->ghosts, behind);
    const std::size_t stored = ghosts_before + slab->length + ghosts_after;
    if (stored > kMostPlacesOfAxis || rows / all * stored > kMostRows || rows / all * stored > kMostPlaces / stride) {
      throw Error("dynasoar: a process has " + std::to_string(stored) +
                  " layers of a Lattice with its ghosts, which are too many: make the lattice or the halo smaller");
    }
    layers_in_memory = std::max<std::size_t>(1, stored);  // an empty slab has a layer that is never used
    const auto numbering = [&]<class Int>(Int of_layer) {
      return detail::Numbering<Int>{(static_cast<Int>(slab->first) - static_cast<Int>(ghosts_before)) * of_layer,
                                    static_cast<Int>(ghosts_before) * of_layer, static_cast<Int>(stored) * of_layer,
                                    static_cast<Int>(all) * of_layer};
    };
    (divided == 1 ? rows_ : planes_) = numbering(std::int32_t{1});
    numbers_ = numbering(static_cast<std::int64_t>(places_of_layer));
    own_size_ = std::uint64_t{slab->length} * places_of_layer;
    rows = rows / all * layers_in_memory;
  }
  const auto places = [&](std::size_t axis) {
    return slab != nullptr && axis == divided ? layers_in_memory : all_places(axis);
  };
  // There are no places beyond the outermost ghosts.
  const auto is_closed = [&](std::size_t axis) { return is_periodic(axis) && (slab == nullptr || axis != divided); };
  x_ = detail::Axis(0, places(0), 1, is_periodic(0));
  y_ = detail::Axis(1, places(1), stride, is_closed(1));
  z_ = detail::Axis(2, places(2), stride * places(1), is_closed(2));
  axes_ = static_cast<std::int32_t>(sizes.size());
  stride_ = static_cast<std::uint32_t>(stride);
  words_ = (stride * rows + 63) / 64;
  const bool is_padded = stride % 64 == 0;
  const std::size_t blocks = is_padded ? stride / 64 : stride;
  const std::size_t words_of_group = is_padded ? blocks : words_;
  const std::size_t places_of_group = is_padded ? sizes[0] : stride * rows;
  rows_of_group_ = is_padded ? 1 : 64;
  by_stride_ = detail::Divider(stride_);
  by_blocks_ = detail::Divider(static_cast<std::uint32_t>(blocks));
  places_ = detail::PlacesOfWords(words_of_group, places_of_group);
  own_words_ = {0, words_};
  if (slab != nullptr) own_words_ = {ghosts_before * words_of_layer(), slab->length * words_of_layer()};
}

}  // namespace dynasoar
