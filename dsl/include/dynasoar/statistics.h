/// @file
/// Statistics: the numbers of objects, and how well they fill their blocks or lattices. FieldAccesses: how often loops
/// read and wrote each field, from builds that count this (DYNASOAR_COUNT_ACCESSES). Both can be printed as tables.
/// layout_svg and heap_svg draw SVG pictures of the fields in a block and of the blocks in a heap.
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
  std::uint64_t refused_contended = 0;   ///< objects not created because other requests took the slots each time
  std::uint64_t refused_on_request = 0;  ///< objects not created because of FaultInjection
  std::uint64_t refused_table = 0;       ///< objects not created because an AosAllocator's table of objects was full

  /// Objects created since the start; for a placed class, since its lattice was made or loaded. Empty if they are not
  /// counted: objects of placed classes are counted only in checked builds and with DYNASOAR_COUNT_ACCESSES.
  std::optional<std::uint64_t> created;

  /// Objects not created since the start; 2^64 - 1 if there were more, here and in `refused_full`.
  std::uint64_t refused() const {
    return detail::capped_sum(refused_full, refused_contended + refused_on_request + refused_table);
  }

  /// Objects deleted since then; empty if they are not counted.
  std::optional<std::uint64_t> deleted() const {
    return created ? std::optional<std::uint64_t>(*created - objects) : std::nullopt;
  }

  /// Fraction of the allocated slots that hold no object, 0 to 1 (DynaSOAr, section 7); 0 if no block is allocated.
  double fragmentation() const {
    return slots == 0 ? 0.0 : 1.0 - static_cast<double>(objects) / static_cast<double>(slots);
  }

  /// Fraction of the places that have an object of this class, 0 to 1; 0 if it has no lattice.
  double taken() const { return places == 0 ? 0.0 : static_cast<double>(objects) / static_cast<double>(places); }
};

/// A heap and its handle's lattices at one moment.
struct Statistics {
  std::vector<TypeStatistics> types;
  std::size_t heap_bytes = 0;        ///< for objects
  std::size_t heap_limit_bytes = 0;  ///< limit of the heap's size; heap_bytes if it cannot grow
  std::uint64_t growths = 0;         ///< how often it has grown
  std::size_t state_bytes = 0;       ///< in addition to the heap: bitmaps, tokens, lists
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

  /// Fraction of the allocated slots of all classes that hold no object, 0 to 1.
  double fragmentation() const {
    return slots() == 0 ? 0.0 : 1.0 - static_cast<double>(objects_in_heap()) / static_cast<double>(slots());
  }

  /// Fraction of the heap's pages that belong to a class, 0 to 1.
  double used() const { return pages == 0 ? 0.0 : 1.0 - static_cast<double>(free_pages) / static_cast<double>(pages); }

 private:
  std::uint64_t sum(std::uint64_t TypeStatistics::*member) const {
    std::uint64_t total = 0;
    for (const TypeStatistics& type : types) total += type.*member;
    return total;
  }
};

/// Prints a table with a line for each class in the heap, and a table with a line for each class on a lattice. Leaves
/// out a table without lines.
std::ostream& operator<<(std::ostream& out, const Statistics& statistics);

/// The same numbers as a JSON object, on one line: the numbers of the heap, and an array `types` with an object per
/// class. Keys are the names of the members.
std::string to_json(const Statistics& statistics);

/// Accesses to a field of the objects of one class.
struct FieldAccess {
  std::string loop;                ///< empty: all loops together, and accesses outside of loops
  std::string type;                ///< run-time class of the objects
  std::string field;               ///< its name in all_field_names<type>()
  std::uint64_t reads = 0;         ///< of the value, or of an element of an array
  std::uint64_t writes = 0;        ///< assignments; `+=` and the like are a read and a write
  std::uint64_t by_reference = 0;  ///< `get()`, `&field` and elements of arrays, if the object is not const

  std::uint64_t all() const { return reads + writes + by_reference; }
};

/// The accesses since the handle was made.
struct FieldAccesses {
  std::vector<FieldAccess> loops;   ///< those that are not 0, in the order of the first run of each loop
  std::vector<FieldAccess> fields;  ///< all fields of all listed classes, over all loops; those never accessed, too
};

/// Prints a table with a line for each loop and field that it accesses, and then a line for each field.
std::ostream& operator<<(std::ostream& out, const FieldAccesses& accesses);

/// The same as a JSON object, on one line, with the arrays `loops` and `fields`. Keys are the names of the members.
std::string to_json(const FieldAccesses& accesses);

namespace detail {

struct PlacedMap;

/// @throws Error if the file cannot be written
void draw_layout(const ClassTable& classes, const std::string& path);
void draw_heap(const ClassTable& classes, const Statistics& now, const std::vector<BlockMark>& marks,
               const std::vector<PlacedMap>& placed, const std::string& path);

}  // namespace detail

/// Draws how the fields of each class of an allocator lie in a block, with their order, offsets and bytes, and the
/// unused bytes: `layout_svg<AllocatorT>("layout.svg")`.
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

/// Draws all blocks of a heap in their order. The colour stands for the class, and fuller blocks have stronger colours,
/// so the picture shows how fragmented the heap is. Also draws the places of each class on a lattice, 64 per square. In
/// the picture of a large heap or lattice, a square stands for several blocks; a text says for how many. Waits for all
/// loops, but leaves it to other calls to report misuse and refusals.
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
