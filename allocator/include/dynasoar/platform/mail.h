/// @file
/// mail, mailed: write and read words of MailedWords (memory.h) while loops run. On a CPU, both sides are threads of
/// the host. Used by ExchangeWatch.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

namespace dynasoar {

/// Writes a word that the host may read at any time. One thread writes it.
__device__ inline void mail(volatile std::uint64_t* word, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  *word = value;
#else
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
#endif
}

/// The last value that has arrived. For the host.
inline std::uint64_t mailed(const volatile std::uint64_t* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

}  // namespace dynasoar
