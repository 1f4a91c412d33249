/// @file
/// ThreadWarp: a warp whose 32 lanes are threads, so that warp-collective code runs on the host, with real concurrency
/// between the lanes, under ThreadSanitizer.
///
/// A lane runs on its own until it calls a collective operation, and waits
/// there for those it is together with. Which lanes `coalesce()` puts together is what hardware leaves open: usually
/// all that are at one place of the program, but a group may be split, and may go on before all have arrived.
#pragma once

#include <array>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/warp.h>

#include "../platform/test_random.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DYNASOAR_TEST_WITH_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define DYNASOAR_TEST_WITH_THREAD_SANITIZER 1
#endif

#if defined(DYNASOAR_TEST_WITH_THREAD_SANITIZER)
extern "C" {
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace dynasoar::test {

/// While one lives, ThreadSanitizer does not see what the calling thread locks, reads and writes. On a GPU, lanes that
/// exchange values do not thereby order their memory accesses, so those of ThreadWarp must not seem to either.
class UnseenByThreadSanitizer {
 public:
#if defined(DYNASOAR_TEST_WITH_THREAD_SANITIZER)
  UnseenByThreadSanitizer() {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~UnseenByThreadSanitizer() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  }
#else
  UnseenByThreadSanitizer() = default;
  ~UnseenByThreadSanitizer() {}  // not trivial, or compilers take it for unused
#endif
  UnseenByThreadSanitizer(const UnseenByThreadSanitizer&) = delete;
  UnseenByThreadSanitizer& operator=(const UnseenByThreadSanitizer&) = delete;
};

/// How often a warp's lanes diverge; probabilities in 1/1000.
struct WarpScheduling {
  std::uint32_t split;  ///< that the lanes at one place become several groups
  std::uint32_t early;  ///< that a lane that arrives goes on at once, with the lanes that wait at its place already

  static constexpr WarpScheduling together() { return {0, 0}; }
  static constexpr WarpScheduling capricious() { return {250, 50}; }
};

/// Collective operations that a warp has completed, one per group.
struct WarpCounts {
  std::uint64_t coalesced = 0;
  std::uint64_t broadcasts = 0;
  std::uint64_t matches = 0;
  std::uint64_t combined = 0;
  std::uint64_t ballots = 0;
  std::uint64_t shuffles = 0;
  std::uint64_t summed = 0;
  std::uint64_t synchronized = 0;
};

class ThreadWarp;

/// The meeting place of a warp's lanes. All members are protected by one mutex; every lane has a condition variable of
/// its own, so that only those wake that can go on.
class WarpTeam {
 public:
  static constexpr int kLanes = 32;
  enum class Operation { broadcast, matching, combine, ballot, shuffle, sums, synchronize };
  using Values = std::array<std::uint64_t, kLanes>;

  WarpTeam(std::uint32_t id, WarpScheduling scheduling, std::uint64_t seed)
      : id_(id), scheduling_(scheduling), random_(Random::of(seed, id)) {}

  std::uint32_t id() const { return id_; }

  /// Starts the lanes: `program(warp)` in a thread each, where `warp` is the lane's ThreadWarp. A lane that returns has
  /// left the warp: no lane waits for it any more.
  template <class Program>
  std::vector<std::jthread> start(const Program& program);

  /// What was counted since the last call. @pre the lanes have been joined
  WarpCounts take_counts() {
    const std::lock_guard lock(mutex_);
    return std::exchange(counts_, {});
  }

  /// Waits for the lanes at the same place. @return the group that the caller is in, as a mask of lanes
  std::uint32_t arrive(int lane, int place) {
    const UnseenByThreadSanitizer unseen;
    std::unique_lock lock(mutex_);
    Lane& self = park(lane, Doing::arriving);
    self.place = place;
    if (chance(scheduling_.early)) {
      form_groups(lanes_at(place));
    } else {
      settle();
    }
    wait(lock, self);
    return self.group;
  }

  /// Waits until every lane that has not left is here, or waits for one that is here.
  void meet(int lane) {
    std::unique_lock lock(mutex_);
    Lane& self = park(lane, Doing::meeting);
    settle();
    wait(lock, self);
  }

  /// Waits for the other lanes of a group to call the same operation. @return what each of them gave
  Values gather(int lane, std::uint32_t group, Operation operation, std::uint64_t value) {
    std::unique_lock lock(mutex_);
    Lane& self = park(lane, Doing::gathering);
    self.group = group;
    self.operation = operation;
    self.value = value;
    if (all_gather(group, operation)) {
      deliver(group);
      ++count_of(operation);
    } else {
      settle();
    }
    wait(lock, self);
    return self.received;
  }

  void leave(int lane) {
    const std::lock_guard lock(mutex_);
    park(lane, Doing::left);
    settle();
  }

 private:
  enum class Doing { running, arriving, gathering, meeting, left };

  struct Lane {
    Doing doing = Doing::left;
    int place = 0;            ///< where it arrives
    std::uint32_t group = 0;  ///< that it gathers with, or was put into
    Operation operation{};
    std::uint64_t value = 0;
    Values received{};
    std::condition_variable wake;
  };

  Lane& park(int lane, Doing doing) {
    Lane& self = lanes_[static_cast<std::size_t>(lane)];
    self.doing = doing;
    return self;
  }

  static void wait(std::unique_lock<std::mutex>& lock, Lane& self) {
    self.wake.wait(lock, [&] { return self.doing == Doing::running; });
  }

  static void resume(Lane& lane) {
    lane.doing = Doing::running;
    lane.wake.notify_one();
  }

  /// Calls `f(lane, bit)` for the lanes of a group.
  template <class F>
  void for_each(std::uint32_t group, F f) {
    for (; group != 0; group &= group - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(group));
      f(lanes_[lane], lane);
    }
  }

  std::uint32_t lanes_that(Doing doing) const {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < kLanes; ++i) group |= std::uint32_t{lanes_[i].doing == doing} << i;
    return group;
  }

  std::uint32_t lanes_at(int place) const {
    std::uint32_t group = lanes_that(Doing::arriving);
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (lanes_[i].place != place) group &= ~(std::uint32_t{1} << i);
    }
    return group;
  }

  /// If no lane can go on by itself, lets those go that have arrived somewhere, else those that meet.
  void settle() {
    if (lanes_that(Doing::running) != 0) return;
    const std::uint32_t arrived = lanes_that(Doing::arriving);
    if (arrived == 0) {
      if (lanes_that(Doing::gathering) != 0) fail("lanes wait for a lane of their group that went another way");
      return for_each(lanes_that(Doing::meeting), [](Lane& lane, std::size_t) { resume(lane); });
    }
    for (std::uint32_t left = arrived; left != 0;) {
      const std::uint32_t together = lanes_at(lanes_[static_cast<std::size_t>(std::countr_zero(left))].place);
      left &= ~together;
      form_groups(together);
    }
  }

  /// Makes one group of lanes, or several.
  void form_groups(std::uint32_t together) {
    std::uint32_t part = together;
    if (chance(scheduling_.split)) part = together & static_cast<std::uint32_t>(random_.next());
    for (const std::uint32_t group : {part, together & ~part}) {
      if (group == 0) continue;
      ++counts_.coalesced;
      for_each(group, [group](Lane& lane, std::size_t) {
        lane.group = group;
        resume(lane);
      });
    }
  }

  bool all_gather(std::uint32_t group, Operation operation) {
    bool all = true;
    for_each(group, [&](const Lane& lane, std::size_t) {
      const bool here = lane.doing == Doing::gathering && lane.group == group;
      if (here && lane.operation != operation) fail("lanes of a group call different operations");
      all = all && here;
    });
    return all;
  }

  void deliver(std::uint32_t group) {
    Values values{};
    for_each(group, [&](const Lane& lane, std::size_t i) { values[i] = lane.value; });
    for_each(group, [&](Lane& lane, std::size_t) {
      lane.received = values;
      resume(lane);
    });
  }

  std::uint64_t& count_of(Operation operation) {
    switch (operation) {
      case Operation::broadcast: return counts_.broadcasts;
      case Operation::matching: return counts_.matches;
      case Operation::sums: return counts_.summed;
      case Operation::synchronize: return counts_.synchronized;
      case Operation::ballot: return counts_.ballots;
      case Operation::shuffle: return counts_.shuffles;
      default: return counts_.combined;
    }
  }

  bool chance(std::uint32_t in_1000) { return in_1000 != 0 && random_.below(1000) < in_1000; }

  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "ThreadWarp: %s\n", what);
    std::abort();
  }

  const std::uint32_t id_;
  const WarpScheduling scheduling_;
  std::mutex mutex_;
  Random random_;
  WarpCounts counts_;
  std::array<Lane, kLanes> lanes_;
};

/// Lanes of a ThreadWarp that are together, seen by one of them.
class ThreadLaneGroup {
 public:
  ThreadLaneGroup(WarpTeam& team, int lane, std::uint32_t lanes) : team_(&team), lane_(lane), lanes_(lanes) {}

  int rank() const { return std::popcount(lanes_ & ((std::uint32_t{1} << lane_) - 1)); }
  int size() const { return std::popcount(lanes_); }

  template <class T>
  T broadcast(T value) const {
    static_assert(std::is_unsigned_v<T>);
    const auto values = exchange(WarpTeam::Operation::broadcast, value);
    return static_cast<T>(values[lane_of(0)]);
  }

  ThreadLaneGroup matching(std::uint32_t key) const {
    const auto keys = exchange(WarpTeam::Operation::matching, key);
    std::uint32_t equal = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) equal |= std::uint32_t{keys[i] == key} << i;
    return {*team_, lane_, equal & lanes_};
  }

  std::uint64_t combine(std::uint64_t mask) const {
    std::uint64_t all = 0;
    for (const std::uint64_t value : exchange(WarpTeam::Operation::combine, mask)) all |= value;
    return all;
  }

  std::uint32_t ballot(bool condition) const {
    const auto holds = exchange(WarpTeam::Operation::ballot, condition ? 1 : 0);
    std::uint32_t ranks = 0;
    for (int rank = 0; rank < size(); ++rank) {
      ranks |= static_cast<std::uint32_t>(holds[lane_of(rank)]) << rank;
    }
    return ranks;
  }

  template <class T>
  T shuffle(T value, int from) const {
    static_assert(std::is_unsigned_v<T>);
    return static_cast<T>(exchange(WarpTeam::Operation::shuffle, value)[lane_of(from)]);
  }

  LaneSums sums(std::uint32_t value) const {
    const auto values = exchange(WarpTeam::Operation::sums, value);
    LaneSums result{0, 0};
    for (int lane = 0; lane < WarpTeam::kLanes; ++lane) {
      if ((lanes_ >> lane & 1) == 0) continue;
      const auto other = static_cast<std::uint32_t>(values[static_cast<std::size_t>(lane)]);
      if (lane < lane_) result.before += other;
      result.total += other;
    }
    return result;
  }

  /// The one operation by which lanes see each other's memory.
  void synchronize() const { team_->gather(lane_, lanes_, WarpTeam::Operation::synchronize, 0); }

 private:
  std::size_t lane_of(int rank) const { return static_cast<std::size_t>(detail::nth_set_bit(lanes_, rank)); }

  WarpTeam::Values exchange(WarpTeam::Operation operation, std::uint64_t value) const {
    const UnseenByThreadSanitizer unseen;
    return team_->gather(lane_, lanes_, operation, value);
  }

  WarpTeam* team_;
  int lane_;
  std::uint32_t lanes_;
};

/// The calling lane's view of its warp, at one place of the program.
class ThreadWarp {
 public:
  ThreadWarp(WarpTeam& team, int lane, int place = 0) : team_(&team), lane_(lane), place_(place) {}

  /// The same lane at another place: lanes can only be together at one place. Calls that are different code on a GPU,
  /// such as those of different types, need different places.
  ThreadWarp at(int place) const { return {*team_, lane_, place}; }

  ThreadLaneGroup coalesce() const { return {*team_, lane_, team_->arrive(lane_, place_)}; }
  ThreadLaneGroup callers() const { return {*team_, lane_, team_->arrive(lane_, ~place_)}; }  // at a place of its own
  std::uint32_t id() const { return team_->id(); }

  int lane() const { return lane_; }

  /// Waits for all lanes that have not left, as __syncwarp does.
  void meet() const { team_->meet(lane_); }

 private:
  WarpTeam* team_;
  int lane_;
  int place_;
};
static_assert(Warp<ThreadWarp>);

template <class Program>
std::vector<std::jthread> WarpTeam::start(const Program& program) {
  {
    const std::lock_guard lock(mutex_);
    for (Lane& lane : lanes_) lane.doing = Doing::running;  // before any of them looks which lanes are there
  }
  std::vector<std::jthread> threads;
  for (int lane = 0; lane < kLanes; ++lane) {
    threads.emplace_back([this, lane, &program] {
      program(ThreadWarp(*this, lane));
      leave(lane);
    });
  }
  return threads;
}

/// Runs `program` in all lanes of one warp.
template <class Program>
WarpCounts run_warp(WarpTeam& team, const Program& program) {
  team.start(program).clear();  // joins
  return team.take_counts();
}

}  // namespace dynasoar::test
