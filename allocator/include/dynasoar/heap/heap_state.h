/// @file
/// HeapState: the words that a heap consists of. Laid out by HeapMemory; changed by the operations of BlockHeap.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/tally.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// The state of a heap but for what it keeps for each type: a view of memory that HeapMemory owns. Code that is the
/// same for any number of types works with it, see AnyHeap; BlockHeap adds the types.
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

  /// A table with a word for each block, in an order that puts the words of neighbours into different lines: warps
  /// often take neighbouring blocks.
  struct BlockWords {
    static constexpr std::uint32_t kPerLine =
        Atomics::kLineBytes == 0 ? 1 : static_cast<std::uint32_t>(Atomics::kLineBytes / sizeof(std::uint64_t));
    static constexpr std::uint32_t kGroup = kPerLine * kPerLine;  // blocks whose words change places

    Word<std::uint64_t>* words;
    __host__ __device__ static constexpr std::uint32_t place(std::uint32_t block) {
      if constexpr (kGroup == 1) return block;
      return block - block % kGroup + block % kPerLine * kPerLine + block % kGroup / kPerLine;
    }
    __device__ Word<std::uint64_t>& operator[](std::uint32_t block) const { return words[place(block)]; }
  };

  /// What the heap keeps for each type.
  struct TypeState {
    Bits empty;          ///< closed blocks in pages of this type
    Bits active;         ///< open blocks with a free slot that no warp owns
    Bits allocated;      ///< open blocks
    Counter created;     ///< objects, counted in the shard of their block
    Counter deleted;     ///< objects, counted in the shard of the warp that deletes
    Counter opened;      ///< blocks, each counted in its own shard; as are the next
    Counter closed;      ///< blocks
    Counter emptied;     ///< blocks that became empty ones, of types that share a page
    Counter reused;      ///< of these, those that are no empty ones any more
    WarpWords current;   ///< [current_count] current block of each warp; a hint, possibly stale; see kHalfFree
    WarpWords fetching;  ///< [current_count] 1 while a warp of the group opens a page for all; a hint
    std::uint32_t blocks_per_page;  ///< at most block_stride()
  };

  /// Added to a block in `current` by an opener that took the lower half of its slots: so the upper half was free.
  static constexpr std::uint32_t kHalfFree = std::uint32_t{1} << 31;

  // The state, laid out by HeapMemory. Block b is block b % block_stride() of page b / block_stride().
  std::uint32_t pages;
  std::uint32_t block_shift;       ///< logarithm of block_stride()
  std::uint32_t current_count;     ///< current blocks per type
  int few_pages;                   ///< if at most so many of a container's pages are free, warps share new ones
  BlockWords slots;                ///< [blocks] slot bitmaps; all ones while the block is closed
  Word<std::uint32_t>* token;      ///< [blocks] ownership tokens: 0 if there is none, else token_of(type)
  Word<std::uint32_t>* page_type;  ///< [pages] type index; stable while a block of the page is open or held
  WarpWords page_hint;             ///< [current_count] where each warp found its last free page
  Word<std::uint64_t>* full_at;    ///< [kTypes] stamp of the last proof that the heap is full, see fullness.h
  Word<std::uint64_t>* refusals;   ///< [refusal_words(kTypes)] objects refused
  Bits free_pages;
  Counter pages_freed;  ///< pages that became free, at first or later
  Counter pages_taken;  ///< of these, those that are in use

  /// Block numbers per page. A power of two, because requests divide by it.
  __host__ __device__ std::uint32_t block_stride() const { return 1u << block_shift; }
  __host__ __device__ std::uint32_t blocks() const { return pages << block_shift; }

  /// An ownership token tells the block's type, so that a thread that takes it need not look for it.
  __host__ __device__ static std::uint32_t token_of(int type) { return static_cast<std::uint32_t>(type) + 1; }
  __host__ __device__ static int type_of_token(std::uint32_t token) { return static_cast<int>(token) - 1; }
};

}  // namespace dynasoar
