/// @file
/// Atomic words: the storage and operations of the lock-free algorithms.
///
/// The algorithms take an *atomics policy*, a model of the concept AtomicsPolicy, as a template parameter, so that a
/// model checker can replace these atomics by its own. Programs use PlatformAtomics.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/global_reference.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/tuning.h>

#if !DYNASOAR_CUDA_BACKEND
#include <sched.h>
#include <time.h>
#endif

namespace dynasoar {

namespace detail {

/// The order as a std::memory_order.
constexpr std::memory_order native_order(Order order) {
  constexpr std::memory_order kOrders[] = {std::memory_order_relaxed, std::memory_order_acquire,
                                           std::memory_order_release, std::memory_order_acq_rel};
  return kOrders[static_cast<int>(order)];
}

/// The order in the form that AtomicWord's operations take: on a GPU, this is our own type.
__host__ __device__ constexpr auto word_order(Order order) {
#if defined(__CUDA_ARCH__)
  return order;
#else
  return native_order(order);
#endif
}

}  // namespace detail

/// A word with atomic operations, see AtomicWord.
template <class W, class T>
concept AtomicWordOf = requires(W& word, const W& constant, T value, T& expected, Order order) {
  { constant.load(order) } -> std::same_as<T>;
  { word.store(value, order) } -> std::same_as<void>;
  { word.exchange(value, order) } -> std::same_as<T>;
  { word.fetch_or(value, order) } -> std::same_as<T>;
  { word.fetch_and(value, order) } -> std::same_as<T>;
  { word.fetch_add(value, order) } -> std::same_as<T>;
  { word.add(value, order) } -> std::same_as<void>;
  { word.compare_exchange(expected, value, order) } -> std::same_as<bool>;
};

/// The primitives of the lock-free algorithms: words of 4 and 8 bytes; `fence(order)`; `pause(looks)`, which threads
/// call while they wait for a change by another thread; and constants, see PlatformAtomics.
template <class P>
concept AtomicsPolicy = AtomicWordOf<typename P::template word<std::uint32_t>, std::uint32_t> &&
    AtomicWordOf<typename P::template word<std::uint64_t>, std::uint64_t> &&
    std::default_initializable<typename P::template word<std::uint64_t>> && requires(Order order, int looks) {
  P::fence(order);
  P::pause(looks);
  requires std::same_as<const int, decltype(P::kShards)>;
  requires std::same_as<const std::size_t, decltype(P::kLineBytes)>;
  requires std::same_as<const int, decltype(P::kPatience)>;
  requires std::same_as<const int, decltype(P::kRoundsPerSearch)>;
  requires std::same_as<const bool, decltype(P::kReadsAhead)>;
  requires std::same_as<const Order, decltype(P::kCounted)>;
  requires std::same_as<const Order, decltype(P::kFenced)>;
  requires std::same_as<const Order, decltype(P::kFencedLater)>;
  requires std::same_as<const Order, decltype(P::kFencedBoth)>;
};

/// A word of memory that threads of one device change atomically.
///
/// @tparam T   an unsigned integer of 4 or 8 bytes
/// @pre on a GPU, the word is in global memory: in an allocation or a `__device__` variable, and not in shared memory
///      or a local variable
/// @par Concurrency   lock-free; atomic for all threads of the device on a GPU (device scope), and for all threads of
///                    the process on the host
template <class T>
class AtomicWord {
  static_assert(
      std::is_unsigned_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
      "dynasoar: an AtomicWord holds an unsigned integer of 4 or 8 bytes; a negative number can be added to it "
      "as static_cast<std::uint32_t>(number)");

 public:
  __host__ __device__ T load(Order order) const { return ref().load(detail::word_order(order)); }
  __host__ __device__ void store(T value, Order order) { ref().store(value, detail::word_order(order)); }
  __host__ __device__ T exchange(T value, Order order) { return ref().exchange(value, detail::word_order(order)); }
  __host__ __device__ T fetch_or(T value, Order order) { return ref().fetch_or(value, detail::word_order(order)); }
  __host__ __device__ T fetch_and(T value, Order order) { return ref().fetch_and(value, detail::word_order(order)); }
  __host__ __device__ T fetch_add(T value, Order order) { return ref().fetch_add(value, detail::word_order(order)); }

  /// Like fetch_add of -value: below 0 the word wraps around.
  __host__ __device__ T fetch_sub(T value, Order order) { return fetch_add(static_cast<T>(T{0} - value), order); }

  /// Stores the lesser of the two values.
  __host__ __device__ T fetch_min(T value, Order order) {
#if defined(__CUDA_ARCH__)
    return ref().fetch_min(value, order);
#else
    T found = load(Order::relaxed);
    while (value < found && !compare_exchange(found, value, order)) {
    }
    return found;
#endif
  }

  /// Like fetch_add, for callers that do not need the value: faster on a GPU, which then returns nothing.
  __host__ __device__ void add(T value, Order order) {
#if defined(__CUDA_ARCH__)
    ref().add(value, order);
#else
    fetch_add(value, order);
#endif
  }

  /// On failure `expected` becomes the value found, read with `relaxed`.
  __host__ __device__ bool compare_exchange(T& expected, T desired, Order order) {
    return ref().compare_exchange_strong(expected, desired, detail::word_order(order),
                                         detail::word_order(Order::relaxed));
  }

 private:
  using Reference =
#if defined(__CUDA_ARCH__)
      detail::GlobalReference<T>;
#else
      std::atomic_ref<T>;
#endif
  __host__ __device__ Reference ref() const {
    return Reference(value_);
  }

  mutable T value_;
};

/// The atomics policy of programs: plain memory, changed with the platform's atomics.
struct PlatformAtomics {
  template <class T>
  using word = AtomicWord<T>;

  /// After a `release` fence, relaxed changes act as releases. Before an `acquire` fence, relaxed loads act as
  /// acquires, and many of these loads can overlap.
  __device__ static void fence(Order order) {
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208  // PTX 8.6
    // Only one half of a fence is needed: an acquire does not wait for writes, and a release does not invalidate the
    // cache.
    if (order == Order::acquire) {
      asm volatile("fence.acquire.gpu;" ::: "memory");
      return;
    }
    if (order == Order::release) {
      asm volatile("fence.release.gpu;" ::: "memory");
      return;
    }
#endif
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
    std::atomic_thread_fence(detail::native_order(order));
#endif
  }

  /// The number of words of a count (Tally). There are several, so that not all warps access the same one.
  static constexpr int kShards = detail::kCountShards;

  /// The bytes of a cache line of a CPU, which a write takes from all other threads; 0 on a GPU, where atomics are
  /// executed in the second-level cache.
  static constexpr std::size_t kLineBytes = kCudaBackend ? 0 : 64;

  /// The order of changes that only record other atomics: the counts that a search for free slots reads, and ownership
  /// tokens. A GPU executes atomics in the second-level cache, and all threads see them in one order, so relaxed is
  /// enough there. A release would make the common path 4 % slower, and opening a block 7 %.
  static constexpr Order kCounted = kCudaBackend ? Order::relaxed : Order::release;

  /// The order of changes after a release fence, for which relaxed is enough. On a host, a release has no cost, and
  /// ThreadSanitizer does not see fences.
  static constexpr Order kFenced = kCudaBackend ? Order::relaxed : Order::release;

  /// The order of accesses before an acquire fence, for which relaxed is enough. Different on a host for the same
  /// reason.
  static constexpr Order kFencedLater = kCudaBackend ? Order::relaxed : Order::acquire;

  /// The order of a change before a fence that is an acquire for the value that the change read, and a release for
  /// threads that see changes after the fence. Different on a host for the same reason.
  static constexpr Order kFencedBoth = kCudaBackend ? Order::relaxed : Order::acq_rel;

  /// Whether a word should be read some time before it is changed. On a GPU, lanes do other work meanwhile; a CPU would
  /// have to fetch the line twice.
  static constexpr bool kReadsAhead = kCudaBackend;

  /// The number of rounds after which a request gives up.
  static constexpr int kPatience = detail::kPatience;

  /// The number of rounds from one exhaustive search to the next.
  static constexpr int kRoundsPerSearch = detail::kRoundsPerSearch;

  /// Lets the threads run for which the caller waits. A GPU schedules its warps itself; a CPU thread may have to yield.
  ///
  /// @param looks   how often the caller has checked without success; after many checks, pauses are longer
  __device__ static void pause(int looks = 0) {
#if DYNASOAR_CUDA_BACKEND
#if defined(__CUDA_ARCH__)
    __nanosleep(detail::kShortestPause << (looks < detail::kPauseDoublings ? looks : detail::kPauseDoublings));
#endif
#else
    if (looks < detail::kYields) {
      sched_yield();
    } else {
      const timespec for_a_while{0, detail::kSleepNanoseconds};
      nanosleep(&for_a_while, nullptr);
    }
#endif
  }
};
static_assert(AtomicsPolicy<PlatformAtomics>);

}  // namespace dynasoar
