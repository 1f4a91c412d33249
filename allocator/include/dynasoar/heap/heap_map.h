/// @file
/// heap_map: the use of every block of a heap, for heap_svg (dynasoar/statistics.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

enum class BlockState : std::uint8_t {
  free_page,  ///< its page belongs to no class
  unused,     ///< the number stands for no block, because the page's class has fewer blocks in a page
  closed,     ///< in a page of a class, without objects
  open        ///< has objects, or is just being opened or closed
};

/// The use of a block.
struct BlockMark {
  BlockState state;
  std::uint8_t type;  ///< index of the page's class
  std::uint8_t objects;
};

/// Finds the use of one block.
template <class Heap>
struct MarkBlock {
  Heap heap;
  BlockMark* marks;  // [blocks]

  __device__ void operator()(std::size_t index) const {
    const auto block = static_cast<std::uint32_t>(index);
    const std::uint32_t page = block >> heap.block_shift;
    BlockMark mark{BlockState::free_page, 0, 0};
    if ((heap.free_pages.container(0, page / 64) >> page % 64 & 1) == 0) {
      const std::uint32_t type = heap.page_type[page].load(Order::relaxed);
      mark.type = static_cast<std::uint8_t>(type);
      if (block % heap.block_stride() >= heap.types[type].blocks_per_page) {
        mark.state = BlockState::unused;
      } else if ((heap.types[type].allocated.container(0, block / 64) >> block % 64 & 1) == 0) {
        mark.state = BlockState::closed;
      } else {
        mark.state = BlockState::open;
        mark.objects = static_cast<std::uint8_t>(popcount(heap.slots[block].load(Order::relaxed)));
      }
    }
    marks[index] = mark;
  }
};

/// A mark for each block number. Waits for the device. @pre no loop runs
template <class Heap>
std::vector<BlockMark> heap_map(Executor& executor, const Heap& heap) {
  DeviceArray<BlockMark> marks(heap.blocks());
  executor.for_each_index(heap.blocks(), MarkBlock<Heap>{heap, marks.data()});
  executor.synchronize();
  return marks.download();
}

}  // namespace dynasoar::detail
