/// @file
/// Loops of teams on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

struct Team {
  template <class F>
  void for_each(std::uint32_t count, const F& function) const {
    for (std::uint32_t i = 0; i < count; ++i) function(i);
  }

  template <class F>
  bool any(std::uint32_t count, const F& function) const {
    bool found = false;
    for (std::uint32_t i = 0; i < count; ++i) found = function(i) || found;
    return found;
  }
};

/// There is nothing to load.
template <class F>
void load_team_loop(Executor&) {}

template <class F>
void loop_over_teams(Executor& executor, std::size_t, const F& function) {
  const int parts = function.parts();
  for (int part = 0; part < parts; ++part) {
    executor.for_each_index(function.count(part), [&function, part](std::size_t i) {
      typename F::Scratch scratch{};  // g++ cannot tell that it is written first
      function(Team{}, scratch, part, i);
    });
  }
}

}  // namespace dynasoar::detail
