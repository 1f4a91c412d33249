/// @file
/// NearestNeighbours: the objects of a grid that are nearest to a position. The result of GridView::nearest.
#pragma once

#include <cstdint>
#include <limits>

#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// At most kMost neighbours, the nearest first. Neighbours at equal distances are in the grid's order. Valid as long as
/// the view.
///
/// @tparam View   a GridView
template <class View, int kMost>
class NearestNeighbours {
 public:
  using Real = typename View::Real;
  using Neighbour = typename View::Neighbour;

  /// The number of neighbours: kMost, or fewer if fewer are in reach.
  __device__ int size() const { return size_; }

  /// Neighbour number `i`, 0 <= i < size().
  __device__ Neighbour operator[](int i) const {
    const auto& seen = view_.seen(places_[i]);
    return {view_.object(places_[i]), seen, view_.space().offset(center_, seen.position), squared_distances_[i]};
  }

 private:
  friend View;

  __device__ NearestNeighbours(const View& view, const typename View::Position& center) : view_(view), center_(center) {
    clear();
  }

  __device__ void clear() {
    size_ = 0;
    for (int i = 0; i < kMost; ++i) {
      squared_distances_[i] = std::numeric_limits<Real>::infinity();
      places_[i] = ~std::uint32_t{0};
    }
  }

  /// Inserts an object if it is one of the nearest so far. @pre each object is added once
  __device__ void add(Real squared_distance, std::uint32_t place) {
    if (size_ < kMost) ++size_;
    if (!comes_before(squared_distance, place, kMost - 1)) return;
    // Unrolled, so that the compiler knows every index and can keep the arrays in registers.
    DYNASOAR_UNROLL(64)
    for (int i = kMost - 1; i > 0; --i) {
      if (comes_before(squared_distance, place, i - 1)) {
        squared_distances_[i] = squared_distances_[i - 1];
        places_[i] = places_[i - 1];
      } else if (comes_before(squared_distance, place, i)) {
        squared_distances_[i] = squared_distance;
        places_[i] = place;
      }
    }
    if (comes_before(squared_distance, place, 0)) {
      squared_distances_[0] = squared_distance;
      places_[0] = place;
    }
  }

  __device__ bool comes_before(Real squared_distance, std::uint32_t place, int i) const {
    return squared_distance < squared_distances_[i] ||
           (squared_distance == squared_distances_[i] && place < places_[i]);
  }

  View view_;
  typename View::Position center_;
  int size_ = 0;
  Real squared_distances_[kMost];
  std::uint32_t places_[kMost];
};

}  // namespace dynasoar::detail
