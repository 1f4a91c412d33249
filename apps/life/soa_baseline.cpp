/// @file
/// The baseline with a structure of arrays: lists of agents with one array for each of their parts.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "simulation.h"
#include "sparse_life.h"

namespace life {
namespace soa {

struct Agents {
  std::uint32_t* cells;
  std::uint16_t* states;
  std::uint16_t* nexts;

  __device__ std::uint32_t cell(std::uint32_t i) const { return cells[i]; }
  __device__ std::uint16_t state(std::uint32_t i) const { return states[i]; }
  __device__ std::uint16_t next(std::uint32_t i) const { return nexts[i]; }
  __device__ void put(std::uint32_t i, sparse::Agent agent) const {
    cells[i] = agent.cell;
    states[i] = agent.state;
    nexts[i] = agent.next;
  }
};

class Storage {
 public:
  using Layout = Agents;

  explicit Storage(std::uint32_t capacity) : cells_(capacity), states_(capacity), nexts_(capacity) {}

  Layout layout() const { return {cells_.data(), states_.data(), nexts_.data()}; }

 private:
  dynasoar::DeviceArray<std::uint32_t> cells_;
  dynasoar::DeviceArray<std::uint16_t> states_;
  dynasoar::DeviceArray<std::uint16_t> nexts_;
};

}  // namespace soa

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<SparseLife<soa::Storage>>(parameters);
}

}  // namespace life
