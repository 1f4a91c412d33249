/// @file
/// The baseline with an array of structures: everything about a spring side by side, and everything about a node. How
/// many slots a node has is known when the program is compiled, so there are two versions: for random networks, and for
/// everything.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_network.h"
#include "dense_springs.h"
#include "simulation.h"

namespace structure {
namespace aos {

// Aligned so that a GPU reads 16 bytes at a time, and a spring lies in a single sector of 32.

struct alignas(16) SpringRecord {
  std::uint32_t first;
  std::uint32_t second;
  float factor;
  float rest_length;
  Vector force;
  std::uint8_t first_slot;
  std::uint8_t second_slot;
};

template <std::uint32_t kSlots>
struct alignas(16) NodeRecord {
  Vector position;
  Vector velocity;
  Distance distance;
  Kind kind;
  std::uint8_t slots;
  SpringEnd ends[kSlots];
};

template <std::uint32_t kSlots>
struct Layout {
  NodeRecord<kSlots>* nodes;
  SpringRecord* springs;  // one more than there are

  __device__ Kind& kind(std::uint32_t n) const { return nodes[n].kind; }
  __device__ std::uint8_t& slots(std::uint32_t n) const { return nodes[n].slots; }
  __device__ Vector& position(std::uint32_t n) const { return nodes[n].position; }
  __device__ Vector& velocity(std::uint32_t n) const { return nodes[n].velocity; }
  __device__ Distance& distance(std::uint32_t n) const { return nodes[n].distance; }
  __device__ SpringEnd& end(std::uint32_t n, std::uint32_t slot) const { return nodes[n].ends[slot]; }

  __device__ std::uint32_t& first(std::uint32_t s) const { return springs[s].first; }
  __device__ std::uint32_t& second(std::uint32_t s) const { return springs[s].second; }
  __device__ float& factor(std::uint32_t s) const { return springs[s].factor; }
  __device__ float& rest_length(std::uint32_t s) const { return springs[s].rest_length; }
  __device__ Vector& force(std::uint32_t s) const { return springs[s].force; }
  __device__ std::uint8_t& first_slot(std::uint32_t s) const { return springs[s].first_slot; }
  __device__ std::uint8_t& second_slot(std::uint32_t s) const { return springs[s].second_slot; }
};

template <std::uint32_t kSlots>
class Storage {
 public:
  using Layout = aos::Layout<kSlots>;

  explicit Storage(DenseSize size) : nodes_(size.nodes), springs_(size.springs + std::size_t{1}) {
    springs_.fill_bytes(0);
  }

  Layout layout() const { return {nodes_.data(), springs_.data()}; }

 private:
  dynasoar::DeviceArray<NodeRecord<kSlots>> nodes_;
  dynasoar::DeviceArray<SpringRecord> springs_;
};

}  // namespace aos

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters, const Network& network) {
  const Slots slots = assign_slots(network);
  if (slots.most <= kRandomSprings) {
    return std::make_unique<DenseNetwork<SpringLoops<aos::Storage<kRandomSprings>>>>(parameters, network, slots);
  }
  return std::make_unique<DenseNetwork<SpringLoops<aos::Storage<kSpringSlots>>>>(parameters, network, slots);
}

}  // namespace structure
