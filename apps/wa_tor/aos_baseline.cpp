/// @file
/// The baseline with an array of structures: the same loops as the structure of arrays, a cell's fields side by side.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_ocean.h"
#include "simulation.h"

namespace wa_tor {
namespace {

struct Cell {
  std::uint32_t born;
  std::uint32_t starves;
  std::uint8_t kind;
  std::uint8_t request;
};

struct AosLayout {
  Cell* cells;

  __device__ std::uint8_t& kind(std::uint32_t c) const { return cells[c].kind; }
  __device__ std::uint8_t& request(std::uint32_t c) const { return cells[c].request; }
  __device__ std::uint32_t& born(std::uint32_t c) const { return cells[c].born; }
  __device__ std::uint32_t& starves(std::uint32_t c) const { return cells[c].starves; }
};

class AosStorage {
 public:
  using Layout = AosLayout;

  // Each half: the cell is read, written and read. Memory is moved in sectors of 32 bytes, so always whole cells.
  static constexpr std::uint64_t kBytesPerCell = 2 * 3 * sizeof(Cell);
  static constexpr std::uint64_t kBytesPerShark = 0;

  explicit AosStorage(std::uint32_t cells) : cells_(cells) {}

  Layout layout() const { return {cells_.data()}; }

 private:
  dynasoar::DeviceArray<Cell> cells_;
};

}  // namespace

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<DenseOcean<AosStorage>>(parameters);
}

}  // namespace wa_tor
