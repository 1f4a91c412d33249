/// @file
/// The baseline with a structure of arrays: what neighbours look at are arrays of one or two bytes, the rest lies
/// apart.

#include <cstdint>
#include <memory>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/memory.h>

#include "dense_landscape.h"
#include "simulation.h"

namespace sugarscape {
namespace {

using Requests = dynasoar::AtomicWord<std::uint32_t>;

struct SoaLayout {
  std::uint8_t* kinds;
  std::uint16_t* sugars;
  std::uint8_t* growths;
  std::uint8_t* shares;
  std::uint8_t* choices;
  std::uint8_t* partners;
  std::uint8_t* acceptances;
  std::uint8_t* ages;
  std::uint8_t* children_born;
  std::uint8_t* children_limits;
  std::uint32_t* wealths;
  Traits* all_traits;
  Requests* requests;
  Requests* all_proposals;

  __device__ std::uint8_t& kind(std::uint32_t c) const { return kinds[c]; }
  __device__ std::uint16_t& sugar(std::uint32_t c) const { return sugars[c]; }
  __device__ std::uint8_t& growth(std::uint32_t c) const { return growths[c]; }
  __device__ std::uint8_t& share(std::uint32_t c) const { return shares[c]; }
  __device__ std::uint8_t& choice(std::uint32_t c) const { return choices[c]; }
  __device__ std::uint8_t& partner(std::uint32_t c) const { return partners[c]; }
  __device__ std::uint8_t& accepted(std::uint32_t c) const { return acceptances[c]; }
  __device__ std::uint8_t& age(std::uint32_t c) const { return ages[c]; }
  __device__ std::uint8_t& children(std::uint32_t c) const { return children_born[c]; }
  __device__ std::uint8_t& max_children(std::uint32_t c) const { return children_limits[c]; }
  __device__ std::uint32_t& wealth(std::uint32_t c) const { return wealths[c]; }
  __device__ Traits& traits(std::uint32_t c) const { return all_traits[c]; }
  __device__ Requests& asked(std::uint32_t c) const { return requests[c]; }
  __device__ Requests& proposals(std::uint32_t c) const { return all_proposals[c]; }
};

class SoaStorage {
 public:
  using Layout = SoaLayout;

  explicit SoaStorage(std::uint32_t cells)
      : kinds_(cells),
        sugars_(cells),
        growths_(cells),
        shares_(cells),
        choices_(cells),
        partners_(cells),
        acceptances_(cells),
        ages_(cells),
        children_(cells),
        max_children_(cells),
        wealths_(cells),
        traits_(cells),
        asked_(cells),
        proposals_(cells) {}

  Layout layout() const {
    return {kinds_.data(),    sugars_.data(),      growths_.data(), shares_.data(),   choices_.data(),
            partners_.data(), acceptances_.data(), ages_.data(),    children_.data(), max_children_.data(),
            wealths_.data(),  traits_.data(),      asked_.data(),   proposals_.data()};
  }

 private:
  dynasoar::DeviceArray<std::uint8_t> kinds_;
  dynasoar::DeviceArray<std::uint16_t> sugars_;
  dynasoar::DeviceArray<std::uint8_t> growths_;
  dynasoar::DeviceArray<std::uint8_t> shares_;
  dynasoar::DeviceArray<std::uint8_t> choices_;
  dynasoar::DeviceArray<std::uint8_t> partners_;
  dynasoar::DeviceArray<std::uint8_t> acceptances_;
  dynasoar::DeviceArray<std::uint8_t> ages_;
  dynasoar::DeviceArray<std::uint8_t> children_;
  dynasoar::DeviceArray<std::uint8_t> max_children_;
  dynasoar::DeviceArray<std::uint32_t> wealths_;
  dynasoar::DeviceArray<Traits> traits_;
  dynasoar::DeviceArray<Requests> asked_;
  dynasoar::DeviceArray<Requests> proposals_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<DenseLandscape<SoaStorage>>(parameters);
}

}  // namespace sugarscape
