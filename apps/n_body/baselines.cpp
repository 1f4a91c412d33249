/// @file
/// n-body written by hand, for two layouts: all pairs tile by tile, then every body moves.

#include <cstdint>
#include <memory>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "bodies/all_pairs.h"
#include "bodies/layouts.h"
#include "n_body.h"

namespace n_body {
namespace baselines {

template <class Storage>
class Dense final : public bodies::Simulation {
 public:
  using Arrays = typename Storage::Arrays;

  explicit Dense(const bodies::Parameters& parameters)
      : count_{static_cast<std::uint32_t>(parameters.initial.size())},
        cut_off_(parameters.cut_off),
        executor_(parameters.threads),
        storage_(count_.count),
        states_(count_.count),
        clock_(parameters.profile_every, {"attract", "move"}) {
    states_.upload(parameters.initial);
    executor_.for_each_index(count_.count, bodies::Unpack<Arrays>{storage_.arrays(), states_.data()});
    executor_.synchronize();
  }

  void step() override {
    const Arrays arrays = storage_.arrays();
    clock_.begin_step(executor_);
    const bodies::Attract<Arrays, bodies::FixedCount> attract{arrays, count_};
    if (cut_off_ > 0) {
      bodies::look_at_all(executor_, count_.count,
                          bodies::AttractNear<Arrays, bodies::FixedCount>{attract, cut_off_ * cut_off_});
    } else {
      bodies::look_at_all(executor_, count_.count, attract);
    }
    clock_.end_phase(executor_, 0);
    executor_.for_each_index(count_.count, bodies::Move<Arrays, bodies::FixedCount>{arrays, count_, kTimeStep});
    clock_.end_phase(executor_, 1);
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<bodies::BodyState> bodies() override {
    executor_.for_each_index(count_.count, bodies::Pack<Arrays>{storage_.arrays(), states_.data()});
    executor_.synchronize();
    return states_.download();
  }

  std::vector<app::PhaseTime> phases() override { return clock_.times(); }

 private:
  bodies::FixedCount count_;
  float cut_off_;
  dynasoar::Executor executor_;
  Storage storage_;
  dynasoar::DeviceArray<bodies::BodyState> states_;
  app::PhaseClock clock_;
};

}  // namespace baselines

std::unique_ptr<bodies::Simulation> make_soa_baseline(const bodies::Parameters& parameters) {
  return std::make_unique<baselines::Dense<bodies::SoaStorage>>(parameters);
}

std::unique_ptr<bodies::Simulation> make_aos_baseline(const bodies::Parameters& parameters) {
  return std::make_unique<baselines::Dense<bodies::AosStorage>>(parameters);
}

}  // namespace n_body
