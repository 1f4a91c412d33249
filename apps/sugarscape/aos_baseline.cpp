/// @file
/// The baseline with an array of structures: the same loops as the structure of arrays, a cell's fields side by side.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/memory.h>

#include "dense_landscape.h"
#include "simulation.h"

namespace sugarscape {
namespace {

using Requests = dynasoar::AtomicWord<std::uint32_t>;

struct Cell {
  std::uint32_t wealth;
  Traits traits;
  Requests asked;
  Requests proposals;
  std::uint16_t sugar;
  std::uint8_t kind;
  std::uint8_t growth;
  std::uint8_t share;
  std::uint8_t choice;
  std::uint8_t partner;
  std::uint8_t accepted;
  std::uint8_t age;
  std::uint8_t children;
  std::uint8_t max_children;
};

struct AosLayout {
  Cell* cells;

  __device__ std::uint8_t& kind(std::uint32_t c) const { return cells[c].kind; }
  __device__ std::uint16_t& sugar(std::uint32_t c) const { return cells[c].sugar; }
  __device__ std::uint8_t& growth(std::uint32_t c) const { return cells[c].growth; }
  __device__ std::uint8_t& share(std::uint32_t c) const { return cells[c].share; }
  __device__ std::uint8_t& choice(std::uint32_t c) const { return cells[c].choice; }
  __device__ std::uint8_t& partner(std::uint32_t c) const { return cells[c].partner; }
  __device__ std::uint8_t& accepted(std::uint32_t c) const { return cells[c].accepted; }
  __device__ std::uint8_t& age(std::uint32_t c) const { return cells[c].age; }
  __device__ std::uint8_t& children(std::uint32_t c) const { return cells[c].children; }
  __device__ std::uint8_t& max_children(std::uint32_t c) const { return cells[c].max_children; }
  __device__ std::uint32_t& wealth(std::uint32_t c) const { return cells[c].wealth; }
  __device__ Traits& traits(std::uint32_t c) const { return cells[c].traits; }
  __device__ Requests& asked(std::uint32_t c) const { return cells[c].asked; }
  __device__ Requests& proposals(std::uint32_t c) const { return cells[c].proposals; }
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
  return std::make_unique<DenseLandscape<AosStorage>>(parameters);
}

}  // namespace sugarscape
