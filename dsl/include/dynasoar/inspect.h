/// @file
/// Pictures of what is inside a heap, as SVG files: layout_svg shows how the fields of each class lie in a block,
/// heap_svg which blocks there are and how full they are. Not part of dynasoar.h, because few files need it.
#pragma once

#include <string>
#include <vector>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/placed_classes.h>
#include <dynasoar/heap/heap_map.h>
#include <dynasoar/statistics.h>

namespace dynasoar {

namespace detail {

/// @throws Error if the file cannot be written
void draw_layout(const ClassTable& classes, const std::string& path);
void draw_heap(const ClassTable& classes, const Statistics& now, const std::vector<BlockMark>& marks,
               const std::vector<PlacedMap>& placed, const std::string& path);

}  // namespace detail

/// Draws how the fields of each class of an allocator lie in a block: order, offsets, bytes, and what is unused.
/// `layout_svg<AllocatorT>("layout.svg")`.
///
/// @tparam AllocatorT   a SoaAllocator of complete classes
/// @throws Error if the file cannot be written
template <class AllocatorT>
void layout_svg(const std::string& path) {
  static_assert(
      AllocatorT::kCompacts,
      "dynasoar: layout_svg is for SoaAllocators: an AosAllocator has each object in one piece, without blocks");
  detail::draw_layout(detail::class_table_v<AllocatorT>, path);
}

/// Draws all blocks of a heap, in their order, coloured by class, the stronger the fuller they are, so that one sees
/// how fragmented it is (if any class has its objects there); and the places of each class that is on a lattice, 64 by
/// 64. A large heap's or lattice's
/// picture has a square for several blocks, and says for how many. Waits for all loops; leaves it to other calls to
/// report misuse and refusals.
///
/// @throws Error if the file cannot be written, or the device failed
template <class AllocatorT>
void heap_svg(AllocatorHandle<AllocatorT>& handle, const std::string& path) {
  static_assert(AllocatorT::kCompacts,
                "dynasoar: heap_svg is for SoaAllocators: an AosAllocator's heap is its allocator's own");
  const Statistics now = handle.statistics();
  detail::draw_heap(detail::class_table_v<AllocatorT>, now, detail::heap_map(handle.executor(), handle.state().heap),
                    handle.loops().placed().maps(), path);
}

}  // namespace dynasoar
