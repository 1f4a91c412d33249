/// @file
/// StructureOfArrays and ArrayOfStructures: two layouts of records in device memory. A hand-written baseline is
/// compiled for both, so that the two differ only in the layout.
///
///     struct Cell { std::uint32_t age; std::uint8_t kind; };
///
///     app::ArrayOfStructures<Cell> cells(n);                          // one array of Cell
///     app::StructureOfArrays<&Cell::kind, &Cell::age> cells(n);       // an array for each member
///
/// Device code gets a view of either by value: `view.at<&Cell::kind>(i)` is a reference to the kind of record i.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>

namespace app {

namespace detail {

template <class Record, class T>
T type_of_member(T Record::*);

template <auto member>
using MemberType = decltype(type_of_member(member));

template <auto member>
struct MemberPointer {
  MemberType<member>* values;
};

template <auto member>
struct MemberArray {
  dynasoar::DeviceArray<MemberType<member>> array;
};

}  // namespace detail

/// An array for every one of the members, which are those of one struct.
template <auto... members>
class StructureOfArrays : detail::MemberArray<members>... {
 public:
  struct View : detail::MemberPointer<members>... {
    template <auto member>
    __device__ detail::MemberType<member>& at(std::uint32_t i) const {
      return detail::MemberPointer<member>::values[i];
    }
  };

  explicit StructureOfArrays(std::size_t records)
      : detail::MemberArray<members>{dynasoar::DeviceArray<detail::MemberType<members>>(records)}... {}

  View view() const { return {{detail::MemberArray<members>::array.data()}...}; }

  /// Sets every byte to `value`.
  void fill_bytes(unsigned char value) { (detail::MemberArray<members>::array.fill_bytes(value), ...); }
};

/// One array of records.
template <class Record>
class ArrayOfStructures {
 public:
  struct View {
    Record* records;

    template <auto member>
    __device__ detail::MemberType<member>& at(std::uint32_t i) const {
      return records[i].*member;
    }
  };

  explicit ArrayOfStructures(std::size_t records) : records_(records) {}

  View view() const { return {records_.data()}; }

  void fill_bytes(unsigned char value) { records_.fill_bytes(value); }

 private:
  dynasoar::DeviceArray<Record> records_;
};

}  // namespace app
