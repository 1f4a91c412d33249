/// @file
/// The baseline with a structure of arrays: what neighbours look at are arrays of bytes, the rest lies apart.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_ocean.h"
#include "simulation.h"

namespace wa_tor {
namespace {

struct SoaLayout {
  std::uint8_t* kinds;
  std::uint8_t* requests;
  std::uint32_t* births;
  std::uint32_t* starvations;

  __device__ std::uint8_t& kind(std::uint32_t c) const { return kinds[c]; }
  __device__ std::uint8_t& request(std::uint32_t c) const { return requests[c]; }
  __device__ std::uint32_t& born(std::uint32_t c) const { return births[c]; }
  __device__ std::uint32_t& starves(std::uint32_t c) const { return starvations[c]; }
};

class SoaStorage {
 public:
  using Layout = SoaLayout;

  // Each half: the kind is read, the request written and read. Moves are not counted.
  static constexpr std::uint64_t kBytesPerCell = 2 * (1 + 1 + 1);
  // Every shark looks whether it starves.
  static constexpr std::uint64_t kBytesPerShark = 4;

  explicit SoaStorage(std::uint32_t cells) : kinds_(cells), requests_(cells), births_(cells), starvations_(cells) {}

  Layout layout() const { return {kinds_.data(), requests_.data(), births_.data(), starvations_.data()}; }

 private:
  dynasoar::DeviceArray<std::uint8_t> kinds_;
  dynasoar::DeviceArray<std::uint8_t> requests_;
  dynasoar::DeviceArray<std::uint32_t> births_;
  dynasoar::DeviceArray<std::uint32_t> starvations_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<DenseOcean<SoaStorage>>(parameters);
}

}  // namespace wa_tor
