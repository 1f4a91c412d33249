/// @file
/// Atomic words: the storage and operations that the lock-free algorithms are written in.
///
/// The algorithms take an *atomics policy*, a model of the concept AtomicsPolicy, as a template parameter, so that a
/// model checker's atomics can be put in place of these. The product's is PlatformAtomics.
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

/// The order as the host's atomics name it.
constexpr std::memory_order native_order(Order order) {
  constexpr std::memory_order kOrders[] = {std::memory_order_relaxed, std::memory_order_acquire,
                                           std::memory_order_release, std::memory_order_acq_rel};
  return kOrders[static_cast<int>(order)];
}

/// The order as AtomicWord's operations name it: those of a GPU are our own.
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

/// What the lock-free algorithms are written in: words of 4 and 8 bytes; `fence(order)`; `pause(looks)`, called between
/// two looks at what other threads are about to change; and constants, see PlatformAtomics.
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
/// @par Concurrency   device scope on the GPU, where the word must be in global memory (an allocation or a `__device__`
///   variable, not shared memory or a local variable); all threads of the process on the host; lock-free
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

  /// As fetch_add of -value: below 0 the word wraps around.
  __host__ __device__ T fetch_sub(T value, Order order) { return fetch_add(static_cast<T>(T{0} - value), order); }

  /// Leaves the lesser of the two values.
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

  /// As fetch_add, for callers who do not want the value: cheaper on the GPU, where nothing comes back.
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

/// The atomics policy of the product: plain memory, changed through the platform's atomics.
struct PlatformAtomics {
  template <class T>
  using word = AtomicWord<T>;

  /// With `release`, relaxed changes after it act as releases; with `acquire`, relaxed loads before it as acquires, but
  /// many of them can be under way at once.
  __device__ static void fence(Order order) {
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 900
    // One half of a fence: an acquire waits for nothing, a release leaves the cache as it is.
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

  /// Words that a count is spread over (Tally), so that not all warps meet at one.
  static constexpr int kShards = detail::kCountShards;

  /// Bytes that a thread of a CPU takes from all others when it writes to one of them; 0 on a GPU, whose atomics happen
  /// in one place.
  static constexpr std::size_t kLineBytes = kCudaBackend ? 0 : 64;

  /// Order of changes that say only what other atomics have done: the counts that a search for free slots reads, and
  /// ownership tokens. On a GPU, atomics happen in one place, the second-level cache, which shows them to all in one
  /// order, and a release would cost the common path 4 %, and opening a block 7 %.
  static constexpr Order kCounted = kCudaBackend ? Order::relaxed : Order::release;

  /// Order of changes that a release fence comes before: relaxed would do. ThreadSanitizer does not see fences, and a
  /// release costs hosts nothing.
  static constexpr Order kFenced = kCudaBackend ? Order::relaxed : Order::release;

  /// Order of accesses that an acquire fence comes after, likewise.
  static constexpr Order kFencedLater = kCudaBackend ? Order::relaxed : Order::acquire;

  /// Order of a change that a fence comes after which is acquire for what the change read, and release for who sees
  /// what comes behind the fence, likewise.
  static constexpr Order kFencedBoth = kCudaBackend ? Order::relaxed : Order::acq_rel;

  /// Whether it pays to read a word a while before it is changed. On a GPU, whose lanes have other things to do
  /// meanwhile; a CPU would have to get the line twice.
  static constexpr bool kReadsAhead = kCudaBackend;

  /// Looks after which a request gives up.
  static constexpr int kPatience = detail::kPatience;

  /// Looks from one exhaustive search to the next.
  static constexpr int kRoundsPerSearch = detail::kRoundsPerSearch;

  /// Lets the threads that are awaited run: a GPU schedules its warps itself, a CPU thread may have to give way.
  ///
  /// @param looks   how often the caller has looked in vain; who has waited for long looks less often
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
