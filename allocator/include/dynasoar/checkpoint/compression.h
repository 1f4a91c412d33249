/// @file
/// Compression: the functions with which a program compresses checkpoints. The library's own sources do not depend on
/// zstd. A program that links to dynasoar::zstd passes these functions with each call.
#pragma once

#include <cstddef>

#if DYNASOAR_ZSTD
#include <zstd.h>
#endif

namespace dynasoar::detail {

/// Whether this program can compress checkpoints: it is linked to dynasoar::zstd.
#if DYNASOAR_ZSTD
inline constexpr bool kHasZstd = true;
#else
inline constexpr bool kHasZstd = false;
#endif

/// Both functions are null if the program cannot compress.
struct Compression {
  /// @return the number of compressed bytes, or `bytes` if compression would not make them fewer
  std::size_t (*compress)(void* to, const void* from, std::size_t bytes, int level);

  /// @return whether the `stored` bytes could be decompressed to exactly `bytes` bytes
  bool (*decompress)(void* to, std::size_t bytes, const void* from, std::size_t stored);
};

// The compression of this program. All of its files that save or load must be compiled with DYNASOAR_ZSTD=1, or none of
// them. CMake takes care of this.
#if DYNASOAR_ZSTD

inline std::size_t compress(void* to, const void* from, std::size_t bytes, int level) {
  const std::size_t size = ZSTD_compress(to, bytes, from, bytes, level);
  return ZSTD_isError(size) != 0 ? bytes : size;  // the only possible error: the result does not fit
}

inline bool decompress(void* to, std::size_t bytes, const void* from, std::size_t stored) {
  return ZSTD_decompress(to, bytes, from, stored) == bytes;
}

[[maybe_unused]] constexpr Compression kCompression{compress, decompress};

#else

[[maybe_unused]] constexpr Compression kCompression{nullptr, nullptr};

#endif

}  // namespace dynasoar::detail
