#include <dynasoar/program/simulation.h>

#include <chrono>
#include <utility>

namespace dynasoar::program {

PhaseClock::PhaseClock(int every, const PhaseNames& names)
    : every_(every), names_(names.begin(), names.end()), seconds_(names_.size(), 0.0) {}

std::vector<PhaseTime> PhaseClock::times() const {
  std::vector<PhaseTime> result;
  if (timed_steps_ == 0) return result;
  const double factor = static_cast<double>(steps_) / static_cast<double>(timed_steps_);
  for (std::size_t i = 0; i < names_.size(); ++i) result.push_back({names_[i], seconds_[i] * factor});
  return result;
}

double PhaseClock::mark() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t before = std::exchange(mark_, std::chrono::nanoseconds(now).count());
  return 1e-9 * static_cast<double>(mark_ - before);
}

}  // namespace dynasoar::program
