/// @file
/// Timeline: what the threads of a scenario have done, and which of it a thread knows. Used by HeapScenario.
///
/// Relacy runs all threads of a scenario in one, so plain variables that only the checks use tell what has happened, in
/// the order of the schedule. What a thread can know of it is another matter, and is told by Relacy's vector clocks.
#pragma once

#include "relacy_atomics.h"

#include <array>

#include "explore.h"

namespace dynasoar::test {

/// A point in a thread's life: which events of each thread happened before it.
struct Moment {
  std::array<int, 3> events;
};

/// Numbers what the threads do, so that it can be said which moments of them may belong together.
class Timeline {
 public:
  /// Appends an event of the running thread. @return its number
  int mark() {
    const int thread = rl::ctx().current_thread();
    events_[thread].push({own_clock(), now()});
    return events_[thread].size - 1;
  }

  /// The events that happened before what the running thread does next.
  Moment now() const {
    Moment moment{};
    for (int i = 0; i < threads(); ++i) {
      const auto known = rl::ctx().threadx_->acq_rel_order_[i];
      while (moment.events[i] < events_[i].size && events_[i].all[moment.events[i]].clock < known) ++moment.events[i];
    }
    const int self = rl::ctx().current_thread();
    moment.events[self] = events_[self].size;
    return moment;
  }

  /// All events that have been executed, including those that no thread has observed.
  Moment latest() const {
    Moment moment{};
    for (int i = 0; i < threads(); ++i) moment.events[i] = events_[i].size;
    return moment;
  }

  /// Whether some moment between the two, at which every thread knows of the events that its own knew of, satisfies a
  /// condition.
  template <class Condition>
  bool any_between(const Moment& first, const Moment& last, Condition condition) const {
    Moment moment = first;
    for (;;) {
      if (consistent(moment) && condition(moment)) return true;
      int i = 0;
      while (i < threads() && moment.events[i] == last.events[i]) moment.events[i] = first.events[i], ++i;
      if (i == threads()) return false;
      ++moment.events[i];
    }
  }

 private:
  struct Event {
    rl::timestamp_t clock;
    Moment before;
  };
  struct Events {
    std::array<Event, 64> all;
    int size = 0;
    void push(const Event& event) {
      expect(size < 64, "the scenario has too many events");
      all[size++] = event;
    }
  };

  static int threads() { return rl::ctx().get_thread_count(); }
  static rl::timestamp_t own_clock() { return rl::ctx().threadx_->own_acq_rel_order_; }

  bool consistent(const Moment& moment) const {
    for (int i = 0; i < threads(); ++i) {
      if (moment.events[i] == 0) continue;
      const Moment& before = events_[i].all[moment.events[i] - 1].before;
      for (int j = 0; j < threads(); ++j) {
        if (j != i && before.events[j] > moment.events[j]) return false;
      }
    }
    return true;
  }

  std::array<Events, 3> events_;
};

}  // namespace dynasoar::test
