#include <dynasoar/detail/read_columns.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include <dynasoar/classes/device_classes.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/detail/field_names.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

namespace {

/// The objects of a block, and the row of the first one.
struct GatheredBlock {
  std::uint64_t slots;
  std::uint64_t first_row;
  std::uint64_t offset;  ///< of the block in the heap
  std::uint32_t block;
  std::uint32_t unused;
};

/// Copies a field of the objects of a class to their rows.
struct GatherField {
  const GatheredBlock* blocks;
  ObjectPlaces places;
  CopiedField field;
  char* rows;

  __device__ void operator()(std::size_t task) const {
    const GatheredBlock& from = blocks[task / 64];
    const auto slot = static_cast<std::uint32_t>(task % 64);
    if ((from.slots >> slot & 1) == 0) return;
    const std::uint64_t row = from.first_row + static_cast<std::uint64_t>(popcount(from.slots & first_bits(slot)));
    char* const to = rows + row * field.count * field.bytes;
    const char* const values = first_value(from, slot);
    for (std::size_t i = 0; i < field.count; ++i) {
      copy_bytes(to + i * field.bytes, values + i * field.stride, field.bytes, field.alignment);
    }
  }

 private:
  __device__ const char* first_value(const GatheredBlock& from, std::uint32_t slot) const {
    if (places.objects == nullptr) {
      return places.base + from.offset + field.offset + slot * std::size_t{field.bytes};
    }
    const std::uint64_t object = places.objects[std::size_t{from.block} * 64 + slot];
    return reinterpret_cast<const char*>(object & kAddressMask) + field.offset;
  }
};

/// The `id` of an object, which differs from those of all other live objects of its allocator: the number of its block
/// times 64, plus its slot; for an object in one piece, its address; -1 for null.
std::int64_t object_id(const ClassTable& classes, std::uint64_t bits) {
  if (bits == 0) return -1;
  if (!classes.has_blocks()) return static_cast<std::int64_t>(bits & kAddressMask);
  const Handle handle(bits);
  if (handle.type_index() < 0 || handle.type_index() >= classes.size()) return -2;  // not a pointer of this allocator
  const std::uint32_t block = classes.block_at(handle.block_offset(), static_cast<std::size_t>(handle.type_index()));
  return std::int64_t{block} * 64 + handle.slot();
}

/// Makes columns from the bytes of a field.
class ColumnMaker {
 public:
  /// @param bytes   the bytes of all rows; each row has `elements` elements of `element_bytes`
  ColumnMaker(std::vector<std::byte> bytes, std::size_t element_bytes, std::size_t elements, std::vector<Column>& to)
      : bytes_(std::move(bytes)), element_bytes_(element_bytes), elements_(elements), to_(to) {}

  /// Adds the columns of a part of the elements. @param offset   of the part in an element
  void add(const ValueInfo& value, const std::string& name, std::size_t offset) {
    switch (value.nature) {
      case ValueInfo::Nature::number: return add_numbers(value, name, offset);
      case ValueInfo::Nature::pointer: return add_pointers(value, name, offset);
      case ValueInfo::Nature::array:
        for (std::size_t i = 0; i < value.parts; ++i) {
          add(*value.part, name + '.' + std::to_string(i), offset + i * value.part->bytes);
        }
        return;
      case ValueInfo::Nature::members: return add_members(value, name, offset);
      case ValueInfo::Nature::bytes: break;
    }
    Column& column = to_.emplace_back(Column{name, ColumnType::u8, elements_ * value.bytes, {}, {}});
    copy_part(column, offset, value.bytes);
  }

 private:
  std::size_t count() const { return bytes_.size() / element_bytes_; }

  void copy_part(Column& column, std::size_t offset, std::size_t bytes) const {
    column.data.resize(count() * bytes);
    for (std::size_t i = 0; i < count(); ++i) {
      std::memcpy(&column.data[i * bytes], &bytes_[i * element_bytes_ + offset], bytes);
    }
  }

  void add_numbers(const ValueInfo& value, const std::string& name, std::size_t offset) {
    Column& column = to_.emplace_back(Column{name, value.type, elements_, {}, {}});
    if (element_bytes_ == value.bytes) {
      column.data = std::move(bytes_);
    } else {
      copy_part(column, offset, value.bytes);
    }
  }

  void add_pointers(const ValueInfo& value, const std::string& name, std::size_t offset) {
    Column& column = to_.emplace_back(Column{name, ColumnType::i64, elements_, {}, {}});
    if (value.format == nullptr) {
      copy_part(column, offset, sizeof(std::uint64_t));
    } else {
      copy_decompressed(column, offset, *value.format);
    }
    if (value.classes == nullptr) return;
    for (std::size_t i = 0; i < count(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &column.data[i * sizeof bits], sizeof bits);
      const std::int64_t id = object_id(*value.classes, bits);
      std::memcpy(&column.data[i * sizeof id], &id, sizeof id);
    }
  }

  void copy_decompressed(Column& column, std::size_t offset, const PointerFormat& format) const {
    column.data.resize(count() * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < count(); ++i) {
      std::uint32_t compressed = 0;
      std::memcpy(&compressed, &bytes_[i * element_bytes_ + offset], sizeof compressed);
      const std::uint64_t bits = format.decode(compressed).bits();
      std::memcpy(&column.data[i * sizeof bits], &bits, sizeof bits);
    }
  }

  void add_members(const ValueInfo& value, const std::string& name, std::size_t offset) {
    std::vector<ValueMember> members;
    value.list_members(members);
    for (const ValueMember& member : members) {
      add(*member.info, (name + '.').append(member.name), offset + member.offset);
    }
  }

  std::vector<std::byte> bytes_;
  std::size_t element_bytes_;
  std::size_t elements_;
  std::vector<Column>& to_;
};

class ColumnReader {
 public:
  ColumnReader(Executor& executor, const ClassTable& classes, View<ObjectPlaces> places, const ColumnRequest& request)
      : executor_(executor), classes_(classes), request_(request) {
    executor_.synchronize();
    for (const std::size_t type : request.classes) add_part(type, places[type]);
  }

  Columns read() {
    Columns result{std::string(plain_name(request_.name)), ids_.size(), {}};
    result.columns.push_back(make_column("id", ids_));
    if (parts_.size() > 1) add_classes(result.columns);
    const std::vector<std::string> names = field_names_of(request_.fields);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const FieldInfo& field = request_.fields[i];
      ColumnMaker(gather(field), field.bytes, field.count, result.columns).add(*request_.values[i], names[i], 0);
    }
    return result;
  }

  /// Adds columns with the places of placed objects: `place`, the number of the place and, on a lattice of several
  /// axes, its coordinates.
  void add_places(Columns& table) const {
    std::vector<std::int64_t> numbers;
    std::array<std::vector<std::int32_t>, 3> coordinates;
    int axes = 0;
    for (const Part& part : parts_) {
      if (part.places.shape == nullptr) return;  // all classes of a hierarchy are placed, or none
      axes = std::max(axes, part.places.shape->axes());
      for (std::size_t row = part.first_row; row < part.first_row + part.rows; ++row) {
        const Place place(slots_[row]);
        const LatticeVector at = part.places.shape->coordinates(place);
        numbers.push_back(static_cast<std::int64_t>(part.places.shape->number(place)));
        coordinates[0].push_back(at.x);
        coordinates[1].push_back(at.y);
        coordinates[2].push_back(at.z);
      }
    }
    std::vector<Column> columns{make_column("place", numbers)};
    for (int axis = 0; axis < axes && axes > 1; ++axis) {
      columns.push_back(make_column(std::string(1, "xyz"[axis]), coordinates[static_cast<std::size_t>(axis)]));
    }
    const auto behind = table.columns.begin() + (parts_.size() > 1 ? 2 : 1);  // `id` and `class`
    table.columns.insert(behind, columns.begin(), columns.end());
  }

 private:
  struct Part {
    std::size_t type;
    ObjectPlaces places;
    std::size_t first_row;
    std::size_t rows;
    DeviceArray<GatheredBlock> blocks;
  };

  /// Sorts the blocks of a class, so that rows are in the order of the heap.
  void add_part(std::size_t type, const ObjectPlaces& places) {
    ListSize size{};
    copy_from_device(&size, places.list.size, sizeof size);
    std::vector<ListedBlock> entries(size.blocks);
    if (size.blocks > 0) copy_from_device(entries.data(), places.list.entries, size.blocks * sizeof(ListedBlock));
    std::sort(entries.begin(), entries.end(),
              [](const ListedBlock& a, const ListedBlock& b) { return a.block < b.block; });
    std::vector<std::uint64_t> objects;  // objects in one piece
    if (places.objects != nullptr) objects.resize(slots_until(entries));
    if (!objects.empty()) copy_from_device(objects.data(), places.objects, objects.size() * sizeof(std::uint64_t));
    std::vector<GatheredBlock> blocks;
    const std::size_t first_row = ids_.size();
    for (const ListedBlock& entry : entries) {
      const std::size_t offset = classes_.has_blocks() ? classes_.block_offset(entry.block, type) : 0;
      blocks.push_back({entry.slots, ids_.size(), offset, entry.block, 0});
      for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
        const std::size_t slot = std::size_t{entry.block} * 64 + static_cast<std::size_t>(lowest_bit(left));
        ids_.push_back(places.objects == nullptr ? static_cast<std::int64_t>(slot)
                                                 : object_id(classes_, objects[slot]));
        if (places.shape != nullptr) slots_.push_back(slot);
      }
    }
    Part part{type, places, first_row, ids_.size() - first_row, DeviceArray<GatheredBlock>(blocks.size())};
    part.blocks.upload(blocks);
    parts_.push_back(std::move(part));
  }

  /// The number of slots up to the last one with an object. @pre the entries are sorted
  static std::size_t slots_until(const std::vector<ListedBlock>& entries) {
    if (entries.empty()) return 0;
    const ListedBlock& last = entries.back();
    return std::size_t{last.block} * 64 + static_cast<std::size_t>(std::bit_width(last.slots));
  }

  void add_classes(std::vector<Column>& columns) const {
    std::vector<std::uint8_t> numbers;
    std::vector<std::string> labels;
    for (const Part& part : parts_) {
      numbers.resize(numbers.size() + part.rows, static_cast<std::uint8_t>(labels.size()));
      labels.emplace_back(plain_name(classes_[part.type].name));
    }
    columns.push_back(make_column("class", numbers));
    columns.back().labels = std::move(labels);
  }

  /// @return the bytes of all rows
  std::vector<std::byte> gather(const FieldInfo& field) {
    const DeviceArray<std::byte> rows(ids_.size() * field.count * field.bytes);
    for (const Part& part : parts_) {
      executor_.for_each_index(
          part.blocks.size() * 64,
          GatherField{part.blocks.data(), part.places, CopiedField::of(field), reinterpret_cast<char*>(rows.data())});
    }
    executor_.synchronize();
    return rows.download();
  }

  Executor& executor_;
  const ClassTable& classes_;
  const ColumnRequest& request_;
  std::vector<Part> parts_;           // of the subclasses, in their order
  std::vector<std::int64_t> ids_;     // of all rows
  std::vector<std::uint64_t> slots_;  // of rows of placed objects
};

}  // namespace

Columns read_columns(Executor& executor, const ClassTable& classes, View<ObjectPlaces> places,
                     const ColumnRequest& request) {
  ColumnReader reader(executor, classes, places, request);
  Columns table = reader.read();
  reader.add_places(table);
  return table;
}

Columns read_all_columns(Executor& executor, const ClassTable& classes, View<ObjectPlaces> places,
                         const ColumnRequest& request, View<const ColumnRequest*> subtypes) {
  ColumnReader reader(executor, classes, places, request);
  Columns table = reader.read();
  if (subtypes.size() > 1) {
    std::vector<Columns> subclasses;
    for (const ColumnRequest* const subtype : subtypes) {
      if (subtype->name == request.name) continue;
      subclasses.push_back(ColumnReader(executor, classes, places, *subtype).read());
    }
    table = with_fields_of(std::move(table), subclasses);
  }
  reader.add_places(table);
  return table;
}

}  // namespace dynasoar::detail
