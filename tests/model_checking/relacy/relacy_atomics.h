/// @file
/// Atomics policy over Relacy's atomics: runs the shipped headers under a checker of relaxed memory.
///
/// Relacy (Debian: relacy-dev) is from before C++11. It defines macros with everyday names (new, delete, free, assert,
/// $, memory_order_relaxed), which are taken back below, so that other headers may be included in any order.
#pragma once

#pragma GCC system_header  // Relacy's code does not compile without warnings

// <relacy/relacy.hpp> without its end, which redefines new, free, errno, memory_order_relaxed, all of POSIX threads,
// ...
// clang-format off: they depend on each other in this order.
#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/backoff.hpp>
#include <relacy/base.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/dyn_thread.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/semaphore.hpp>
#include <relacy/test_suite.hpp>
#include <relacy/thread_local.hpp>
#include <relacy/var.hpp>
// clang-format on
#undef $

#include <cstdint>

#include <dynasoar/platform/atomic.h>

namespace dynasoar::test {

/// Where an access is in the source; as a default argument, where the caller is. Shown in Relacy's traces.
struct Place {
  const char* function;
  const char* file;
  unsigned line;

  static Place here(const char* function = __builtin_FUNCTION(), const char* file = __builtin_FILE(),
                    unsigned line = __builtin_LINE()) {
    return {function, file, line};
  }
  operator rl::debug_info() const { return {function, file, line}; }
};

/// Every access is a point where another thread may go on; loads may return old values if their order allows it.
///
/// Relacy makes stores take effect in the order of the program, unlike the memory model. So relaxed stores, and
/// relaxed additions whose result is not used, are held back here for a random time: at most until the
/// thread's next release, its next access to the same word, or its next pause.
struct RelacyAtomics {
  template <class T>
  class word {
   public:
    T load(Order order, Place place = Place::here()) const;
    void store(T value, Order order, Place place = Place::here());
    T exchange(T value, Order order, Place place = Place::here());
    T fetch_or(T value, Order order, Place place = Place::here());
    T fetch_and(T value, Order order, Place place = Place::here());
    T fetch_add(T value, Order order, Place place = Place::here());
    bool compare_exchange(T& expected, T desired, Order order, Place place = Place::here());
    void add(T value, Order order, Place place = Place::here());

    /// Adds the claim that this word does not change while somebody may rely on what type_of read there: such loads
    /// must happen before or after every store. Relacy would never show a load that takes effect too late.
    void guard(rl::var<int>& reads) { guard_ = &reads; }

   private:
    friend struct HeldBack;
    mutable rl::atomic<T> cell_;
    rl::var<int>* guard_ = nullptr;
  };

  static void fence(Order order, Place place = Place::here());
  static void pause(int = 0, Place place = Place::here());

  /// To be called by each thread at its beginning and its end.
  static void thread_begins(bool may_hold_back);
  static void thread_ends();

  static constexpr int kShards = 1;
  static constexpr std::size_t kLineBytes = 0;
  static constexpr int kPatience = 3;
  static constexpr int kRoundsPerSearch = 4;
  static constexpr Order kCounted = Order::release;
  static constexpr Order kFenced = Order::relaxed;
  static constexpr Order kFencedLater = Order::relaxed;
  static constexpr Order kFencedBoth = Order::relaxed;
  static constexpr bool kReadsAhead = true;
};
static_assert(AtomicsPolicy<RelacyAtomics>);

// In relacy_atomics.cpp, because Relacy's code takes long to compile.
extern template class RelacyAtomics::word<std::uint32_t>;
extern template class RelacyAtomics::word<std::uint64_t>;

/// Within its lifetime memory comes from the system. Relacy would remember it and, in a full search, try for each piece
/// that is freed whether the next one has the same address. @pre no other thread goes on meanwhile
class SystemMemory {
 public:
  SystemMemory() { rl::ctx().*depth() += 1; }
  ~SystemMemory() { rl::ctx().*depth() -= 1; }
  SystemMemory(const SystemMemory&) = delete;
  SystemMemory& operator=(const SystemMemory&) = delete;

 private:
  struct Access : rl::context {
    static int rl::context::*member() { return &Access::disable_alloc_; }
  };
  static int rl::context::*depth() { return Access::member(); }
};

}  // namespace dynasoar::test
