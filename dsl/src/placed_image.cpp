#include <dynasoar/detail/placed_image.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

namespace {

/// The positions of rows of layers in an image.
class Rows {
 public:
  explicit Rows(const LatticeShape& shape) : shape_(shape), slab_(slab_of(shape)) {}

  const Slab& slab() const { return slab_; }
  std::uint64_t of_layer() const { return shape_.axes() > 2 ? static_cast<std::uint64_t>(shape_.height()) : 1; }

  /// Whether rows begin with words.
  bool are_words() const { return shape_.is_divided() || shape_.has_blocks_in_rows(); }

  /// The first slot of a row, counted from the first one of the image. @param layer   of the whole lattice
  std::uint64_t slot(std::uint64_t layer, std::uint64_t row) const {
    if (shape_.is_divided())
      return ((layer - slab_.first) * shape_.words_of_layer() + row * (shape_.words_of_layer() / of_layer())) * 64;
    const auto y = static_cast<std::int32_t>(layer), z = static_cast<std::int32_t>(row);
    return shape_.place(shape_.axes() > 2 ? LatticeVector{0, z, y} : LatticeVector{0, y, 0}).slot();
  }

  /// The number of a layer in memory, which may begin with ghosts.
  std::uint64_t in_memory(std::uint64_t layer) const {
    if (!shape_.is_divided()) return layer;
    return layer - slab_.first + shape_.own_words().first / shape_.words_of_layer();
  }

 private:
  const LatticeShape& shape_;
  Slab slab_;
};

/// The offset in the blocks of the i-th value of a field of the object in a slot.
std::size_t value_at(const ClassInfo& info, const FieldInfo& field, std::size_t i, std::uint64_t slot) {
  return slot / 64 * info.block_bytes + field.offset + i * field.stride + slot % 64 * field.bytes;
}

}  // namespace

std::vector<std::size_t> sizes_of(const LatticeShape& shape) {
  std::vector<std::size_t> sizes;
  for (const std::int32_t size : {shape.width(), shape.height(), shape.depth()})
    sizes.push_back(static_cast<std::size_t>(size));
  sizes.resize(static_cast<std::size_t>(shape.axes()));
  return sizes;
}

std::array<bool, 3> periodic_axes(const LatticeShape& shape) {
  return {shape.is_periodic(0), shape.is_periodic(1), shape.is_periodic(2)};
}

Slab slab_of(const LatticeShape& shape) {
  const std::size_t layers = shape.axes() > 1 ? sizes_of(shape).back() : 1;
  if (!shape.is_divided()) return {0, layers, 0};
  const std::uint64_t of_layer = shape.size() / layers, words = shape.words_of_layer();
  const WordRange& own = shape.own_words();
  if (own.words == 0) return {0, 0, 0};
  const std::uint64_t before = own.first / words, after = (shape.words() - own.first - own.words) / words;
  return {static_cast<std::size_t>(shape.number(Place(own.first * 64)) / of_layer),
          static_cast<std::size_t>(shape.own_size() / of_layer), static_cast<std::size_t>(std::max(before, after))};
}

PlacedImage::PlacedImage(const ClassInfo& info, const LatticeShape& shape, bool has_words)
    : info(&info), shape(shape), has_words(has_words) {
  if (has_words) seen.resize(words());
  if (!info.fields.empty()) blocks.resize(words() * info.block_bytes);
}

bool PlacedImage::is_complete() const {
  return seen.size() == (has_words ? words() : 0) &&
         blocks.size() == (info->fields.empty() ? 0 : words() * info->block_bytes);
}

void PlacedImage::copy_from(const PlacedImage& other) {
  const Rows from(other.shape), to(shape);
  const auto width = static_cast<std::uint64_t>(shape.width());
  const bool has_places =
      std::any_of(info->fields.begin(), info->fields.end(), [](const FieldInfo& field) { return field.places > 0; });
  const std::size_t first = std::max(from.slab().first, to.slab().first);
  const std::size_t end = std::min(from.slab().first + from.slab().length, to.slab().first + to.slab().length);
  for (std::uint64_t layer = first; layer < end; ++layer) {
    for (std::uint64_t row = 0; row < to.of_layer(); ++row) {
      const std::uint64_t slot = to.slot(layer, row);
      if (from.are_words() && to.are_words()) {
        copy_words(other, from.slot(layer, row) / 64, slot / 64);
      } else {
        copy_objects(other, from.slot(layer, row), slot);
      }
      for (std::uint64_t i = slot; has_places && i < slot + width; ++i) {
        if (has_object(i)) convert_places(other.shape, i, to.in_memory(layer));
      }
    }
  }
}

void PlacedImage::copy_words(const PlacedImage& other, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t count = (static_cast<std::uint64_t>(shape.width()) + 63) / 64;
  if (has_words) std::copy_n(&other.seen[from], count, &seen[to]);
  if (blocks.empty()) return;
  std::memcpy(&blocks[to * info->block_bytes], &other.blocks[from * info->block_bytes], count * info->block_bytes);
}

void PlacedImage::copy_objects(const PlacedImage& other, std::uint64_t from, std::uint64_t to) {
  for (const std::uint64_t end = from + static_cast<std::uint64_t>(shape.width()); from < end; ++from, ++to) {
    if (!other.has_object(from)) continue;
    if (has_words) seen[to / 64] |= std::uint64_t{1} << to % 64;
    for (const FieldInfo& field : info->fields) {
      for (std::size_t i = 0; i < field.count; ++i) {
        std::memcpy(&blocks[value_at(*info, field, i, to)], &other.blocks[value_at(*info, field, i, from)],
                    field.bytes);
      }
    }
  }
}

void PlacedImage::convert_places(const LatticeShape& from, std::uint64_t slot, std::uint64_t layer) {
  for (const FieldInfo& field : info->fields) {
    for (std::size_t i = 0; i < field.count * field.places; ++i) {
      char* const at = &blocks[value_at(*info, field, i / field.places, slot) + i % field.places * sizeof(Place)];
      Place place;
      std::memcpy(&place, at, sizeof place);
      place = shape.converted(place, from, static_cast<std::int64_t>(layer));
      std::memcpy(at, &place, sizeof place);
    }
  }
}

void PlacedImage::write(const PlacedState& state) const {
  const std::uint64_t first = shape.own_words().first;
  if (!seen.empty()) copy_to_device(state.seen + first, seen.data(), seen.size() * sizeof(std::uint64_t));
  if (!blocks.empty()) copy_to_device(state.base + first * info->block_bytes, blocks.data(), blocks.size());
}

}  // namespace dynasoar::detail
