/// @file
/// The baseline with a structure of arrays: one for even steps, one for odd ones.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_forest.h"
#include "simulation.h"

namespace forest_fire {
namespace {

struct SoaLayout {
  Ground* even;
  Ground* odd;

  __device__ Ground& ground(std::uint32_t c, std::uint32_t step) const { return (step % 2 == 0 ? even : odd)[c]; }
};

class SoaStorage {
 public:
  using Layout = SoaLayout;

  explicit SoaStorage(std::uint32_t cells) : even_(cells), odd_(cells) {}

  Layout layout() const { return {even_.data(), odd_.data()}; }

 private:
  dynasoar::DeviceArray<Ground> even_, odd_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<DenseForest<SoaStorage>>(parameters);
}

}  // namespace forest_fire
