/// @file
/// The baseline with an array of structures: the same loop as the structure of arrays, a cell's two states side by
/// side.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_life.h"
#include "simulation.h"

namespace life {
namespace {

template <class State>
struct Cell {
  State generations[2];
};

template <class StateT>
struct AosLayout {
  using State = StateT;
  Cell<State>* cells;

  __device__ State& at(std::uint32_t generation, std::size_t cell) const { return cells[cell].generations[generation]; }
};

template <class State>
class AosStorage {
 public:
  using Layout = AosLayout<State>;

  explicit AosStorage(std::size_t cells) : cells_(cells) { cells_.fill_bytes(0); }

  Layout layout() const { return {cells_.data()}; }

 private:
  dynasoar::DeviceArray<Cell<State>> cells_;
};

}  // namespace

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  if (fits_in_byte(parameters)) return std::make_unique<DenseLife<AosStorage<std::uint8_t>>>(parameters);
  return std::make_unique<DenseLife<AosStorage<std::uint16_t>>>(parameters);
}

}  // namespace life
