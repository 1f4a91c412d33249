/// @file
/// The baseline with a structure of arrays: what neighbours look at is an array of bytes, the rest lies apart.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/memory.h>

#include "dense_city.h"
#include "simulation.h"

namespace schelling {
namespace {

using Lot = dynasoar::AtomicWord<std::uint64_t>;

struct SoaLayout {
  std::uint8_t* groups;
  std::uint32_t* wishes;
  std::uint32_t* unhappy_steps;
  Lot* lots;

  __device__ std::uint8_t& group(std::uint32_t c) const { return groups[c]; }
  __device__ std::uint32_t& wanted(std::uint32_t c) const { return wishes[c]; }
  __device__ std::uint32_t& unhappy(std::uint32_t c) const { return unhappy_steps[c]; }
  __device__ Lot& lot(std::uint32_t c) const { return lots[c]; }
};

class SoaStorage {
 public:
  using Layout = SoaLayout;

  explicit SoaStorage(std::uint32_t cells) : groups_(cells), wishes_(cells), unhappy_steps_(cells), lots_(cells) {}

  Layout layout() const { return {groups_.data(), wishes_.data(), unhappy_steps_.data(), lots_.data()}; }

 private:
  dynasoar::DeviceArray<std::uint8_t> groups_;
  dynasoar::DeviceArray<std::uint32_t> wishes_;
  dynasoar::DeviceArray<std::uint32_t> unhappy_steps_;
  dynasoar::DeviceArray<Lot> lots_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<DenseCity<SoaStorage>>(parameters);
}

}  // namespace schelling
