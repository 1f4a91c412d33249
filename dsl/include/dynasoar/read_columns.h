/// @file
/// read_columns: gathers the fields of all objects of a class, field by field, into arrays in the host's memory. Used
/// by AllocatorHandle::columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/checkpoint_classes.h>
#include <dynasoar/allocator/handle.h>
#include <dynasoar/allocator/layout.h>
#include <dynasoar/column_parts.h>
#include <dynasoar/columns.h>
#include <dynasoar/field_names.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/loops.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/type_name.h>

namespace dynasoar::detail {

/// Objects of a block, and the row of the first of them.
struct GatheredBlock {
  std::uint64_t slots;
  std::uint64_t first_row;
  std::uint32_t block;
  std::uint32_t unused;
};

/// Copies C's field I of an object of S to its row.
template <class A, class S, class C, std::size_t I>
struct GatherField {
  using Field = FieldArrays<C, I>;
  using Element = typename Field::Element;

  const GatheredBlock* blocks;
  char* rows;

  __device__ void operator()(std::size_t task) const {
    const GatheredBlock& from = blocks[task / 64];
    const auto slot = static_cast<std::uint32_t>(task % 64);
    if ((from.slots >> slot & 1) == 0) return;
    const std::uint64_t row = from.first_row + static_cast<std::uint64_t>(popcount(from.slots & first_bits(slot)));
    const Handle object(reinterpret_cast<std::uint64_t>(A::template object<S>(from.block, slot)));
    const char* const first = reinterpret_cast<const char*>(A::template field<C, static_cast<int>(I), Element>(object));
    Element* const to = reinterpret_cast<Element*>(rows) + row * Field::kCount;
    for (std::size_t i = 0; i < Field::kCount; ++i) {
      copy_value(to + i, reinterpret_cast<const Element*>(first + i * A::template kArrayStride<Element>));
    }
  }
};

/// Writes the handles of objects to their rows.
template <class A, class S>
struct GatherHandles {
  const GatheredBlock* blocks;
  std::uint64_t* rows;

  __device__ void operator()(std::size_t task) const {
    const GatheredBlock& from = blocks[task / 64];
    const auto slot = static_cast<std::uint32_t>(task % 64);
    if ((from.slots >> slot & 1) == 0) return;
    const std::uint64_t row = from.first_row + static_cast<std::uint64_t>(popcount(from.slots & first_bits(slot)));
    rows[row] = reinterpret_cast<std::uint64_t>(A::template object<S>(from.block, slot));
  }
};

/// What is gathered of objects of several classes. Outside of ColumnReader, because nvcc names them in code of its own.
template <class A, class C, std::size_t I>
struct GatherFieldOf {
  template <class S>
  using Of = GatherField<A, S, C, I>;
};
template <class A>
struct GatherHandlesOf {
  template <class S>
  using Of = GatherHandles<A, S>;
};

/// @tparam A   the allocator
/// @tparam T   whose objects, and those of its subclasses, are read
template <class A, class T>
class ColumnReader {
 public:
  /// @pre lists are made
  ColumnReader(Executor& executor, const typename A::Storage& storage) : executor_(executor) {
    executor_.synchronize();
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) { place<S>(storage); });
  }

  Columns read() {
    bring_up_to_date<A>(executor_);
    Columns result{std::string(plain_name(type_name<T>())), rows_, {}};
    add_ids(result.columns);
    if (A::template Subtypes<T>::size > 1) add_classes(result.columns);
    const std::vector<std::string> names = all_field_names<T>();
    std::size_t number = 0;
    add_fields<T>(result.columns, names, number);
    return result;
  }

 private:
  struct Part {
    DeviceArray<GatheredBlock> blocks;
    std::size_t first_row;
    std::size_t rows;
  };

  /// Sorts the blocks, so that rows are in the order of the heap.
  template <class S>
  void place(const typename A::Storage& storage) {
    const BlockList& list = storage.state().lists[A::template index_of<S>];
    std::uint32_t count = 0;
    copy_from_device(&count, list.count, sizeof count);
    std::vector<ListedBlock> entries(count);
    if (count > 0) copy_from_device(entries.data(), list.entries, count * sizeof(ListedBlock));
    std::sort(entries.begin(), entries.end(),
              [](const ListedBlock& a, const ListedBlock& b) { return a.block < b.block; });
    std::vector<GatheredBlock> blocks;
    const std::size_t first_row = rows_;
    for (const ListedBlock& entry : entries) {
      blocks.push_back({entry.slots, rows_, entry.block, 0});
      rows_ += static_cast<std::size_t>(popcount(entry.slots));
    }
    Part& part = parts_.emplace_back(Part{DeviceArray<GatheredBlock>(blocks.size()), first_row, rows_ - first_row});
    part.blocks.upload(blocks);
  }

  /// Runs Gather::Of<S> for each class S. @return the bytes of all rows
  template <class Gather, class Word>
  std::vector<std::byte> gather(std::size_t bytes_per_row) {
    const DeviceArray<std::byte> rows(rows_ * bytes_per_row);
    std::size_t part = 0;
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      const Part& from = parts_[part++];
      executor_.for_each_index(from.blocks.size() * 64, typename Gather::template Of<S>{
                                                            from.blocks.data(), reinterpret_cast<Word*>(rows.data())});
    });
    executor_.synchronize();
    return rows.download();
  }

  void add_ids(std::vector<Column>& columns) {
    const std::vector<std::byte> bytes = gather<GatherHandlesOf<A>, std::uint64_t>(sizeof(std::uint64_t));
    std::vector<std::int64_t> ids(rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &bytes[row * sizeof bits], sizeof bits);
      ids[row] = object_id<A>(bits);
    }
    columns.push_back(make_column("id", ids));
  }

  void add_classes(std::vector<Column>& columns) {
    std::vector<std::uint8_t> classes;
    std::vector<std::string> labels;
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      classes.resize(classes.size() + parts_[labels.size()].rows, static_cast<std::uint8_t>(labels.size()));
      labels.emplace_back(plain_name(type_name<S>()));
    });
    columns.push_back(make_column("class", classes));
    columns.back().labels = std::move(labels);
  }

  template <class C>
  void add_fields(std::vector<Column>& columns, const std::vector<std::string>& names, std::size_t& number) {
    if constexpr (!std::is_void_v<C>) {
      add_fields<typename C::BaseClass>(columns, names, number);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (add_field<C, I>(columns, names[number++]), ...);
      }
      (std::make_index_sequence<ClassLayout<C>::Own::count>{});
    }
  }

  template <class C, std::size_t I>
  void add_field(std::vector<Column>& columns, const std::string& name) {
    using Field = FieldArrays<C, I>;
    using Element = typename Field::Element;
    ColumnMaker<A> maker(gather<GatherFieldOf<A, C, I>, char>(Field::kCount * sizeof(Element)), sizeof(Element),
                         Field::kCount, columns);
    maker.template add<Element>(name, 0);
  }

  Executor& executor_;
  std::vector<Part> parts_;  // of the subclasses, in their order
  std::size_t rows_ = 0;
};

}  // namespace dynasoar::detail
