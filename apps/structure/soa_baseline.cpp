/// @file
/// The baseline with a structure of arrays: one for each of a node's values and of a slot's, slot by slot.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_network.h"
#include "simulation.h"

namespace structure {
namespace {

struct SoaLayout {
  std::size_t nodes;
  std::uint32_t slots_per_node;
  Kind* kinds;
  Vector* positions;  // [2 * nodes] two buffers
  Vector* velocities;
  Distance* distances;
  std::uint32_t* neighbors;  // [slots_per_node * nodes]
  float* factors;            // [slots_per_node * nodes]
  float* rest_lengths;       // [slots_per_node * nodes]

  __device__ Kind& kind(std::uint32_t n) const { return kinds[n]; }
  __device__ Vector& position(std::uint32_t n, std::uint32_t buffer) const { return positions[buffer * nodes + n]; }
  __device__ Vector& velocity(std::uint32_t n) const { return velocities[n]; }
  __device__ Distance& distance(std::uint32_t n) const { return distances[n]; }

  __device__ std::uint32_t slots() const { return slots_per_node; }
  __device__ std::uint32_t& neighbor(std::uint32_t n, std::uint32_t s) const { return neighbors[s * nodes + n]; }
  __device__ float& factor(std::uint32_t n, std::uint32_t s) const { return factors[s * nodes + n]; }
  __device__ float& rest_length(std::uint32_t n, std::uint32_t s) const { return rest_lengths[s * nodes + n]; }
};

class SoaStorage {
 public:
  using Layout = SoaLayout;

  SoaStorage(std::size_t nodes, std::uint32_t slots)
      : slots_(slots),
        kinds_(nodes),
        positions_(2 * nodes),
        velocities_(nodes),
        distances_(nodes),
        neighbors_(slots * nodes),
        factors_(slots * nodes),
        rest_lengths_(slots * nodes) {}

  Layout layout() const {
    return {kinds_.size(),       slots_,
            kinds_.data(),       positions_.data(),
            velocities_.data(),  distances_.data(),
            neighbors_.data(),   factors_.data(),
            rest_lengths_.data()};
  }

 private:
  std::uint32_t slots_;
  dynasoar::DeviceArray<Kind> kinds_;
  dynasoar::DeviceArray<Vector> positions_;
  dynasoar::DeviceArray<Vector> velocities_;
  dynasoar::DeviceArray<Distance> distances_;
  dynasoar::DeviceArray<std::uint32_t> neighbors_;
  dynasoar::DeviceArray<float> factors_;
  dynasoar::DeviceArray<float> rest_lengths_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters, const Network& network) {
  return std::make_unique<DenseNetwork<SoaStorage>>(parameters, network, assign_slots(network));
}

}  // namespace structure
