/// @file
/// Statistics: how many objects there are and how well they fill their blocks or lattices. FieldAccesses: how often
/// loops read and wrote each field, from builds that count this (DYNASOAR_COUNT_ACCESSES). Both as numbers and as
/// tables. Pictures as SVG files: layout_svg shows how the fields of each class lie in a block, heap_svg which blocks
/// there are and how full they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <dynasoar/base/capped.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_map.h>

namespace dynasoar {

template <class>
class AllocatorHandle;

/// One class: its objects, and its share of the heap or of a lattice.
struct TypeStatistics {
  std::string name;
  std::uint64_t objects = 0;             ///< live objects of exactly this class
  bool in_heap = true;                   ///< false for a placed class of a SoaAllocator: the lattice owns its blocks
  std::uint64_t blocks = 0;              ///< blocks of the heap that hold objects of it
  std::uint64_t slots = 0;               ///< slots of these blocks, 64 each
  std::size_t block_bytes = 0;           ///< bytes of a block, with its alignment
  std::uint64_t places = 0;              ///< places of its lattice; 0 if it has none
  std::size_t lattice_bytes = 0;         ///< the part of `Lattice::bytes` that this class takes
  std::uint64_t refused_full = 0;        ///< objects not created since the start because the heap was full
  std::uint64_t refused_contended = 0;   ///< objects not created because blocks kept changing hands
  std::uint64_t refused_on_request = 0;  ///< objects not created because of FaultInjection
  std::uint64_t refused_table = 0;       ///< objects not created because an AosAllocator's table of objects was full

  /// Objects created since the start; of a placed class, since its lattice was made or loaded. Nothing if they are not
  /// counted: of placed classes, only checked builds and builds with DYNASOAR_COUNT_ACCESSES count them.
  std::optional<std::uint64_t> created;

  /// Objects not created since the start; 2^64 - 1 if there were more, here and in `refused_full`.
  std::uint64_t refused() const {
    return detail::capped_sum(refused_full, refused_contended + refused_on_request + refused_table);
  }

  /// Objects deleted since then; nothing if they are not counted.
  std::optional<std::uint64_t> deleted() const {
    return created ? std::optional<std::uint64_t>(*created - objects) : std::nullopt;
  }

  /// Share of allocated slots that hold no object (DynaSOAr, section 7); 0 if no block is allocated.
  double fragmentation() const {
    return slots == 0 ? 0.0 : 1.0 - static_cast<double>(objects) / static_cast<double>(slots);
  }

  /// Share of the places that have an object of this class; 0 if it has no lattice.
  double taken() const { return places == 0 ? 0.0 : static_cast<double>(objects) / static_cast<double>(places); }
};

/// A heap and its handle's lattices at one moment.
struct Statistics {
  std::vector<TypeStatistics> types;
  std::size_t heap_bytes = 0;        ///< for objects
  std::size_t heap_limit_bytes = 0;  ///< how far the heap may grow; heap_bytes if it cannot
  std::uint64_t growths = 0;         ///< how often it has grown
  std::size_t state_bytes = 0;       ///< beside the heap: bitmaps, tokens, lists
  std::size_t page_bytes = 0;
  std::uint64_t pages = 0;
  std::uint64_t free_pages = 0;

  std::uint64_t objects() const { return sum(&TypeStatistics::objects); }

  /// Objects created since the start, of the classes whose objects are counted.
  std::uint64_t created() const {
    std::uint64_t total = 0;
    for (const TypeStatistics& type : types) total += type.created.value_or(0);
    return total;
  }

  /// Objects deleted since the start, of the same classes.
  std::uint64_t deleted() const {
    std::uint64_t total = 0;
    for (const TypeStatistics& type : types) total += type.deleted().value_or(0);
    return total;
  }

  /// Live objects in the heap.
  std::uint64_t objects_in_heap() const {
    std::uint64_t total = 0;
    for (const TypeStatistics& type : types) total += type.in_heap ? type.objects : 0;
    return total;
  }

  std::uint64_t slots() const { return sum(&TypeStatistics::slots); }
  std::uint64_t refused() const {
    std::uint64_t total = 0;
    for (const TypeStatistics& type : types) total = detail::capped_sum(total, type.refused());
    return total;
  }

  /// Share of allocated slots, over all classes, that hold no object.
  double fragmentation() const {
    return slots() == 0 ? 0.0 : 1.0 - static_cast<double>(objects_in_heap()) / static_cast<double>(slots());
  }

  /// Share of the heap's pages that belong to a class.
  double used() const { return pages == 0 ? 0.0 : 1.0 - static_cast<double>(free_pages) / static_cast<double>(pages); }

 private:
  std::uint64_t sum(std::uint64_t TypeStatistics::*member) const {
    std::uint64_t total = 0;
    for (const TypeStatistics& type : types) total += type.*member;
    return total;
  }
};

/// A table with one line per class of the heap, and one with a line per class on a lattice; either only if there are
/// such classes.
std::ostream& operator<<(std::ostream& out, const Statistics& statistics);

/// The same numbers as a JSON object, on one line: those of the heap, and an array `types` with an object per class.
/// Names are those of the members.
std::string to_json(const Statistics& statistics);

/// Accesses to a field of the objects of one class.
struct FieldAccess {
  std::string loop;                ///< empty: all loops together, and what was outside of them
  std::string type;                ///< run-time class of the objects
  std::string field;               ///< its name in all_field_names<type>()
  std::uint64_t reads = 0;         ///< of the value, or of an element of an array
  std::uint64_t writes = 0;        ///< assignments; `+=` and the like are a read and a write
  std::uint64_t by_reference = 0;  ///< `get()`, `&field` and elements of arrays, where the object is not const

  std::uint64_t all() const { return reads + writes + by_reference; }
};

/// What was counted since the handle was made.
struct FieldAccesses {
  std::vector<FieldAccess> loops;   ///< those that are not 0, in the order in which loops ran first
  std::vector<FieldAccess> fields;  ///< all fields of all listed classes, over all loops; those never accessed, too
};

/// A table: a line for each loop and field that it accesses, then one for each field.
std::ostream& operator<<(std::ostream& out, const FieldAccesses& accesses);

/// The same as a JSON object, on one line, with the arrays `loops` and `fields`. Names are those of the members.
std::string to_json(const FieldAccesses& accesses);

namespace detail {

struct PlacedMap;

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
/// 64. A large heap's or lattice's picture has a square for several blocks, and says for how many. Waits for all
/// loops; leaves it to other calls to report misuse and refusals.
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
