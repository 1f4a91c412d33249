/// @file
/// Atomic operations of a GPU on words in global memory, as PTX instructions.
///
/// `cuda::atomic_ref` does not know the memory space of its word, so each operation has code for global, shared and
/// local memory. The words of an allocator are in global memory. Without the other code, a kernel that creates and
/// destroys objects is a quarter smaller, and each call takes 10 to 16 % less time (docs/allocator.md).
///
/// Source: PTX ISA, "Parallel Synchronization and Communication Instructions" (atom, red) and "Memory Consistency
/// Model".
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/platform/order.h>

#if defined(__CUDA_ARCH__)

namespace dynasoar::detail {

// In these macros `letter` is the constraint of a register of the word's size, "r" for 32 bits and "l" for 64. The
// order is a constant after inlining, so that only one instruction of each switch remains.

#define DYNASOAR_PTX_CHANGE_(order, operation, letter)                 \
  asm volatile("atom.global." order ".gpu." operation " %0, [%1], %2;" \
               : "=" letter(found)                                     \
               : "l"(address), letter(value)                           \
               : "memory")

#define DYNASOAR_PTX_SWAP_(order, type, letter)                           \
  asm volatile("atom.global." order ".gpu.cas." type " %0, [%1], %2, %3;" \
               : "=" letter(found)                                        \
               : "l"(address), letter(expected), letter(desired)          \
               : "memory")

#define DYNASOAR_PTX_LOAD_(order, type, letter) \
  asm volatile("ld." order ".gpu.global." type " %0, [%1];" : "=" letter(found) : "l"(address) : "memory")

#define DYNASOAR_PTX_STORE_(order, type, letter) \
  asm volatile("st." order ".gpu.global." type " [%0], %1;" ::"l"(address), letter(value) : "memory")

#define DYNASOAR_PTX_ADD_(order, type, letter) \
  asm volatile("red." order ".gpu.global.add." type " [%0], %1;" ::"l"(address), letter(value) : "memory")

#define DYNASOAR_GLOBAL_CHANGE_(name, Word, operation, letter)                        \
  __device__ inline Word name(std::size_t address, Word value, Order order) {         \
    Word found;                                                                       \
    switch (order) {                                                                  \
      case Order::relaxed: DYNASOAR_PTX_CHANGE_("relaxed", operation, letter); break; \
      case Order::acquire: DYNASOAR_PTX_CHANGE_("acquire", operation, letter); break; \
      case Order::release: DYNASOAR_PTX_CHANGE_("release", operation, letter); break; \
      case Order::acq_rel: DYNASOAR_PTX_CHANGE_("acq_rel", operation, letter); break; \
    }                                                                                 \
    return found;                                                                     \
  }

#define DYNASOAR_GLOBAL_WORD_(Word, bits, letter)                                                     \
  DYNASOAR_GLOBAL_CHANGE_(global_exchange, Word, "exch.b" bits, letter)                               \
  DYNASOAR_GLOBAL_CHANGE_(global_or, Word, "or.b" bits, letter)                                       \
  DYNASOAR_GLOBAL_CHANGE_(global_and, Word, "and.b" bits, letter)                                     \
  DYNASOAR_GLOBAL_CHANGE_(global_add, Word, "add.u" bits, letter)                                     \
  DYNASOAR_GLOBAL_CHANGE_(global_min, Word, "min.u" bits, letter)                                     \
                                                                                                      \
  __device__ inline Word global_swap(std::size_t address, Word expected, Word desired, Order order) { \
    Word found;                                                                                       \
    switch (order) {                                                                                  \
      case Order::relaxed: DYNASOAR_PTX_SWAP_("relaxed", "b" bits, letter); break;                    \
      case Order::acquire: DYNASOAR_PTX_SWAP_("acquire", "b" bits, letter); break;                    \
      case Order::release: DYNASOAR_PTX_SWAP_("release", "b" bits, letter); break;                    \
      case Order::acq_rel: DYNASOAR_PTX_SWAP_("acq_rel", "b" bits, letter); break;                    \
    }                                                                                                 \
    return found;                                                                                     \
  }                                                                                                   \
                                                                                                      \
  __device__ inline void global_load(std::size_t address, Word& found, Order order) {                 \
    if (order == Order::relaxed) {                                                                    \
      DYNASOAR_PTX_LOAD_("relaxed", "u" bits, letter);                                                \
    } else {                                                                                          \
      DYNASOAR_PTX_LOAD_("acquire", "u" bits, letter);                                                \
    }                                                                                                 \
  }                                                                                                   \
                                                                                                      \
  __device__ inline void global_store(std::size_t address, Word value, Order order) {                 \
    if (order == Order::relaxed) {                                                                    \
      DYNASOAR_PTX_STORE_("relaxed", "u" bits, letter);                                               \
    } else {                                                                                          \
      DYNASOAR_PTX_STORE_("release", "u" bits, letter);                                               \
    }                                                                                                 \
  }                                                                                                   \
                                                                                                      \
  __device__ inline void global_increase(std::size_t address, Word value, Order order) {              \
    if (order == Order::relaxed) {                                                                    \
      DYNASOAR_PTX_ADD_("relaxed", "u" bits, letter);                                                 \
    } else {                                                                                          \
      DYNASOAR_PTX_ADD_("release", "u" bits, letter);                                                 \
    }                                                                                                 \
  }

DYNASOAR_GLOBAL_WORD_(std::uint32_t, "32", "r")
DYNASOAR_GLOBAL_WORD_(std::uint64_t, "64", "l")

#undef DYNASOAR_GLOBAL_WORD_
#undef DYNASOAR_GLOBAL_CHANGE_
#undef DYNASOAR_PTX_ADD_
#undef DYNASOAR_PTX_STORE_
#undef DYNASOAR_PTX_LOAD_
#undef DYNASOAR_PTX_SWAP_
#undef DYNASOAR_PTX_CHANGE_

/// A reference to a word of global memory, with the operations of `cuda::atomic_ref`, at device scope.
template <class T>
class GlobalReference {
 public:
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static_assert(std::is_unsigned_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

  __device__ explicit GlobalReference(T& word) : address_(__cvta_generic_to_global(&word)) {}

  __device__ T load(Order order) const {
    Word found;
    global_load(address_, found, order);
    return found;
  }

  __device__ void store(T value, Order order) const { global_store(address_, Word{value}, order); }
  __device__ T exchange(T value, Order order) const { return global_exchange(address_, Word{value}, order); }
  __device__ T fetch_or(T value, Order order) const { return global_or(address_, Word{value}, order); }
  __device__ T fetch_and(T value, Order order) const { return global_and(address_, Word{value}, order); }
  __device__ T fetch_add(T value, Order order) const { return global_add(address_, Word{value}, order); }
  __device__ T fetch_min(T value, Order order) const { return global_min(address_, Word{value}, order); }

  /// Like fetch_add, but without a result to wait for.
  __device__ void add(T value, Order order) const { global_increase(address_, Word{value}, order); }

  /// The order on failure is also `order`: PTX has a single order for both cases.
  __device__ bool compare_exchange_strong(T& expected, T desired, Order order, Order /*on_failure*/) const {
    const T found = global_swap(address_, Word{expected}, Word{desired}, order);
    const bool swapped = found == expected;
    expected = found;
    return swapped;
  }

 private:
  std::size_t address_;
};

}  // namespace dynasoar::detail

#endif
