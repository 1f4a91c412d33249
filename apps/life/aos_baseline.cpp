/// @file
/// The baseline with an array of structures: the same loops as the structure of arrays, the parts of an agent side by
/// side.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "simulation.h"
#include "sparse_life.h"

namespace life {
namespace aos {

struct Agents {
  sparse::Agent* agents;

  __device__ std::uint32_t cell(std::uint32_t i) const { return agents[i].cell; }
  __device__ std::uint16_t state(std::uint32_t i) const { return agents[i].state; }
  __device__ std::uint16_t next(std::uint32_t i) const { return agents[i].next; }
  __device__ void put(std::uint32_t i, sparse::Agent agent) const { agents[i] = agent; }
};

class Storage {
 public:
  using Layout = Agents;

  explicit Storage(std::uint32_t capacity) : agents_(capacity) {}

  Layout layout() const { return {agents_.data()}; }

 private:
  dynasoar::DeviceArray<sparse::Agent> agents_;
};

}  // namespace aos

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<SparseLife<aos::Storage>>(parameters);
}

}  // namespace life
