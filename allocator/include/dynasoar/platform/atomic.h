/// @file
/// Atomic words: the storage and operations that the lock-free algorithms are written in.
///
/// The algorithms take an *atomics policy* as a template parameter, so that a model checker's atomics can be put in
/// place of these. A policy P offers `P::word<T>`, default constructible, with the members of AtomicWord, and
/// `P::pause()`, called between two looks at a word that another thread is about to change.
#pragma once

#include <atomic>

#include <dynasoar/platform/config.h>

#if DYNASOAR_CUDA_BACKEND
#include <cuda/atomic>
#else
#include <thread>
#endif

namespace dynasoar {

/// Memory orders of the operations below. Every use other than `relaxed` names its partner.
enum class Order { relaxed, acquire, release, acq_rel };

/// A word of memory that threads of one device change atomically.
///
/// @tparam T   an unsigned integer of 4 or 8 bytes
/// @par Concurrency   device scope on the GPU, all threads of the process on the host; lock-free
template <class T>
class AtomicWord {
 public:
  __host__ __device__ T load(Order order) const { return ref().load(native(order)); }
  __host__ __device__ void store(T value, Order order) { ref().store(value, native(order)); }
  __host__ __device__ T exchange(T value, Order order) { return ref().exchange(value, native(order)); }
  __host__ __device__ T fetch_or(T value, Order order) { return ref().fetch_or(value, native(order)); }
  __host__ __device__ T fetch_and(T value, Order order) { return ref().fetch_and(value, native(order)); }
  __host__ __device__ T fetch_add(T value, Order order) { return ref().fetch_add(value, native(order)); }

  /// As fetch_add, for callers who do not want the value: cheaper on the GPU, where nothing comes back.
  __host__ __device__ void add(T value, Order order) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 8) {
      if (order == Order::relaxed) {
        asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(&value_), "l"(value) : "memory");
      } else {
        asm volatile("red.release.gpu.add.u64 [%0], %1;" ::"l"(&value_), "l"(value) : "memory");
      }
    } else {
      fetch_add(value, order);
    }
#else
    fetch_add(value, order);
#endif
  }

  /// On failure `expected` becomes the value found, read with `relaxed`.
  __host__ __device__ bool compare_exchange(T& expected, T desired, Order order) {
    return ref().compare_exchange_strong(expected, desired, native(order), native(Order::relaxed));
  }

 private:
#if DYNASOAR_CUDA_BACKEND
  __host__ __device__ static constexpr cuda::std::memory_order native(Order order) {
    switch (order) {
      case Order::acquire: return cuda::std::memory_order_acquire;
      case Order::release: return cuda::std::memory_order_release;
      case Order::acq_rel: return cuda::std::memory_order_acq_rel;
      default: return cuda::std::memory_order_relaxed;
    }
  }
  __host__ __device__ cuda::atomic_ref<T, cuda::thread_scope_device> ref() const {
    return cuda::atomic_ref<T, cuda::thread_scope_device>(value_);
  }
#else
  static constexpr std::memory_order native(Order order) {
    switch (order) {
      case Order::acquire: return std::memory_order_acquire;
      case Order::release: return std::memory_order_release;
      case Order::acq_rel: return std::memory_order_acq_rel;
      default: return std::memory_order_relaxed;
    }
  }
  std::atomic_ref<T> ref() const {
    return std::atomic_ref<T>(value_);
  }
#endif

  mutable T value_;
};

/// The atomics policy of the product: plain memory, changed through the platform's atomics.
struct PlatformAtomics {
  template <class T>
  using word = AtomicWord<T>;

  /// Lets the thread that is awaited run: a GPU schedules its warps itself, a CPU thread may have to give way.
  __device__ static void pause() {
#if DYNASOAR_CUDA_BACKEND
#if defined(__CUDA_ARCH__)
    __nanosleep(32);
#endif
#else
    std::this_thread::yield();
#endif
  }
};

}  // namespace dynasoar
