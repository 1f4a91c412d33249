/// @file
/// Statistics: how many objects there are and how well they fill their blocks, as numbers and as a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <dynasoar/base/capped.h>

namespace dynasoar {

/// One class's share of a heap.
struct TypeStatistics {
  std::string name;
  std::uint64_t objects = 0;             ///< live objects of exactly this class
  std::uint64_t created = 0;             ///< objects created since the start; but see docs/how-to/lattices.md
  std::uint64_t blocks = 0;              ///< blocks that hold objects of it
  std::uint64_t slots = 0;               ///< slots of these blocks, 64 each
  std::size_t block_bytes = 0;           ///< bytes of a block, with its alignment
  std::uint64_t refused_full = 0;        ///< objects not created since the start because the heap was full
  std::uint64_t refused_contended = 0;   ///< objects not created because blocks kept changing hands
  std::uint64_t refused_on_request = 0;  ///< objects not created because of FaultInjection
  std::uint64_t refused_table = 0;       ///< objects not created because an AosAllocator's table of objects was full

  /// Objects not created since the start; 2^64 - 1 if there were more, here and in `refused_full`.
  std::uint64_t refused() const {
    return detail::capped_sum(refused_full, refused_contended + refused_on_request + refused_table);
  }

  /// Objects deleted since the start.
  std::uint64_t deleted() const { return created - objects; }

  /// Share of allocated slots that hold no object (DynaSOAr, section 7); 0 if no block is allocated.
  double fragmentation() const {
    return slots == 0 ? 0.0 : 1.0 - static_cast<double>(objects) / static_cast<double>(slots);
  }
};

/// A heap at one moment.
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
  std::uint64_t created() const { return sum(&TypeStatistics::created); }
  std::uint64_t deleted() const { return created() - objects(); }
  std::uint64_t slots() const { return sum(&TypeStatistics::slots); }
  std::uint64_t refused() const {
    std::uint64_t total = 0;
    for (const TypeStatistics& type : types) total = detail::capped_sum(total, type.refused());
    return total;
  }

  /// Share of allocated slots, over all classes, that hold no object.
  double fragmentation() const {
    return slots() == 0 ? 0.0 : 1.0 - static_cast<double>(objects()) / static_cast<double>(slots());
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

/// A table, one line per class.
std::ostream& operator<<(std::ostream& out, const Statistics& statistics);

/// The same numbers as a JSON object, on one line: those of the heap, and an array `types` with an object per class.
/// Names are those of the members.
std::string to_json(const Statistics& statistics);

}  // namespace dynasoar
