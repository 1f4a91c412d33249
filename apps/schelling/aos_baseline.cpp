/// @file
/// The baseline with an array of structures: the same loops as the structure of arrays, a cell's fields side by side.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/memory.h>

#include "dense_city.h"
#include "simulation.h"

namespace schelling {
namespace {

struct Cell {
  dynasoar::AtomicWord<std::uint64_t> lot;
  std::uint32_t wanted;
  std::uint32_t unhappy;
  std::uint8_t group;
};

struct AosLayout {
  Cell* cells;

  __device__ std::uint8_t& group(std::uint32_t c) const { return cells[c].group; }
  __device__ std::uint32_t& wanted(std::uint32_t c) const { return cells[c].wanted; }
  __device__ std::uint32_t& unhappy(std::uint32_t c) const { return cells[c].unhappy; }
  __device__ dynasoar::AtomicWord<std::uint64_t>& lot(std::uint32_t c) const { return cells[c].lot; }
};

class AosStorage {
 public:
  using Layout = AosLayout;

  explicit AosStorage(std::uint32_t cells) : cells_(cells) {}

  Layout layout() const { return {cells_.data()}; }

 private:
  dynasoar::DeviceArray<Cell> cells_;
};

}  // namespace

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<DenseCity<AosStorage>>(parameters);
}

}  // namespace schelling
