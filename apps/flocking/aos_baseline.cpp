/// @file
/// Flocking by hand, an array of boids.

#include "dense_flock.h"

namespace flocking {
namespace baselines {

/// An array of structures, as device code sees it.
struct AosArrays {
  Bird* birds;

  __device__ Vector& position(std::uint32_t i) const { return birds[i].position; }
  __device__ Vector& velocity(std::uint32_t i) const { return birds[i].velocity; }
};

class AosStorage {
 public:
  using Arrays = AosArrays;

  explicit AosStorage(std::size_t count) : birds_(count) {}
  Arrays arrays() const { return {birds_.data()}; }

 private:
  dynasoar::DeviceArray<Bird> birds_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::DenseFlock<baselines::AosStorage>>(parameters);
}

}  // namespace flocking
