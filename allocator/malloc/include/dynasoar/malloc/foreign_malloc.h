/// @file
/// ForeignMalloc: makes a DeviceMalloc of the allocator of another project. Used by the adapters that users write; see
/// docs/how-to/own-allocator.md.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

namespace detail {

/// Reports at compile time what an adapter lacks.
template <class A>
consteval bool check_adapter() {
  static_assert(
      std::is_trivial_v<A>,
      "dynasoar: an adapter must be trivial, because device code gets a copy of its bytes: no constructors, no "
      "initializers of members, no virtual functions; keep a pointer to what is not trivial");
  static_assert(
      requires { requires std::convertible_to<decltype(A::kProperties), MallocProperties>; },
      "dynasoar: an adapter needs 'static constexpr dynasoar::MallocProperties kProperties{name, frees, "
      "collective, combines};'");
  static_assert(
      requires(const A& adapter) {
        { adapter.largest() } -> std::same_as<std::size_t>;
      },
      "dynasoar: an adapter needs 'std::size_t largest() const', which returns the largest request in bytes that the "
      "allocator serves, or SIZE_MAX if only the heap's size limits it");
  static_assert(
      requires(const MallocNeeds& needs) {
        { A::make(needs) } -> std::same_as<A>;
      },
      "dynasoar: an adapter needs 'static Adapter make(const dynasoar::MallocNeeds& needs)', which makes the heap and "
      "returns an adapter for it");
  static_assert(
      requires(const A& adapter) {
        { adapter.destroy() } -> std::same_as<void>;
      },
      "dynasoar: an adapter needs 'void destroy() const', which the host calls to release the heap");
  static_assert(
      requires(const A& adapter, std::size_t bytes) {
        { adapter.malloc(bytes) } -> std::same_as<void*>;
      },
      "dynasoar: an adapter needs '__device__ void* malloc(std::size_t bytes) const'");
  static_assert(
      requires(const A& adapter, void* pointer) {
        { adapter.free(pointer) } -> std::same_as<void>;
      },
      "dynasoar: an adapter needs '__device__ void free(void* pointer) const'");
  return true;
}

}  // namespace detail

/// A DeviceMalloc with the memory of another project's allocator.
///
/// The adapter is a class of yours with these members:
///
///     static constexpr dynasoar::MallocProperties kProperties{"pool", true, false, false};
///     static PoolAdapter make(const dynasoar::MallocNeeds& needs);
///     void destroy() const;
///     std::size_t largest() const;
///     __device__ void* malloc(std::size_t bytes) const;
///     __device__ void free(void* pointer) const;
///
/// `make` makes a heap that takes `needs.heap_bytes` bytes of memory, the allocator's own tables included, and returns
/// an adapter for it; if it cannot, it throws an Error. `destroy` releases the heap. `largest` returns the largest
/// request in bytes, or SIZE_MAX if only the heap's size limits it. Neither may throw. `malloc` gets `bytes` from 1 to
/// `largest()`, and returns memory that is aligned to kMallocAlignment, or null if there is none. `free` never gets
/// null.
///
/// @tparam Adapter   trivial: device code gets copies of its bytes
/// @par Concurrency   as the allocator. Loops run in a stream that is ordered with the legacy default stream; if `make`
///                    uses other streams, it must wait for them. `destroy` is called when no loop runs.
template <class Adapter>
class ForeignMalloc {
  static_assert(detail::check_adapter<Adapter>());

 public:
  static constexpr MallocProperties kProperties = Adapter::kProperties;

  /// Owns the heap.
  class Storage {
   public:
    /// @throws Error as Adapter::make
    Storage(Executor&, const MallocNeeds& needs) : heap_bytes_(needs.heap_bytes) {
      view_.adapter_ = Adapter::make(needs);
      view_.largest_ = std::min(view_.adapter_.largest(), needs.heap_bytes);
    }
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage() { view_.adapter_.destroy(); }

    ForeignMalloc view() const { return view_; }
    std::size_t heap_bytes() const { return heap_bytes_; }
    std::size_t state_bytes() const { return 0; }  // in the heap

   private:
    ForeignMalloc view_;
    std::size_t heap_bytes_;
  };

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp = {}) const {
    return bytes == 0 || bytes > largest_ ? nullptr : adapter_.malloc(bytes);
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp = {}) const {
    if (pointer != nullptr) adapter_.free(pointer);
  }

  __host__ __device__ std::size_t largest() const { return largest_; }

 private:
  Adapter adapter_;
  std::size_t largest_;
};

}  // namespace dynasoar
