/// @file
/// The baseline with an array of structures: a cell's states after even and odd steps lie side by side.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_forest.h"
#include "simulation.h"

namespace forest_fire {
namespace {

struct Cell {
  Ground after[2];
};

struct AosLayout {
  Cell* cells;

  __device__ Ground& ground(std::uint32_t c, std::uint32_t step) const { return cells[c].after[step % 2]; }
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
  return std::make_unique<DenseForest<AosStorage>>(parameters);
}

}  // namespace forest_fire
