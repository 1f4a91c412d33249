/// @file
/// The threads that allocate together, on a CPU: the ranks of a program for GPU MPI, one thread each, as one block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dynasoar/platform/error.h>

namespace dynasoar {

/// The ranks of a program that `run_ranks` runs.
///
/// All ranks must make the same collective calls, in the same order. If a rank asks for another size than the others,
/// or has ended while the others wait for it, all ranks that allocate together throw Error.
class RankTeam {
 public:
  static constexpr int kMostRanks = 32;

  /// @throws Error if `ranks` is not from 1 to kMostRanks
  explicit RankTeam(int ranks) : ranks_(ranks) {
    if (ranks < 1 || ranks > kMostRanks) throw Error("dynasoar: run_ranks runs 1 to 32 ranks; ask for another number");
  }

  int ranks() const { return ranks_; }

  /// The number of collective allocations.
  std::size_t allocations() const { return allocations_; }

  /// Waits for all ranks. @return the value of rank 0
  std::uint64_t exchange(int rank, std::uint64_t value, std::uint32_t key, bool allocates) {
    std::unique_lock lock(mutex_);
    if (arrived_ == 0) key_ = key;
    if (key_ != key) fail("a rank asks for another size than the others");
    if (rank == 0) value_ = value;
    if (++arrived_ == ranks_) {
      result_ = value_;
      arrived_ = 0;
      ++round_;
      allocations_ += allocates ? 1 : 0;
      changed_.notify_all();
    } else {
      if (arrived_ + ended_ == ranks_) fail("a rank has ended without it");
      const std::uint64_t round = round_;
      changed_.wait(lock, [&] { return round != round_ || !failure_.empty(); });
    }
    if (!failure_.empty()) throw Error(failure_);
    return result_;
  }

  /// Called when a rank ends.
  void leave() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    if (arrived_ > 0 && arrived_ + ended_ == ranks_) fail("a rank has ended without it");
  }

  /// @return whether all ranks have called this
  bool is_last_to_free() {
    const std::lock_guard lock(mutex_);
    return ++freed_ % ranks_ == 0;
  }

 private:
  void fail(const char* what) {
    failure_ = "dynasoar: not all ranks make a collective allocation together: ";
    failure_ += what;
    changed_.notify_all();
  }

  const int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0, ended_ = 0, freed_ = 0;
  std::uint32_t key_ = 0;
  std::uint64_t value_ = 0, result_ = 0, round_ = 0;
  std::size_t allocations_ = 0;
  std::string failure_;
};

namespace detail {

/// The calling thread's place in a team; without a team, it is alone.
struct Rank {
  RankTeam* team = nullptr;
  int number = 0;
};
inline thread_local Rank current_rank;

/// All ranks, as a group for StaticCoalescingMalloc.
struct RankGroup {
  std::uint32_t key = 0;

  RankGroup matching(std::uint32_t units) const { return {units}; }
  int rank() const { return current_rank.number; }
  int size() const { return current_rank.team == nullptr ? 1 : current_rank.team->ranks(); }
  std::uint64_t broadcast(std::uint64_t value) const {
    RankTeam* const team = current_rank.team;
    return team == nullptr ? value : team->exchange(current_rank.number, value, key, true);
  }
  void synchronize() const {
    if (current_rank.team != nullptr) current_rank.team->exchange(current_rank.number, 0, key, false);
  }
};

struct RankWarp {
  RankGroup coalesce() const { return {}; }
  std::uint32_t id() const { return static_cast<std::uint32_t>(current_rank.number); }
};

inline RankWarp collective_warp() {
  return {};
}

template <class Make>
void first_rank_enters(const Make& make) {
  if (current_rank.number == 0) make();
  RankGroup{}.synchronize();
}

template <class Destroy>
void last_rank_leaves(const Destroy& destroy) {
  if (current_rank.team == nullptr || current_rank.team->is_last_to_free()) destroy();
}

}  // namespace detail

/// Runs `program(rank)` once for each rank of a team, in a thread each, and waits for all.
///
/// @throws the exception of a rank, after all have ended
template <class Program>
void run_ranks(RankTeam& team, const Program& program) {
  std::mutex mutex;
  std::exception_ptr failure;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < team.ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        detail::current_rank = {&team, rank};
        try {
          program(rank);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (failure == nullptr) failure = std::current_exception();
        }
        team.leave();
      });
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace dynasoar
