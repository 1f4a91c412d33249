/// @file
/// The hand-written n-body, for two layouts. A step computes all pairs tile by tile; then every body moves.

#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "bodies/all_pairs.h"
#include "bodies/layouts.h"
#include "n_body.h"

namespace n_body {
namespace baselines {

template <class Storage>
class Dense final : public app::DenseSimulation<Simulation> {
 public:
  using Arrays = bodies::Arrays<Storage>;

  explicit Dense(const Parameters& parameters)
      : DenseSimulation(parameters, {"attract", "move"}),
        count_{static_cast<std::uint32_t>(parameters.initial.size())},
        cut_off_(parameters.cut_off),
        storage_(count_.count),
        states_(count_.count) {
    states_.upload(parameters.initial);
    executor().for_each_index(count_.count, bodies::Unpack<Arrays>{{storage_.view()}, states_.data()});
    synchronize();
  }

  void submit_step() override {
    const Arrays arrays{storage_.view()};
    const bodies::Attract<Arrays, bodies::FixedCount> attract{arrays, count_};
    if (cut_off_ > 0) {
      bodies::look_at_all(executor(), count_.count,
                          bodies::AttractNear<Arrays, bodies::FixedCount>{attract, cut_off_ * cut_off_});
    } else {
      bodies::look_at_all(executor(), count_.count, attract);
    }
    end_phase(0);
    executor().for_each_index(count_.count, bodies::Move<Arrays, bodies::FixedCount>{arrays, count_, kTimeStep});
    end_phase(1);
  }

  std::vector<bodies::BodyState> bodies() override {
    executor().for_each_index(count_.count, bodies::Pack<Arrays>{{storage_.view()}, states_.data()});
    synchronize();
    return states_.download();
  }

 private:
  bodies::FixedCount count_;
  float cut_off_;
  Storage storage_;
  dynasoar::DeviceArray<bodies::BodyState> states_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::Dense<bodies::SoaStorage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::Dense<bodies::AosStorage>>(parameters);
}

}  // namespace n_body
