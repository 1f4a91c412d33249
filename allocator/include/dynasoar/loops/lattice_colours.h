/// @file
/// Colours of the places of a lattice, such that no two places of one colour are neighbours. Used by
/// Lattice::parallel_for_in_colours, which handles the places of one colour at a time.
///
///     for_each_colour(shape, neighbourhood, f)
///
/// calls `f(places)` for one colour after the other: `places(i)`, 0 <= i < `places.size()`, are the places of that
/// colour in ascending order. The caller must skip those for which `exists()` is false.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/loops/places.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Numbers the cells of a box row by row, x first.
class CellsOfBox {
 public:
  /// @param width    the width of the box: at least 1, like the other sizes
  CellsOfBox(std::int32_t width, std::int32_t height, std::int32_t depth)
      : depth_(static_cast<std::uint32_t>(depth)),
        by_width_(static_cast<std::uint32_t>(width)),
        by_height_(static_cast<std::uint32_t>(height)) {}

  __host__ __device__ std::uint64_t size() const {
    return std::uint64_t{by_width_.divisor()} * by_height_.divisor() * depth_;
  }

  __host__ __device__ LatticeVector operator()(std::uint64_t number) const {
    const auto row = number >> 31 == 0 ? by_width_.quotient(static_cast<std::uint32_t>(number))
                                       : static_cast<std::uint32_t>(number / by_width_.divisor());
    const std::uint32_t z = by_height_.quotient(row);
    return {static_cast<std::int32_t>(static_cast<std::uint32_t>(number) - row * by_width_.divisor()),
            static_cast<std::int32_t>(row - z * by_height_.divisor()), static_cast<std::int32_t>(z)};
  }

 private:
  std::uint32_t depth_;
  Divider by_width_, by_height_;
};

/// The coordinates along an axis that have one colour.
struct CoordinatesOfColour {
  std::int32_t first;
  std::int32_t distance;  ///< distance from one to the next
  std::int32_t longer;    ///< this number of first distances are greater by 1
  std::int32_t count;

  __host__ __device__ std::int32_t operator[](std::int32_t i) const {
    return first + i * distance + (i < longer ? i : longer);
  }
};

/// Colours of the coordinates along an axis, such that coordinates of one colour are more than `radius` apart. The
/// number of colours is the least possible.
///
/// The axis is cut into parts, and the coordinates of each part have colours 0, 1, 2 and so on. Parts are `radius + 1`
/// long, and the last one may be shorter. If the axis is periodic, the last part must not be shorter, because the first
/// one follows it. All parts are then equally long, except that some of the first ones are longer by 1 if necessary.
class ColoursOfAxis {
 public:
  ColoursOfAxis(std::int32_t length, bool is_periodic, std::int32_t radius) {
    const std::int32_t parts = std::max(length / (radius + 1), 1);
    length_of_part_ = is_periodic ? length / parts : std::min(length, radius + 1);
    longer_parts_ = is_periodic ? length % parts : 0;
    in_equal_parts_ = length - longer_parts_;
  }

  std::int32_t count() const { return length_of_part_ + (longer_parts_ > 0 ? 1 : 0); }

  CoordinatesOfColour operator[](std::int32_t colour) const {
    const std::int32_t count = colour < length_of_part_
                                   ? (in_equal_parts_ - colour - 1) / length_of_part_ + 1
                                   : longer_parts_;  // number of longer parts, each of which has one
    return {colour, length_of_part_, longer_parts_, count};
  }

 private:
  std::int32_t length_of_part_;
  std::int32_t longer_parts_;
  std::int32_t in_equal_parts_;  // the length without the additional coordinates
};

/// The places with a colour along each axis. Two of these places differ along some axis, and along this axis they are
/// far apart.
class PlacesOfBoxColour {
 public:
  PlacesOfBoxColour(const LatticeShape& shape, const CoordinatesOfColour& x, const CoordinatesOfColour& y,
                    const CoordinatesOfColour& z)
      : shape_(shape), cells_(x.count, y.count, z.count), x_(x), y_(y), z_(z) {}

  __host__ __device__ std::uint64_t size() const { return cells_.size(); }

  __host__ __device__ Place operator()(std::uint64_t i) const {
    const LatticeVector cell = cells_(i);
    return shape_.place({x_[cell.x], y_[cell.y], z_[cell.z]});
  }

 private:
  LatticeShape shape_;
  CellsOfBox cells_;
  CoordinatesOfColour x_, y_, z_;
};

/// An axis of a chequered lattice: coordinates have colours 0 and 1 alternately. If the axis is periodic and both ends
/// would have colour 0, the last coordinate has colour 2.
struct ChequeredAxis {
  std::int32_t length;
  std::int32_t last;  ///< the coordinate of colour 2, or -1

  ChequeredAxis(std::int32_t length, bool is_periodic)
      : length(length), last(is_periodic && length > 1 && length % 2 == 1 ? length - 1 : -1) {}

  std::int32_t colours() const { return last >= 0 ? 3 : std::min(length, 2); }

  __host__ __device__ std::int32_t colour(std::int32_t coordinate) const {
    return coordinate == last ? 2 : coordinate % 2;
  }
};

/// The places at which the colours of the coordinates add up to a colour, modulo the number of colours. The sum changes
/// with each step along an axis.
class PlacesOfChequer {
 public:
  PlacesOfChequer(const LatticeShape& shape, const ChequeredAxis& x, const ChequeredAxis& y, const ChequeredAxis& z,
                  std::int32_t colours, std::int32_t colour)
      : shape_(shape),
        cells_((x.length + 1) / 2, y.length, z.length),
        x_(x),
        y_(y),
        z_(z),
        colours_(colours),
        colour_(colour) {}

  __host__ __device__ std::uint64_t size() const { return cells_.size(); }

  __host__ __device__ Place operator()(std::uint64_t i) const {
    const LatticeVector cell = cells_(i);
    std::int32_t wanted = colour_ - y_.colour(cell.y) - z_.colour(cell.z);  // at least -4
    while (wanted < 0) wanted += colours_;
    const std::int32_t x = 2 * cell.x + wanted % 2;
    return x < x_.length && x_.colour(x) == wanted ? shape_.place({x, cell.y, cell.z}) : Place();
  }

 private:
  LatticeShape shape_;
  CellsOfBox cells_;
  ChequeredAxis x_, y_, z_;
  std::int32_t colours_, colour_;
};

/// Two or three colours, for neighbours that are one step apart.
template <class F>
void for_each_colour(const LatticeShape& shape, VonNeumann<1>, const F& f) {
  const ChequeredAxis x(shape.width(), shape.is_periodic(0)), y(shape.height(), shape.is_periodic(1)),
      z(shape.depth(), shape.is_periodic(2));
  const std::int32_t colours = std::max({x.colours(), y.colours(), z.colours()});
  for (std::int32_t colour = 0; colour < colours; ++colour) f(PlacesOfChequer(shape, x, y, z, colours, colour));
}

/// Colours for neighbours within a distance along each axis.
template <class Neighbourhood, class F>
void for_each_colour(const LatticeShape& shape, Neighbourhood, const F& f) {
  constexpr std::int32_t kRadius = Neighbourhood::kRadius;
  const ColoursOfAxis x(shape.width(), shape.is_periodic(0), kRadius);
  const ColoursOfAxis y(shape.height(), shape.is_periodic(1), kRadius);
  const ColoursOfAxis z(shape.depth(), shape.is_periodic(2), kRadius);
  for (std::int32_t k = 0; k < z.count(); ++k) {
    for (std::int32_t j = 0; j < y.count(); ++j) {
      for (std::int32_t i = 0; i < x.count(); ++i) f(PlacesOfBoxColour(shape, x[i], y[j], z[k]));
    }
  }
}

/// Calls a callable for a place of a colour, if there is one.
template <class Places, class Call>
class ColourCall {
 public:
  ColourCall(const Places& places, const Call& call) : places_(places), call_(call) {}

  __device__ void operator()(std::uint64_t i) const {
    const Place place = places_(i);
    if (place.exists()) call_(place.slot());
  }

 private:
  Places places_;
  Call call_;
};

}  // namespace dynasoar::detail
