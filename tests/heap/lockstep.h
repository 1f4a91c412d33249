/// @file
/// A GPU's thousands of warps on one thread, without a GPU: what happens when all of them ask at once, again and again
/// the same.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <dynasoar/platform/atomic.h>

#include "../platform/test_random.h"

namespace dynasoar::test {

/// Simulated warps, each a context with a stack of its own. Time passes in turns: in a turn, every warp that waits for
/// nothing makes one access to memory, in an order that changes; one in eight is a turn late.
class Lockstep {
 public:
  struct Grid {
    std::uint32_t warps;     ///< in all
    std::uint32_t resident;  ///< that run at a time; when one is done, the next one starts
    std::uint32_t starting;  ///< that start in one turn, at most
  };

  /// Calls `work(warp)` for 0 <= warp < grid.warps.
  static void run(const Grid& grid, std::uint64_t seed, const std::function<void(std::uint32_t)>& work) {
    Lockstep lockstep(grid, work);
    running = &lockstep;
    Random random{seed};
    while (lockstep.started_ < grid.warps || !lockstep.live_.empty()) lockstep.turn(random);
    running = nullptr;
  }

  /// Lets `turns` turns pass for the calling warp. Nothing happens outside of run().
  static void wait(std::uint32_t turns) {
    if (running == nullptr) return;
    running->current_->wakes = running->now_ + turns;
    swapcontext(&running->current_->context, &running->scheduler_);
  }

 private:
  static constexpr std::size_t kStackBytes = 64 * 1024;

  struct Warp {
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};  // not initialized: most of it is never touched
    std::uint32_t number = 0;
    std::uint64_t wakes = 0;  // the turn of its next access
    bool done = false;
  };

  Lockstep(const Grid& grid, const std::function<void(std::uint32_t)>& work) : grid_(grid), work_(work) {}

  void turn(Random& random) {
    ++now_;
    for (std::uint32_t i = 0; i < grid_.starting && started_ < grid_.warps && live_.size() < grid_.resident; ++i)
      start();
    const auto count = static_cast<std::uint32_t>(live_.size());
    const std::uint32_t first = random.below(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      current_ = live_[(first + i) % count].get();
      if (current_->wakes <= now_ && random.below(8) != 0) swapcontext(&scheduler_, &current_->context);
    }
    for (std::unique_ptr<Warp>& warp : live_) {
      if (warp->done) ended_.push_back(std::move(warp));
    }
    std::erase(live_, nullptr);
  }

  void start() {
    std::unique_ptr<Warp> warp;
    if (ended_.empty()) {
      warp = std::make_unique<Warp>();
    } else {
      warp = std::move(ended_.back());
      ended_.pop_back();
    }
    warp->number = started_++;
    warp->wakes = now_;
    warp->done = false;
    prepare(*warp);
    live_.push_back(std::move(warp));
  }

  void prepare(Warp& warp) {
    getcontext(&warp.context);
    warp.context.uc_stack.ss_sp = warp.stack.get();
    warp.context.uc_stack.ss_size = kStackBytes;
    warp.context.uc_link = &scheduler_;
    makecontext(&warp.context, &Lockstep::work_of_current, 0);
  }

  static void work_of_current() {
    Warp& warp = *running->current_;
    running->work_(warp.number);
    warp.done = true;
  }

  inline static Lockstep* running = nullptr;

  Grid grid_;
  const std::function<void(std::uint32_t)>& work_;
  ucontext_t scheduler_{};
  std::vector<std::unique_ptr<Warp>> live_, ended_;
  Warp* current_ = nullptr;
  std::uint32_t started_ = 0;
  std::uint64_t now_ = 0;
};

/// Atomics policy for warps in lockstep. Every access takes a turn if its thread waits for its result. The
/// constants are those for GPUs.
struct LockstepAtomics {
  template <class T>
  class word {
   public:
    T load(Order) const { return Lockstep::wait(1), value_; }
    void store(T value, Order) { value_ = value; }
    T exchange(T value, Order) { return Lockstep::wait(1), std::exchange(value_, value); }
    T fetch_or(T value, Order) { return Lockstep::wait(1), std::exchange(value_, value_ | value); }
    T fetch_and(T value, Order) { return Lockstep::wait(1), std::exchange(value_, value_ & value); }
    T fetch_add(T value, Order) { return Lockstep::wait(1), std::exchange(value_, value_ + value); }
    void add(T value, Order) { value_ += value; }
    bool compare_exchange(T& expected, T desired, Order) {
      Lockstep::wait(1);
      const bool same = value_ == expected;
      expected = std::exchange(value_, same ? desired : value_);
      return same;
    }

   private:
    T value_{};
  };
  static void fence(Order) { Lockstep::wait(1); }
  static constexpr int kShards = 128;
  static constexpr std::size_t kLineBytes = 0;
  static constexpr Order kCounted = Order::relaxed;
  static constexpr Order kFenced = Order::relaxed;
  static constexpr Order kFencedLater = Order::relaxed;
  static constexpr Order kFencedBoth = Order::relaxed;
  static constexpr bool kReadsAhead = true;
  static constexpr int kPatience = 40;
  static constexpr int kRoundsPerSearch = 8;
  /// A turn is about half a microsecond, what a GPU's atomics take.
  static void pause(int looks = 0) { Lockstep::wait(1 + (32u << (looks < 10 ? looks : 10)) / 500); }
};
static_assert(AtomicsPolicy<LockstepAtomics>);

}  // namespace dynasoar::test
