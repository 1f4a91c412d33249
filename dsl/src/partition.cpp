#include <dynasoar/detail/partition.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

namespace {

/// Parts of nearly equal size: the first ones may be greater by 1.
std::vector<std::size_t> equal_parts(std::size_t layers, std::size_t ranks) {
  std::vector<std::size_t> parts(ranks, layers / ranks);
  for (std::size_t rank = 0; rank < layers % ranks; ++rank) ++parts[rank];
  return parts;
}

}  // namespace

Partition::Partition(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic, int ranks,
                     std::size_t halo, const std::vector<std::size_t>& layers)
    : sizes_(sizes), periodic_(periodic), halo_(halo) {
  static_cast<void>(LatticeShape(sizes, periodic, Slab{0, 0, 0}));  // refuses invalid sizes, and a single axis
  const std::string name = sizes.size() > 2 ? "planes" : "rows";
  const std::size_t all = sizes.back();
  const std::vector<std::size_t> parts = layers.empty() ? equal_parts(all, static_cast<std::size_t>(ranks)) : layers;
  if (parts.size() != static_cast<std::size_t>(ranks)) {
    throw Error("dynasoar: the layers of a DistributedLattice are given for " + std::to_string(parts.size()) +
                " ranks, but there are " + std::to_string(ranks));
  }
  const std::size_t sum = std::accumulate(parts.begin(), parts.end(), std::size_t{0});
  if (sum != all) {
    throw Error("dynasoar: the ranks of a DistributedLattice are given " + std::to_string(sum) + " " + name +
                ", but the lattice has " + std::to_string(all));
  }
  if (halo < 1) throw Error("dynasoar: the halo of a DistributedLattice must be at least 1 layer, but is 0");
  first_.push_back(0);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (parts[rank] > 0 && parts[rank] < halo) {
      throw Error("dynasoar: rank " + std::to_string(rank) + " has " + std::to_string(parts[rank]) + " " + name +
                  " of the lattice, but its neighbours need copies of " + std::to_string(halo) +
                  " (the halo). Run on fewer ranks, give this one more " + name + ", or choose a smaller halo");
    }
    first_.push_back(first_.back() + parts[rank]);
  }
}

Slab Partition::slab(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t length = first_[r + 1] - first_[r];
  return {first_[r] == sizes_.back() ? 0 : first_[r], length, length > 0 ? halo_ : 0};
}

int Partition::next(int rank, int step) const {
  if (is_empty(rank)) return -1;
  for (int other = rank + step;; other += step) {
    if (other < 0 || other >= ranks()) {
      if (!is_periodic()) return -1;
      other = other < 0 ? ranks() - 1 : 0;
    }
    if (!is_empty(other)) return other;  // the last candidate is this rank itself
  }
}

}  // namespace dynasoar::detail
