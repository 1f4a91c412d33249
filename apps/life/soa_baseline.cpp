/// @file
/// The baseline with a structure of arrays: one array for each of the two generations.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_life.h"
#include "simulation.h"

namespace life {
namespace {

template <class StateT>
struct SoaLayout {
  using State = StateT;
  State* generations[2];

  __device__ State& at(std::uint32_t generation, std::size_t cell) const { return generations[generation][cell]; }
};

template <class State>
class SoaStorage {
 public:
  using Layout = SoaLayout<State>;

  explicit SoaStorage(std::size_t cells) : even_(cells), odd_(cells) {
    even_.fill_bytes(0);
    odd_.fill_bytes(0);
  }

  Layout layout() const { return {{even_.data(), odd_.data()}}; }

 private:
  dynasoar::DeviceArray<State> even_;
  dynasoar::DeviceArray<State> odd_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  if (fits_in_byte(parameters)) return std::make_unique<DenseLife<SoaStorage<std::uint8_t>>>(parameters);
  return std::make_unique<DenseLife<SoaStorage<std::uint16_t>>>(parameters);
}

}  // namespace life
