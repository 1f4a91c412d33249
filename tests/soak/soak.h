/// @file
/// The soak test: random creation, deletion, exchange and loops for as long as one likes, with tables that find every
/// slot handed out twice and every object lost. Plain C++; only soak.cpp and its headers include dynasoar.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace soak {

struct Options {
  std::uint64_t operations = 0;  ///< 0: no limit
  double seconds = 0;            ///< 0: no limit
  std::uint64_t seed = 0;
  std::uint64_t heap_bytes = 0;  ///< 0: the backend's default
  std::uint64_t workers = 0;     ///< 0: enough to fill the heap with objects of any class
  int threads = 0;               ///< on the CPU; 0: one per processor
};

/// What was done and what was found, since the start.
struct Totals {
  std::uint64_t created = 0, destroyed = 0, checked = 0, exchanged = 0;  ///< operations of workers
  std::uint64_t refused_full = 0, refused_contended = 0;                 ///< requests that got null
  std::uint64_t visited = 0;                                             ///< objects seen by loops
  std::uint64_t verifications = 0;                                       ///< of everything, between phases

  // Errors.
  std::uint64_t doubled = 0;     ///< slots handed out that had an owner
  std::uint64_t lost = 0;        ///< owned objects that the heap does not have
  std::uint64_t left_over = 0;   ///< objects in the heap without an owner
  std::uint64_t damaged = 0;     ///< objects whose fields are not as they were left
  std::uint64_t wrong = 0;       ///< handles of another class than the one asked for
  std::uint64_t miscounted = 0;  ///< counters of the heap (objects, creations, refusals, pages) that are not right

  std::uint64_t operations() const {
    return created + destroyed + checked + exchanged + refused_full + refused_contended;
  }
  std::uint64_t errors() const { return doubled + lost + left_over + damaged + wrong + miscounted; }
};

/// A run at one moment.
struct State {
  std::string phase;
  double seconds = 0;
  Totals totals;
  std::uint64_t heap_bytes = 0;
  std::uint64_t workers = 0;
  std::uint64_t live = 0;  ///< objects
  double used = 0;         ///< share of the heap's pages that belong to a class
  double filled = 0;       ///< share of the heap that these take, if their blocks were full
};

/// What to do after each round: `describe()` takes a while. @return whether to go on
using AfterRound = std::function<bool(double seconds, const std::function<State()>& describe)>;

/// Runs until a limit is reached, something is wrong, or `after_round` says so; then deletes everything.
///
/// @throws std::exception if the device fails
State run(const Options& options, const AfterRound& after_round);

}  // namespace soak
