/// @file
/// The baseline with a structure of arrays: what cars see ahead are arrays of bytes, the rest lies apart.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/memory.h>

#include "dense_traffic.h"
#include "simulation.h"

namespace traffic {
namespace {

struct SoaLayout {
  Sign* signs;
  std::uint8_t* speeds;
  std::uint8_t* top_speeds;
  std::uint8_t* plans;
  std::uint32_t* streets;
  std::uint32_t* entered_streets;

  __device__ Sign& sign(std::uint32_t c) const { return signs[c]; }
  __device__ std::uint8_t& speed(std::uint32_t c) const { return speeds[c]; }
  __device__ std::uint8_t& top_speed(std::uint32_t c) const { return top_speeds[c]; }
  __device__ std::uint8_t& plan(std::uint32_t c) const { return plans[c]; }
  __device__ std::uint32_t& street(std::uint32_t c) const { return streets[c]; }
  __device__ std::uint32_t& entered(std::uint32_t c) const { return entered_streets[c]; }
};

class SoaStorage {
 public:
  using Layout = SoaLayout;

  explicit SoaStorage(std::uint32_t cells)
      : signs_(cells), speeds_(cells), top_speeds_(cells), plans_(cells), streets_(cells), entered_streets_(cells) {}

  Layout layout() const {
    return {signs_.data(), speeds_.data(), top_speeds_.data(), plans_.data(), streets_.data(), entered_streets_.data()};
  }

 private:
  dynasoar::DeviceArray<Sign> signs_;
  dynasoar::DeviceArray<std::uint8_t> speeds_;
  dynasoar::DeviceArray<std::uint8_t> top_speeds_;
  dynasoar::DeviceArray<std::uint8_t> plans_;
  dynasoar::DeviceArray<std::uint32_t> streets_;
  dynasoar::DeviceArray<std::uint32_t> entered_streets_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters, const Network& network) {
  return std::make_unique<DenseTraffic<SoaStorage>>(parameters, network);
}

}  // namespace traffic
