/// @file
/// The baseline with an array of structures: the same loops as the structure of arrays, a cell's fields side by side.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_traffic.h"
#include "simulation.h"

namespace traffic {
namespace {

struct Cell {
  std::uint32_t street;
  std::uint32_t entered;
  Sign sign;
  std::uint8_t speed;
  std::uint8_t top_speed;
  std::uint8_t plan;
};

struct AosLayout {
  Cell* cells;

  __device__ Sign& sign(std::uint32_t c) const { return cells[c].sign; }
  __device__ std::uint8_t& speed(std::uint32_t c) const { return cells[c].speed; }
  __device__ std::uint8_t& top_speed(std::uint32_t c) const { return cells[c].top_speed; }
  __device__ std::uint8_t& plan(std::uint32_t c) const { return cells[c].plan; }
  __device__ std::uint32_t& street(std::uint32_t c) const { return cells[c].street; }
  __device__ std::uint32_t& entered(std::uint32_t c) const { return cells[c].entered; }
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

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters, const Network& network) {
  return std::make_unique<DenseTraffic<AosStorage>>(parameters, network);
}

}  // namespace traffic
