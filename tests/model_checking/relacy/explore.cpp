#include "explore.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "relacy_atomics.h"

namespace dynasoar::test {

namespace {

const Entry* current_entry;
std::uint64_t schedules_done;
bool search_finished;

/// splitmix64: Relacy's own generator has 16 bits and a short period.
class Generator {
 public:
  void seed(std::uint64_t seed) { state_ = seed * 0xD1342543DE82EF95u; }
  unsigned below(unsigned bound) {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<unsigned>(((z ^ (z >> 31)) >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_ = 0;
};

/// Bursts find what Relacy's random scheduler, which draws a thread at each access, hardly ever does: a thread that
/// rests in the middle of an operation while others complete several.
template <rl::thread_id_t kThreads>
class BurstScheduler : public rl::scheduler<BurstScheduler<kThreads>, rl::scheduler_thread_info, kThreads> {
  using Base = rl::scheduler<BurstScheduler<kThreads>, rl::scheduler_thread_info, kThreads>;

 public:
  using thread_info_t = typename Base::thread_info_t;
  using shared_context_t = typename Base::shared_context_t;
  struct task_t {};
  using Base::Base;

  rl::thread_id_t iteration_begin_impl() {
    generator_.seed(this->iter_);
    burst_ = 1u << generator_.below(7);
    return any_thread();
  }
  bool iteration_end_impl() { return ++schedules_done, this->iter_ == this->params_.iteration_count; }
  rl::thread_id_t schedule_impl(rl::unpark_reason& reason, unsigned yield) {
    reason = rl::unpark_reason_normal;
    const bool goes_on = yield == 0 && this->thread_->state_ == rl::thread_state_running;
    return goes_on && generator_.below(burst_) != 0 ? this->thread_->index_ : any_thread();
  }
  unsigned rand_impl(unsigned limit, rl::sched_type) { return generator_.below(limit); }
  rl::iteration_t iteration_count_impl() { return this->params_.iteration_count; }
  void get_state_impl(std::ostream&) {}
  void set_state_impl(std::istream&) {}
  void on_thread_block(rl::thread_id_t, bool) {}

 private:
  rl::thread_id_t any_thread() {
    return this->running_threads[generator_.below(static_cast<unsigned>(this->running_threads_count))];
  }

  Generator generator_;
  unsigned burst_ = 1;
};

/// Relacy's search of the tree of all decisions, with an end, and at most `context_bound` interruptions if it is bound.
template <rl::thread_id_t kThreads, bool kBound>
class SearchScheduler : public rl::tree_search_scheduler<SearchScheduler<kThreads, kBound>,
                                                         rl::tree_search_scheduler_thread_info<kThreads>, kThreads> {
  using Base = rl::tree_search_scheduler<SearchScheduler<kThreads, kBound>,
                                         rl::tree_search_scheduler_thread_info<kThreads>, kThreads>;

 public:
  using thread_info_t = typename Base::thread_info_t;
  using shared_context_t = typename Base::shared_context_t;
  using Base::Base;

  rl::thread_id_t iteration_begin_impl() {
    interruptions_left_ = this->params_.context_bound;
    return Base::iteration_begin_impl();
  }
  bool iteration_end_impl() {
    search_finished = Base::iteration_end_impl();
    return ++schedules_done, search_finished || this->iter_ == this->params_.iteration_count;
  }
  bool can_switch(thread_info_t&) { return !kBound || interruptions_left_ != 0; }
  void on_switch(thread_info_t& thread) {
    if (kBound && thread.state_ == rl::thread_state_running) interruptions_left_ -= 1;
  }
  double iteration_count_approx() { return 1; }

 private:
  unsigned interruptions_left_ = 0;
};

/// Relacy's view of the current scenario.
template <rl::thread_id_t kThreads>
class Suite : public rl::test_suite<Suite<kThreads>, kThreads> {
 public:
  ~Suite() {
    const SystemMemory memory;
    scenario_.reset();
  }
  void before() {
    const SystemMemory memory;
    RelacyAtomics::thread_begins(false);
    scenario_ = current_entry->make();
  }
  void thread(unsigned index) {
    RelacyAtomics::thread_begins(rl::ctx().is_random_sched());
    scenario_->thread(static_cast<int>(index));
    RelacyAtomics::thread_ends();
  }
  void after() {
    const SystemMemory memory;
    RelacyAtomics::thread_begins(false);
    scenario_->after();
  }

 private:
  std::unique_ptr<Scenario> scenario_;
};

template <rl::thread_id_t kThreads>
rl::test_result_e run(rl::test_params& params, std::ostream& state, bool again) {
  switch (params.search_type) {
    case rl::sched_full: return rl::run_test<Suite<kThreads>, SearchScheduler<kThreads, false>>(params, state, again);
    case rl::sched_bound: return rl::run_test<Suite<kThreads>, SearchScheduler<kThreads, true>>(params, state, again);
    default: return rl::run_test<Suite<kThreads>, BurstScheduler<kThreads>>(params, state, again);
  }
}

rl::test_result_e run(const Entry& entry, rl::test_params& params, std::ostream& state, bool again) {
  return entry.threads == 2 ? run<2>(params, state, again) : run<3>(params, state, again);
}

rl::scheduler_type_e native(Scheduler scheduler) {
  switch (scheduler) {
    case Scheduler::full: return rl::sched_full;
    case Scheduler::context_bound: return rl::sched_bound;
    case Scheduler::random: break;
  }
  return rl::sched_random;
}

/// Runs the schedule that failed once more and records it. @return Relacy's text: what failed, then the events
std::string record(const Entry& entry, rl::test_params& params, const rl::string& state) {
  rl::ostringstream text;
  rl::ostringstream ignored;
  params.output_stream = &text;
  params.initial_state = state;
  params.collect_history = true;
  run(entry, params, ignored, true);
  return text.str().c_str();
}

}  // namespace

Outcome explore(const Entry& entry, const Plan& plan) {
  current_entry = &entry;
  schedules_done = 0;
  search_finished = false;
  std::ostream nowhere(nullptr);
  rl::test_params params;
  params.output_stream = &nowhere;
  params.progress_stream = &nowhere;
  params.search_type = native(plan.scheduler);
  params.execution_depth_limit = plan.steps;
  params.context_bound = plan.context_bound;
  params.iteration_count = plan.schedules;
  if (plan.scheduler == Scheduler::random) {  // schedules are numbered, and drawn from their number
    const std::uint64_t first = (plan.seed << 32) + 1;
    params.iteration_count = first + plan.schedules - 1;
    params.initial_state = std::to_string(first).c_str();
  }
  const auto begin = std::chrono::steady_clock::now();
  rl::ostringstream state;  // Relacy's: its memory must not come from what Relacy simulates
  const bool failed = run(entry, params, state, false) != rl::test_result_success;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  Outcome outcome{schedules_done + (failed ? 1 : 0), search_finished, time.count(), "", ""};
  if (failed) {
    outcome.trace = record(entry, params, state.str());
    outcome.error = outcome.trace.substr(0, outcome.trace.find('\n'));
  }
  return outcome;
}

void fail(const std::string& what) {
  rl::ctx().fail_test(what.c_str(), rl::test_result_user_assert_failed, Place::here());
  std::abort();  // not reached: Relacy has left the thread
}

}  // namespace dynasoar::test
