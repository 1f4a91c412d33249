/// @file
/// The baseline with a structure of arrays: one for each of a spring's and a node's values; slots lie slot by slot.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_network.h"
#include "dense_springs.h"
#include "simulation.h"

namespace structure {
namespace soa {

struct Layout {
  std::size_t nodes;
  Kind* kinds;
  std::uint8_t* slots_used;
  Vector* positions;
  Vector* velocities;
  Distance* distances;
  SpringEnd* ends;  // [slots * nodes]
  std::uint32_t* firsts;
  std::uint32_t* seconds;
  float* factors;
  float* rest_lengths;
  Vector* forces;  // one more than springs
  std::uint8_t* first_slots;
  std::uint8_t* second_slots;

  __device__ Kind& kind(std::uint32_t n) const { return kinds[n]; }
  __device__ std::uint8_t& slots(std::uint32_t n) const { return slots_used[n]; }
  __device__ Vector& position(std::uint32_t n) const { return positions[n]; }
  __device__ Vector& velocity(std::uint32_t n) const { return velocities[n]; }
  __device__ Distance& distance(std::uint32_t n) const { return distances[n]; }
  __device__ SpringEnd& end(std::uint32_t n, std::uint32_t slot) const { return ends[slot * nodes + n]; }

  __device__ std::uint32_t& first(std::uint32_t s) const { return firsts[s]; }
  __device__ std::uint32_t& second(std::uint32_t s) const { return seconds[s]; }
  __device__ float& factor(std::uint32_t s) const { return factors[s]; }
  __device__ float& rest_length(std::uint32_t s) const { return rest_lengths[s]; }
  __device__ Vector& force(std::uint32_t s) const { return forces[s]; }
  __device__ std::uint8_t& first_slot(std::uint32_t s) const { return first_slots[s]; }
  __device__ std::uint8_t& second_slot(std::uint32_t s) const { return second_slots[s]; }
};

class Storage {
 public:
  using Layout = soa::Layout;

  explicit Storage(DenseSize size)
      : kinds_(size.nodes),
        slots_used_(size.nodes),
        positions_(size.nodes),
        velocities_(size.nodes),
        distances_(size.nodes),
        ends_(std::size_t{size.slots} * size.nodes),
        firsts_(size.springs),
        seconds_(size.springs),
        factors_(size.springs),
        rest_lengths_(size.springs),
        forces_(size.springs + std::size_t{1}),
        first_slots_(size.springs),
        second_slots_(size.springs) {
    forces_.fill_bytes(0);
  }

  Layout layout() const {
    return {kinds_.size(),        kinds_.data(),  slots_used_.data(),  positions_.data(),   velocities_.data(),
            distances_.data(),    ends_.data(),   firsts_.data(),      seconds_.data(),     factors_.data(),
            rest_lengths_.data(), forces_.data(), first_slots_.data(), second_slots_.data()};
  }

 private:
  dynasoar::DeviceArray<Kind> kinds_;
  dynasoar::DeviceArray<std::uint8_t> slots_used_;
  dynasoar::DeviceArray<Vector> positions_;
  dynasoar::DeviceArray<Vector> velocities_;
  dynasoar::DeviceArray<Distance> distances_;
  dynasoar::DeviceArray<SpringEnd> ends_;
  dynasoar::DeviceArray<std::uint32_t> firsts_;
  dynasoar::DeviceArray<std::uint32_t> seconds_;
  dynasoar::DeviceArray<float> factors_;
  dynasoar::DeviceArray<float> rest_lengths_;
  dynasoar::DeviceArray<Vector> forces_;
  dynasoar::DeviceArray<std::uint8_t> first_slots_;
  dynasoar::DeviceArray<std::uint8_t> second_slots_;
};

}  // namespace soa

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters, const Network& network) {
  return std::make_unique<DenseNetwork<SpringLoops<soa::Storage>>>(parameters, network, assign_slots(network));
}

}  // namespace structure
