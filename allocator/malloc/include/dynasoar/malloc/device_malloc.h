/// @file
/// DeviceMalloc: the interface of an allocator of plain memory for device code. The papers' allocators, each in a
/// header of this folder, are models of it. AosAllocator makes an allocator of the DSL from any model that frees.
///
/// An allocator M is a view: device code calls its `malloc` and `free`, and it may be copied like a pointer. Its memory
/// belongs to an `M::Storage`, which the host makes:
///
///     M::Storage storage(executor, {.heap_bytes = 1 << 30, .largest_request = 256});
///     executor.for_each_index(n, [memory = storage.view()] __device__ (std::size_t) { void* p = memory.malloc(64); });
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// The alignment of all memory of a DeviceMalloc, in bytes.
inline constexpr std::size_t kMallocAlignment = 16;

/// Properties of an allocator of memory.
struct MallocProperties {
  const char* name;  ///< as in the option --allocator and in tables
  bool frees;        ///< `free` makes memory usable again; if not, the allocator is a lower bound for others
  bool collective;   ///< `malloc` and `free` must be called by all lanes of a warp together, `malloc` with one size
  bool combines;     ///< combines simultaneous requests of the lanes of a warp
};

/// Information about the use of an allocator's memory.
struct MallocNeeds {
  std::size_t heap_bytes;             ///< bytes to allocate, without the allocator's own state
  std::size_t largest_request = 256;  ///< in bytes, for allocators that need it
};

/// An allocator of memory for device code.
///
/// It is trivial, because it is in `__constant__` memory: its members have no initializers. `malloc(bytes, warp)`
/// returns memory of at least `bytes` bytes, aligned to kMallocAlignment. The memory belongs to the caller until a call
/// of `free` with it. `malloc` returns null if there is no memory, or if `bytes` is 0 or above `largest()`. `free` of
/// null does nothing. Both functions end independently of other threads, unless an allocator's comment states an
/// exception. `largest()` is the largest request that can be served, in bytes, on host and device.
template <class M>
concept DeviceMalloc = std::is_trivial_v<M> &&
    requires(const M& memory, std::size_t bytes, void* pointer, PlatformWarp warp) {
  { M::kProperties } -> std::convertible_to<MallocProperties>;
  { memory.malloc(bytes) } -> std::same_as<void*>;
  { memory.malloc(bytes, warp) } -> std::same_as<void*>;
  { memory.free(pointer) } -> std::same_as<void>;
  { memory.free(pointer, warp) } -> std::same_as<void>;
  { memory.largest() } -> std::same_as<std::size_t>;
} && requires(const typename M::Storage& storage) {
  requires std::constructible_from<typename M::Storage, Executor&, const MallocNeeds&>;
  { storage.view() } -> std::same_as<M>;
  { storage.heap_bytes() } -> std::same_as<std::size_t>;   // that can be allocated
  { storage.state_bytes() } -> std::same_as<std::size_t>;  // in addition
};

namespace detail {

/// Reports at compile time why M is no DeviceMalloc: the first message is about the first missing member.
template <class M>
consteval bool check_device_malloc() {
  static_assert(std::is_trivial_v<M>,
                "dynasoar: an allocator must be trivial, because it lies in constant memory: no constructors, no "
                "initializers of members, no virtual functions; move what owns memory into its class Storage");
  static_assert(
      requires { requires std::convertible_to<decltype(M::kProperties), MallocProperties>; },
      "dynasoar: an allocator needs 'static constexpr dynasoar::MallocProperties kProperties{name, frees, "
      "collective, combines};'");
  static_assert(
      requires(const M& memory, std::size_t bytes, PlatformWarp warp) {
        { memory.malloc(bytes) } -> std::same_as<void*>;
        { memory.malloc(bytes, warp) } -> std::same_as<void*>;
      },
      "dynasoar: an allocator needs '__device__ void* malloc(std::size_t bytes, dynasoar::PlatformWarp warp = {}) "
      "const'");
  static_assert(
      requires(const M& memory, void* pointer, PlatformWarp warp) {
        { memory.free(pointer) } -> std::same_as<void>;
        { memory.free(pointer, warp) } -> std::same_as<void>;
      },
      "dynasoar: an allocator needs '__device__ void free(void* pointer, dynasoar::PlatformWarp warp = {}) const'");
  static_assert(
      requires(const M& memory) {
        { memory.largest() } -> std::same_as<std::size_t>;
      },
      "dynasoar: an allocator needs '__host__ __device__ std::size_t largest() const', the largest request in bytes");
  static_assert(
      requires { requires std::constructible_from<typename M::Storage, Executor&, const MallocNeeds&>; },
      "dynasoar: an allocator needs a class 'Storage' with a constructor that takes '(dynasoar::Executor&, "
      "const dynasoar::MallocNeeds&)'");
  static_assert(
      requires(const typename M::Storage& storage) {
        { storage.view() } -> std::same_as<M>;
        { storage.heap_bytes() } -> std::same_as<std::size_t>;
        { storage.state_bytes() } -> std::same_as<std::size_t>;
      },
      "dynasoar: an allocator's Storage needs 'view() const', which returns the allocator, and 'std::size_t "
      "heap_bytes() const' and 'state_bytes() const'");
  static_assert(DeviceMalloc<M>, "dynasoar: this class is no model of the concept DeviceMalloc");
  return true;
}

/// The number of warps that share the state of a multiprocessor in an allocator, as PlatformWarp numbers them; on the
/// host, of threads.
inline constexpr std::uint32_t kWarpsPerSet = kCudaBackend ? 64 : 1;

/// The number of such sets of warps.
inline std::uint32_t sets_of_warps(const Executor& executor) {
  return std::max(executor.concurrent_warps() / kWarpsPerSet, 1u);
}

/// 2^32 / golden ratio: multiples of it are evenly distributed.
inline constexpr std::uint32_t kSpread = 2654435761u;

/// Memory for a table of an allocator, all 0.
template <class T>
DeviceArray<T> zeroed(std::size_t count) {
  DeviceArray<T> table(count);
  table.fill_bytes(0);
  return table;
}

/// `bytes` rounded up to a multiple of `unit`.
__host__ __device__ constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace detail

}  // namespace dynasoar
