/// @file
/// Runs a scenario under many schedules. Hides Relacy's contexts and schedulers, whose templates take long to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dynasoar::test {

/// What happens in one schedule. Constructed before the threads start and destroyed after they have ended.
class Scenario {
 public:
  virtual ~Scenario() = default;
  virtual void thread(int index) = 0;
  /// Checks, alone, after all threads have ended.
  virtual void after() = 0;
};

enum class Scheduler {
  random,         ///< threads run in bursts, whose mean length is drawn for each schedule
  full,           ///< all schedules
  context_bound,  ///< all schedules in which threads are interrupted a few times at most
};

/// A scenario and how to explore it unless told otherwise.
struct Entry {
  std::string name;
  std::string about;
  int threads;  ///< 2 or 3
  Scheduler scheduler;
  std::uint64_t schedules;  ///< at most
  std::function<std::unique_ptr<Scenario>()> make;
};

/// The entry of a scenario that is made from a setting, which says what each of its threads does.
template <class ScenarioT>
Entry entry_of(std::string name, std::string about, typename ScenarioT::Setting setting, Scheduler scheduler,
               std::uint64_t schedules) {
  const auto threads = static_cast<int>(setting.threads.size());
  const auto shared = std::make_shared<const typename ScenarioT::Setting>(std::move(setting));
  const auto make = [shared]() -> std::unique_ptr<Scenario> { return std::make_unique<ScenarioT>(*shared); };
  return {std::move(name), std::move(about), threads, scheduler, schedules, make};
}

/// How to explore it.
struct Plan {
  Scheduler scheduler;
  std::uint64_t schedules;  ///< at most
  std::uint64_t seed;       ///< of the random scheduler
  unsigned context_bound;
  unsigned steps;  ///< accesses in one schedule, above which it is taken not to end
};

struct Outcome {
  std::uint64_t schedules;  ///< explored, up to and including the one that failed
  bool all;                 ///< whether the search was finished
  double seconds;
  std::string error;  ///< empty if there was none
  std::string trace;  ///< of the schedule that failed
};

Outcome explore(const Entry& entry, const Plan& plan);

/// All entries of a source file.
std::vector<Entry> bitmap_scenarios();
std::vector<Entry> block_heap_scenarios();
std::vector<Entry> occupancy_scenarios();

/// Ends the schedule as failed.
[[noreturn]] void fail(const std::string& what);

inline void expect(bool condition, const char* what) {
  if (!condition) fail(what);
}

}  // namespace dynasoar::test
