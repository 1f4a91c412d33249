/// @file
/// HeapState: the words of a heap's state. Laid out by HeapMemory; changed by the operations of BlockHeap.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/tally.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// The state of a heap without the state of its types: a view of memory that HeapMemory owns. Code for any number of
/// types uses it, see AnyHeap; BlockHeap adds the types.
template <class Atomics, int kContainerBits>
struct HeapState {
  using Bits = Bitmap<Atomics, kContainerBits>;
  using Counter = Tally<Atomics>;
  template <class T>
  using Word = typename Atomics::template word<T>;

  /// A table with a word for each warp. In small heaps, several warps share one.
  struct WarpWords {
    static constexpr std::size_t kStride = Atomics::kLineBytes == 0 ? 1 : Atomics::kLineBytes / sizeof(std::uint32_t);

    Word<std::uint32_t>* words;
    __device__ Word<std::uint32_t>& operator[](std::uint32_t entry) const { return words[entry * kStride]; }
  };

  /// A table with a word for each block. The words of neighbouring blocks are in different lines, because warps often
  /// take neighbouring blocks.
  struct BlockWords {
    static constexpr std::uint32_t kPerLine =
        Atomics::kLineBytes == 0 ? 1 : static_cast<std::uint32_t>(Atomics::kLineBytes / sizeof(std::uint64_t));
    static constexpr std::uint32_t kGroup = kPerLine * kPerLine;  // blocks within which words are permuted

    Word<std::uint64_t>* words;
    __host__ __device__ static constexpr std::uint32_t place(std::uint32_t block) {
      if constexpr (kGroup == 1) return block;
      return block - block % kGroup + block % kPerLine * kPerLine + block % kGroup / kPerLine;
    }
    __device__ Word<std::uint64_t>& operator[](std::uint32_t block) const { return words[place(block)]; }
  };

  /// The state of a type.
  struct TypeState {
    Bits empty;          ///< closed blocks in pages of this type
    Bits active;         ///< open blocks with a free slot that no warp owns
    Bits allocated;      ///< open blocks
    Counter created;     ///< objects, counted in the shard of their block
    Counter deleted;     ///< objects, counted in the shard of the warp that deletes
    Counter opened;      ///< blocks, each counted in its own shard, like the next three
    Counter closed;      ///< blocks
    Counter emptied;     ///< blocks that became empty ones, of types that share a page
    Counter reused;      ///< those of them that are no longer empty blocks
    WarpWords current;   ///< [current_count] current block of each warp; a hint, possibly stale; see kHalfFree
    WarpWords fetching;  ///< [current_count] 1 while a warp of the group opens a page for all; a hint
    std::uint32_t blocks_per_page;  ///< at most block_stride()
  };

  /// A flag of a block in `current`: its upper half of slots was free. Set by a thread that opens a block and takes the
  /// lower half of its slots.
  static constexpr std::uint32_t kHalfFree = std::uint32_t{1} << 31;

  // The state, laid out by HeapMemory. Block b is block b % block_stride() of page b / block_stride().
  std::uint32_t pages;
  std::uint32_t block_shift;       ///< logarithm of block_stride()
  std::uint32_t current_count;     ///< current blocks per type
  int few_pages;                   ///< if at most this number of a container's pages is free, warps share new ones
  BlockWords slots;                ///< [blocks] slot bitmaps; all ones while the block is closed
  Word<std::uint32_t>* token;      ///< [blocks] ownership tokens: token_of(type), or 0 if there is none
  Word<std::uint32_t>* page_type;  ///< [pages] type index; stable while a block of the page is open or held
  WarpWords page_hint;             ///< [current_count] the last free page that each warp found
  Word<std::uint64_t>* full_at;    ///< [kTypes] stamp of the last proof that the heap is full, see fullness.h
  Word<std::uint64_t>* refusals;   ///< [refusal_words(kTypes)] objects refused
  Bits free_pages;
  Counter pages_freed;  ///< pages that became free, including the initial ones
  Counter pages_taken;  ///< pages that were taken

  /// Block numbers per page. A power of two, because requests divide by it.
  __host__ __device__ std::uint32_t block_stride() const { return 1u << block_shift; }
  __host__ __device__ std::uint32_t blocks() const { return pages << block_shift; }

  /// An ownership token contains the block's type, so that a thread that takes the token need not look it up.
  __host__ __device__ static std::uint32_t token_of(int type) { return static_cast<std::uint32_t>(type) + 1; }
  __host__ __device__ static int type_of_token(std::uint32_t token) { return static_cast<int>(token) - 1; }
};

}  // namespace dynasoar
