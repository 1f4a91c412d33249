/// @file
/// Flocking by hand, an array for every part of a boid.

#include "dense_flock.h"

namespace flocking {
namespace baselines {

/// A structure of arrays, as device code sees it.
struct SoaArrays {
  Vector* positions;
  Vector* velocities;

  __device__ Vector& position(std::uint32_t i) const { return positions[i]; }
  __device__ Vector& velocity(std::uint32_t i) const { return velocities[i]; }
};

class SoaStorage {
 public:
  using Arrays = SoaArrays;

  explicit SoaStorage(std::size_t count) : positions_(count), velocities_(count) {}
  Arrays arrays() const { return {positions_.data(), velocities_.data()}; }

 private:
  dynasoar::DeviceArray<Vector> positions_, velocities_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::DenseFlock<baselines::SoaStorage>>(parameters);
}

}  // namespace flocking
