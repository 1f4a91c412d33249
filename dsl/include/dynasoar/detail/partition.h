/// @file
/// Partition: divides the layers of a lattice among ranks. Used by DistributedLattice.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <dynasoar/loops/lattice_shape.h>

namespace dynasoar::detail {

/// A lattice of two or three axes whose last axis is divided into slabs, one for each rank, in the order of ranks. A
/// layer is a row or, if there are three axes, a plane.
class Partition {
 public:
  /// @param halo     layers of the neighbours that each rank has copies of, at least 1
  /// @param layers   the number of layers of each rank. If it is empty, these numbers differ by at most 1
  /// @throws Error if there is only one axis, if `layers` does not fit, or if a rank has some layers, but fewer than
  ///         `halo`
  Partition(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic, int ranks, std::size_t halo,
            const std::vector<std::size_t>& layers);

  int ranks() const { return static_cast<int>(first_.size()) - 1; }
  std::size_t halo() const { return halo_; }

  /// The layers of a rank.
  Slab slab(int rank) const;
  LatticeShape shape(int rank) const { return LatticeShape(sizes_, periodic_, slab(rank)); }

  /// The rank that has the layers before or after those of another one; -1 beyond a bounded edge, or if it has none.
  int before(int rank) const { return next(rank, -1); }
  int after(int rank) const { return next(rank, 1); }

 private:
  bool is_periodic() const { return periodic_[sizes_.size() - 1]; }
  bool is_empty(int rank) const { return slab(rank).length == 0; }
  int next(int rank, int step) const;

  std::vector<std::size_t> sizes_;
  std::array<bool, 3> periodic_;
  std::size_t halo_;
  std::vector<std::size_t> first_;  // [ranks + 1] first layer of each rank, and the number of layers
};

}  // namespace dynasoar::detail
