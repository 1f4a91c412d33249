/// @file
/// Compression: how a program compresses checkpoints, if it can. The library's own sources do not know: a program that
/// links to dynasoar::zstd tells them with each call.
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

/// Both are null where a program cannot compress.
struct Compression {
  /// @return bytes that the compressed contents take, or `bytes` if they would not be fewer
  std::size_t (*compress)(void* to, const void* from, std::size_t bytes, int level);

  /// @return whether `stored` bytes were what `bytes` bytes had been compressed to
  bool (*decompress)(void* to, std::size_t bytes, const void* from, std::size_t stored);
};

// The program's: files that save or load must all be compiled with DYNASOAR_ZSTD=1, or none, which CMake sees to.
#if DYNASOAR_ZSTD

inline std::size_t compress(void* to, const void* from, std::size_t bytes, int level) {
  const std::size_t size = ZSTD_compress(to, bytes, from, bytes, level);
  return ZSTD_isError(size) != 0 ? bytes : size;  // the only error is that there was no room for them
}

inline bool decompress(void* to, std::size_t bytes, const void* from, std::size_t stored) {
  return ZSTD_decompress(to, bytes, from, stored) == bytes;
}

[[maybe_unused]] constexpr Compression kCompression{compress, decompress};

#else

[[maybe_unused]] constexpr Compression kCompression{nullptr, nullptr};

#endif

}  // namespace dynasoar::detail
