// slabs: a pool of pieces of one size. Free pieces are a stack; its head has a count, so that a head that looks the
// same is the same. Knows nothing of DynaSOAr: it stands for an allocator of another project.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define SLABS_DEVICE __device__
#else
#include <atomic>
#define SLABS_DEVICE
#endif

namespace slabs {

using Head = unsigned long long;  // the count, and below it, in 32 bits, 1 + the number of the first free piece, or 0

struct Pool {
  Head* head;
  std::uint32_t* next;  // of each free piece, as in Head
  char* memory;
  std::size_t bytes_per_slab;
};

// A pool of at most `bytes` bytes, its own tables included; null if there is too little memory.
Pool* create(std::size_t bytes, std::size_t bytes_per_slab);
void destroy(Pool* pool);

SLABS_DEVICE inline Head look(Head* head) {
#ifdef __CUDACC__
  const Head seen = *static_cast<volatile Head*>(head);
  __threadfence();
  return seen;
#else
  return std::atomic_ref<Head>(*head).load();
#endif
}

SLABS_DEVICE inline bool replace(Head* head, Head seen, Head wanted) {
#ifdef __CUDACC__
  __threadfence();
  const bool replaced = atomicCAS(head, seen, wanted) == seen;
  __threadfence();
  return replaced;
#else
  return std::atomic_ref<Head>(*head).compare_exchange_strong(seen, wanted);
#endif
}

SLABS_DEVICE inline std::uint32_t next_of(std::uint32_t* next) {
#ifdef __CUDACC__
  return *static_cast<volatile std::uint32_t*>(next);
#else
  return std::atomic_ref<std::uint32_t>(*next).load();
#endif
}

SLABS_DEVICE inline void set_next(std::uint32_t* next, std::uint32_t value) {
#ifdef __CUDACC__
  *static_cast<volatile std::uint32_t*>(next) = value;
#else
  std::atomic_ref<std::uint32_t>(*next).store(value);
#endif
}

// Memory of `bytes` bytes, or null.
SLABS_DEVICE inline void* take(Pool* pool, std::size_t bytes) {
  if (bytes > pool->bytes_per_slab) return nullptr;
  for (;;) {
    const Head seen = look(pool->head);
    const auto first = static_cast<std::uint32_t>(seen);
    if (first == 0) return nullptr;
    const Head rest = ((seen >> 32) + 1) << 32 | next_of(pool->next + first - 1);
    if (replace(pool->head, seen, rest)) return pool->memory + (first - 1) * pool->bytes_per_slab;
  }
}

SLABS_DEVICE inline void give(Pool* pool, void* memory) {
  const auto number = static_cast<std::uint32_t>((static_cast<char*>(memory) - pool->memory) / pool->bytes_per_slab);
  for (;;) {
    const Head seen = look(pool->head);
    set_next(pool->next + number, static_cast<std::uint32_t>(seen));
    if (replace(pool->head, seen, ((seen >> 32) + 1) << 32 | (number + 1))) return;
  }
}

}  // namespace slabs
