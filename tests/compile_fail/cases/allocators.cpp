// Allocators of users, and adapters for those of other projects.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/foreign_malloc.h>

namespace allocators {

struct Pool {};

struct Adapter {
#if defined(MISTAKE_adapter_without_properties)
  // expect: an adapter needs 'static constexpr dynasoar::MallocProperties kProperties
  // names: allocators::Adapter
#elif defined(MISTAKE_adapter_that_does_not_free)
  // expect: AosAllocator needs a DeviceMalloc that frees
  static constexpr dynasoar::MallocProperties kProperties{"pool", false, false, false};
#else
  static constexpr dynasoar::MallocProperties kProperties{"pool", true, false, false};
#endif
#if defined(MISTAKE_adapter_without_largest)
  // expect: an adapter needs 'std::size_t largest() const'
  int largest() const {
    return 8192;
  }
#else
  std::size_t largest() const {
    return 8192;
  }
#endif
#if defined(MISTAKE_adapter_not_trivial)
  // expect: an adapter must be trivial
  Pool* pool = nullptr;
#else
  Pool* pool;
#endif
#if defined(MISTAKE_adapter_without_make)
  // expect: an adapter needs 'static Adapter make(const dynasoar::MallocNeeds& needs)'
  static Adapter make(int) {
    return {};
  }
#else
  static Adapter make(const dynasoar::MallocNeeds&) {
    return {};
  }
#endif
#if defined(MISTAKE_adapter_without_destroy)
  // expect: an adapter needs 'void destroy() const'
  void destroy() {}
#else
  void destroy() const {}
#endif
#if defined(MISTAKE_adapter_without_malloc)
  // expect: an adapter needs '__device__ void* malloc(std::size_t bytes) const'
  __device__ char* malloc(std::size_t) const {
    return nullptr;
  }
#else
  __device__ void* malloc(std::size_t) const {
    return nullptr;
  }
#endif
#if defined(MISTAKE_adapter_without_free)
  // expect: an adapter needs '__device__ void free(void* pointer) const'
  __device__ void free(char*) const {}
#else
  __device__ void free(void*) const {}
#endif
};

struct Bump {
#if defined(MISTAKE_malloc_without_properties)
  // expect: an allocator needs 'static constexpr dynasoar::MallocProperties kProperties
  // names: allocators::Bump
#else
  static constexpr dynasoar::MallocProperties kProperties{"bump", true, false, false};
#endif
#if defined(MISTAKE_malloc_not_trivial)
  // expect: an allocator must be trivial
  Pool* pool = nullptr;
#else
  Pool* pool;
#endif
#if defined(MISTAKE_malloc_without_warp)
  // expect: an allocator needs '__device__ void* malloc(std::size_t bytes, dynasoar::PlatformWarp warp = {}) const'
  __device__ void* malloc(std::size_t) const {
    return nullptr;
  }
#else
  __device__ void* malloc(std::size_t, dynasoar::PlatformWarp = {}) const {
    return nullptr;
  }
#endif
#if defined(MISTAKE_free_without_warp)
  // expect: an allocator needs '__device__ void free(void* pointer, dynasoar::PlatformWarp warp = {}) const'
  __device__ void free(void*) const {}
#else
  __device__ void free(void*, dynasoar::PlatformWarp = {}) const {}
#endif
#if defined(MISTAKE_malloc_without_largest)
  // expect: an allocator needs '__host__ __device__ std::size_t largest() const'
  int largest() const {
    return 64;
  }
#else
  __host__ __device__ std::size_t largest() const {
    return 64;
  }
#endif
#if defined(MISTAKE_malloc_without_storage)
  // expect: an allocator needs a class 'Storage' with a constructor
#else
  struct Storage;
#endif
};

#if !defined(MISTAKE_malloc_without_storage)
struct Bump::Storage {
  Storage(dynasoar::Executor&, const dynasoar::MallocNeeds&) {}
#if defined(MISTAKE_storage_without_sizes)
  // expect: an allocator's Storage needs 'view() const'
#else
  std::size_t heap_bytes() const {
    return 0;
  }
  std::size_t state_bytes() const {
    return 0;
  }
#endif
  Bump view() const {
    return {};
  }
};
#endif

class Carp;
inline constexpr int kCarps = dynasoar::AosAllocator<dynasoar::ForeignMalloc<Adapter>, Carp>::kTypes;
inline constexpr int kMore = dynasoar::AosAllocator<Bump, Carp>::kTypes;

}  // namespace allocators
