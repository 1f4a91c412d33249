/// @file
/// Tag: the information about a slot in checked builds. Used by checks.h, which explains it.
#pragma once

#include <cstdint>

#include <dynasoar/classes/handle.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The tag of a slot: alive (bit 0), being destroyed (bit 1), generation (2-9), loop of creation (10-31).
class Tag {
 public:
  __host__ __device__ explicit constexpr Tag(std::uint32_t bits) : bits_(bits) {}

  /// The tag of a slot that has never been used.
  __host__ __device__ static constexpr Tag unused(std::uint32_t generation) {
    return Tag(generation % Handle::kGenerations << kGenerationShift);
  }

  __host__ __device__ constexpr std::uint32_t bits() const { return bits_; }
  __host__ __device__ constexpr bool is_alive() const { return (bits_ & kAlive) != 0; }
  __host__ __device__ constexpr std::uint32_t generation() const {
    return (bits_ >> kGenerationShift) % Handle::kGenerations;
  }
  __host__ __device__ constexpr std::uint32_t loop() const { return bits_ >> kLoopShift; }
  __host__ __device__ constexpr bool was_ever_used() const { return loop() != 0; }

  __host__ __device__ constexpr Tag created(std::uint32_t loop) const {
    return Tag(unused(generation() + 1).bits_ | kAlive | loop << kLoopShift);
  }
  __host__ __device__ constexpr Tag being_destroyed() const { return Tag(bits_ | kDying); }
  __host__ __device__ constexpr Tag before_destruction() const { return Tag(bits_ & ~kDying); }
  __host__ __device__ constexpr Tag deleted() const { return Tag(bits_ & ~(kAlive | kDying)); }

  static constexpr std::uint32_t kNoLoop = (1u << 22) - 1;  ///< created in a kernel that the user has written

 private:
  static constexpr std::uint32_t kAlive = 1, kDying = 2;
  static constexpr int kGenerationShift = 2, kLoopShift = 10;
  std::uint32_t bits_;
};

}  // namespace dynasoar::detail
