/// @file
/// The baseline with an array of structures: everything about a node side by side. How many slots a node has is known
/// when the program is compiled, so there are two versions: for random networks, and for everything.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_network.h"
#include "simulation.h"

namespace structure {
namespace {

struct Slot {
  std::uint32_t neighbor;
  float factor;
  float rest_length;
};

template <std::uint32_t kSlots>
struct NodeRecord {
  Vector positions[2];
  Vector velocity;
  Distance distance;
  Kind kind;
  Slot slots[kSlots];
};

template <std::uint32_t kSlots>
struct AosLayout {
  NodeRecord<kSlots>* nodes;

  __device__ Kind& kind(std::uint32_t n) const { return nodes[n].kind; }
  __device__ Vector& position(std::uint32_t n, std::uint32_t buffer) const { return nodes[n].positions[buffer]; }
  __device__ Vector& velocity(std::uint32_t n) const { return nodes[n].velocity; }
  __device__ Distance& distance(std::uint32_t n) const { return nodes[n].distance; }

  __device__ static constexpr std::uint32_t slots() { return kSlots; }
  __device__ std::uint32_t& neighbor(std::uint32_t n, std::uint32_t s) const { return nodes[n].slots[s].neighbor; }
  __device__ float& factor(std::uint32_t n, std::uint32_t s) const { return nodes[n].slots[s].factor; }
  __device__ float& rest_length(std::uint32_t n, std::uint32_t s) const { return nodes[n].slots[s].rest_length; }
};

template <std::uint32_t kSlots>
class AosStorage {
 public:
  using Layout = AosLayout<kSlots>;

  AosStorage(std::size_t nodes, std::uint32_t) : nodes_(nodes) {}

  Layout layout() const { return {nodes_.data()}; }

 private:
  dynasoar::DeviceArray<NodeRecord<kSlots>> nodes_;
};

}  // namespace

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters, const Network& network) {
  const Slots slots = assign_slots(network);
  if (slots.most <= kRandomSprings) {
    return std::make_unique<DenseNetwork<AosStorage<kRandomSprings>>>(parameters, network, slots);
  }
  return std::make_unique<DenseNetwork<AosStorage<kSpringSlots>>>(parameters, network, slots);
}

}  // namespace structure
