/// @file
/// Statistics: how many objects there are and how well they fill their blocks, as numbers and as a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace dynasoar {

/// One class's share of a heap.
struct TypeStatistics {
  std::string name;
  std::uint64_t objects = 0;             ///< live objects of exactly this class
  std::uint64_t created = 0;             ///< objects created since the start
  std::uint64_t blocks = 0;              ///< blocks that hold objects of it
  std::uint64_t slots = 0;               ///< slots of these blocks, 64 each
  std::size_t block_bytes = 0;           ///< bytes of a block, with its alignment
  std::uint64_t refused_full = 0;        ///< objects not created since the start because the heap was full
  std::uint64_t refused_contended = 0;   ///< objects not created because blocks kept changing hands
  std::uint64_t refused_on_request = 0;  ///< objects not created because of FaultInjection
  std::uint64_t refused_table = 0;       ///< objects not created because an AosAllocator's table of objects was full

  /// Objects not created since the start.
  std::uint64_t refused() const { return refused_full + refused_contended + refused_on_request + refused_table; }

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
    return sum(&TypeStatistics::refused_full) + sum(&TypeStatistics::refused_contended) +
           sum(&TypeStatistics::refused_on_request) + sum(&TypeStatistics::refused_table);
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
inline std::ostream& operator<<(std::ostream& out, const Statistics& statistics) {
  const std::ios_base::fmtflags flags = out.flags();
  const std::streamsize precision = out.precision();
  const auto line = [&out](const auto& name, const auto& objects, const auto& slots, const auto& blocks,
                           const auto& fragmentation, const auto& refused) {
    out << std::left << std::setw(24) << name << std::right << std::setw(14) << objects << std::setw(14) << slots
        << std::setw(12) << blocks << std::setw(12) << fragmentation << std::setw(12) << refused << '\n';
  };
  out << std::fixed << std::setprecision(3);
  line("class", "objects", "slots", "blocks", "fragmented", "refused");
  for (const TypeStatistics& type : statistics.types) {
    line(type.name, type.objects, type.slots, type.blocks, type.fragmentation(), type.refused());
  }
  line("all", statistics.objects(), statistics.slots(), statistics.slots() / 64, statistics.fragmentation(),
       statistics.refused());
  out << "heap: " << statistics.heap_bytes << " bytes, " << statistics.pages << " pages of " << statistics.page_bytes
      << ", " << std::setprecision(1) << 100 * statistics.used() << "% used; state: " << statistics.state_bytes
      << " bytes\n";
  out.flags(flags);
  out.precision(precision);
  return out;
}

namespace detail {

/// A string as JSON writes it.
inline std::string json_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace detail

/// The same numbers as a JSON object, on one line: those of the heap, and an array `types` with an object per class.
/// Names are those of the members.
inline std::string to_json(const Statistics& statistics) {
  std::ostringstream out;
  out << "{\"heap_bytes\": " << statistics.heap_bytes << ", \"heap_limit_bytes\": " << statistics.heap_limit_bytes
      << ", \"growths\": " << statistics.growths << ", \"state_bytes\": " << statistics.state_bytes
      << ", \"page_bytes\": " << statistics.page_bytes << ", \"pages\": " << statistics.pages
      << ", \"free_pages\": " << statistics.free_pages << ", \"types\": [";
  for (std::size_t i = 0; i < statistics.types.size(); ++i) {
    const TypeStatistics& type = statistics.types[i];
    out << (i > 0 ? ", " : "") << "{\"name\": " << detail::json_text(type.name) << ", \"objects\": " << type.objects
        << ", \"created\": " << type.created << ", \"deleted\": " << type.deleted() << ", \"blocks\": " << type.blocks
        << ", \"slots\": " << type.slots << ", \"block_bytes\": " << type.block_bytes
        << ", \"fragmentation\": " << type.fragmentation() << ", \"refused_full\": " << type.refused_full
        << ", \"refused_contended\": " << type.refused_contended
        << ", \"refused_on_request\": " << type.refused_on_request << ", \"refused_table\": " << type.refused_table
        << '}';
  }
  out << "]}";
  return out.str();
}

}  // namespace dynasoar
