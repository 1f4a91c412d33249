/// @file
/// LatticeShape: the geometry of a lattice. It determines the places, their neighbours, and the slot of each place.
/// Used in device code by objects that are placed on a lattice, and by Lattice on the host.
///
/// Places are numbered row by row, x first. The number of a place is its slot in the arrays of a class: slot s of block
/// b is place 64 b + s. Rows begin at whole blocks if this wastes at most an eighth of the slots, or if the lattice is
/// small (kMostPaddedSlots). The neighbours of a whole block are then found with a few operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/loops/lattice_axes.h>
#include <dynasoar/loops/places.h>
#include <dynasoar/loops/slot_loop.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {

template <std::size_t kBlockBytes>
class InnerNeighbours;

/// Places next to each other in a row: bit i is the i-th of them.
struct RowOfPlaces {
  std::uint64_t exist;  ///< those that exist
  std::uint64_t found;  ///< those of them that satisfy the search
};

}  // namespace detail

/// The places of a lattice of one to three dimensions. Trivially copyable: pass it to loops, or call `lattice_of<T>()`
/// in device code.
///
/// Axes are bounded or periodic. On a periodic axis, the last place and the first one are neighbours. On a short
/// periodic axis, a place may be its own neighbour, or a neighbour on both sides; neighbourhoods then contain it
/// several times.
class LatticeShape {
 public:
  static constexpr std::size_t kMostPlacesOfAxis = std::size_t{1} << 30;
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 37;
  static constexpr std::size_t kMostRows = std::size_t{1} << 31;

  /// For the library: a shape without a lattice.
  LatticeShape() = default;

  /// @param sizes      places along each axis: {width}, {width, height} or {width, height, depth}
  /// @param periodic   which axes are periodic
  /// @throws Error if there are not one to three axes, or too few or too many places
  LatticeShape(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic)
      : LatticeShape(sizes, periodic, nullptr) {}

  /// For the library: the part of a lattice that this process has.
  /// @throws Error also if there is only one axis, which cannot be divided
  LatticeShape(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic, const detail::Slab& slab)
      : LatticeShape(sizes, periodic, &slab) {}

  __host__ __device__ std::int32_t width() const { return x_.length; }
  __host__ __device__ std::int32_t height() const { return rows_.all; }
  __host__ __device__ std::int32_t depth() const { return planes_.all; }

  /// Number of axes.
  __host__ __device__ int axes() const { return axes_; }

  /// Whether the ends of an axis meet; false for axes that the lattice does not have.
  __host__ __device__ bool is_periodic(int axis) const {
    return axis == 0 ? x_.is_periodic : axis == 1 ? y_is_periodic_ != 0 : z_is_periodic_ != 0;
  }

  /// Number of places.
  __host__ __device__ std::uint64_t size() const { return static_cast<std::uint64_t>(numbers_.all); }

  /// The place with these coordinates; no place if another process has it. @pre they are within the lattice
  __host__ __device__ Place place(LatticeVector at) const {
    if (is_divided()) [[unlikely]] {
      at.y = rows_.index(at.y);
      at.z = planes_.index(at.z);
      if (at.y < 0 || at.z < 0) return Place();
    }
    return Place(first_slot(at.y, at.z) + static_cast<std::uint32_t>(at.x));
  }

  /// The coordinates of a place. @pre it exists
  __host__ __device__ LatticeVector coordinates(Place place) const {
    const Row row = row_of(place.slot());
    if (is_divided()) [[unlikely]]
      return {row.x, rows_.number(row.y), planes_.number(row.z)};
    return {row.x, row.y, row.z};
  }

  /// The number of a place, 0 <= number < size(). Places are numbered row by row, along x first, without gaps. Numbers
  /// are the same on all backends and in all versions. Use them for random numbers, and as indices of your own arrays.
  /// @pre it exists
  __host__ __device__ std::uint64_t number(Place place) const {
    const std::uint64_t i = place.slot() - std::uint64_t{row_number(place.slot())} * padding();
    if (is_divided()) [[unlikely]]
      return static_cast<std::uint64_t>(numbers_.number(static_cast<std::int64_t>(i)));
    return i;
  }

  /// The place with a number; no place if another process has it. @pre number < size()
  __host__ __device__ Place place_of_number(std::uint64_t number) const {
    if (!is_divided()) [[likely]]
      return nth_place(number);
    const std::int64_t index = numbers_.index(static_cast<std::int64_t>(number));
    return index < 0 ? Place() : nth_place(static_cast<std::uint64_t>(index));
  }

  /// The place at a distance; no place if this leads beyond a bounded edge.
  /// @pre the place exists; distances along each axis are less than 2^30
  __host__ __device__ Place neighbour(Place place, LatticeVector distance) const {
    const Row row = row_of(place.slot());
    return Place(place.slot() + x_.step(row.x, distance.x) + y_.step(row.y, distance.y) + z_.step(row.z, distance.z));
  }

  /// The next place in a direction; no place if this leads beyond a bounded edge.
  __host__ __device__ Place neighbour(Place place, Direction direction) const {
    const auto d = static_cast<std::uint32_t>(direction);
    const Row row = row_of(place.slot());
    const bool is_up = d == 2 || d == 3 || d == 5;
    const std::uint64_t step = d == 0 || d == 2   ? x_.unit_step(row.x, is_up)
                               : d == 1 || d == 3 ? y_.unit_step(row.y, is_up)
                                                  : z_.unit_step(row.z, is_up);
    return Place(place.slot() + step);
  }
  __host__ __device__ Place left(Place place) const { return neighbour(place, {-1, 0, 0}); }
  __host__ __device__ Place up(Place place) const { return neighbour(place, {0, -1, 0}); }
  __host__ __device__ Place right(Place place) const { return neighbour(place, {1, 0, 0}); }
  __host__ __device__ Place down(Place place) const { return neighbour(place, {0, 1, 0}); }
  __host__ __device__ Place front(Place place) const { return neighbour(place, {0, 0, -1}); }
  __host__ __device__ Place back(Place place) const { return neighbour(place, {0, 0, 1}); }

  /// Calls `f(neighbour)` for the existing places of a neighbourhood, row by row, along x first, without the place
  /// itself.
  template <class Neighbourhood, class F>
  __host__ __device__ void for_each_neighbour(Place place, Neighbourhood, const F& f) const {
    constexpr int kRadius = Neighbourhood::kRadius;
    [[maybe_unused]] constexpr int kUnrolled = kRadius == 1 ? 3 : 1;  // constant steps need no branches
    const Row at = row_of(place.slot());
    const int layers = axes_ > 2 ? kRadius : 0;
    for (int z = -layers; z <= layers; ++z) {
      const std::uint64_t layer = place.slot() + z_.step(at.z, z);
      DYNASOAR_UNROLL(kUnrolled)
      for (int y = -kRadius; y <= kRadius; ++y) {
        if (y != 0 && axes_ < 2) continue;
        const std::uint64_t row = layer + y_.step(at.y, y);
        const int reach = Neighbourhood::reach(y, z);
        DYNASOAR_UNROLL(kUnrolled)
        for (int x = -kRadius; x <= kRadius; ++x) {
          if (x < -reach || x > reach || (x == 0 && y == 0 && z == 0)) continue;
          const Place next(row + x_.step(at.x, x));
          if (next.exists()) f(next);
        }
      }
    }
  }

  /// The bits of a block that stand for places.
  __host__ __device__ std::uint64_t places(PlaceBlock block) const { return places_of_word(block.number()); }

  /// The block that a place belongs to. @pre the place exists
  __host__ __device__ PlaceBlock block_of(Place place) const { return {place.slot() / 64, has_blocks_in_rows()}; }

  /// For the library: converts a place of another process's part of the same lattice. If this process does not have it,
  /// the result is no place, but keeps its number.
  ///
  /// @param layer   the layer in memory of the object that refers to the place. Of several copies, the nearest one is
  ///                the result
  /// @pre the lattice is divided
  __host__ __device__ Place converted(Place place, const LatticeShape& from, std::int64_t layer) const {
    const bool is_elsewhere = (place.slot() & Place::kElsewhere) != 0;
    if (!place.exists() && !is_elsewhere) return Place();
    const std::uint64_t number = is_elsewhere ? place.slot() - Place::kElsewhere : from.number(place);
    const detail::Numbering<std::int32_t>& layers = axes_ > 2 ? planes_ : rows_;
    const std::uint64_t of_layer = size() / static_cast<std::uint32_t>(layers.all);
    const std::int32_t index =
        layers.index_near(static_cast<std::int32_t>(number / of_layer), static_cast<std::int32_t>(layer));
    if (index < 0) return Place(Place::kElsewhere + number);
    return nth_place(static_cast<std::uint32_t>(index) * of_layer + number % of_layer);
  }

  /// For the library: whether no block has places of two rows.
  __host__ __device__ bool has_blocks_in_rows() const {
    return rows_of_group_ == 1 || (y_.length == 1 && z_.length == 1);
  }

  /// For the library: the number of words with a bit for each slot.
  __host__ __device__ std::uint64_t words() const { return words_; }

  /// For the library: the words without ghosts. Loops visit these words; counts, checkpoints and output contain them.
  __host__ __device__ const detail::WordRange& own_words() const { return own_words_; }

  /// For the library: the number of places in these words.
  __host__ __device__ std::uint64_t own_size() const { return own_size_; }

  /// Whether other processes have some of the places: see DistributedLattice.
  __host__ __device__ bool is_divided() const { return is_divided_ != 0; }

  /// For the library: the number of words of a layer, which is a row or, if there are three axes, a plane. @pre the
  /// lattice is divided
  __host__ __device__ std::uint64_t words_of_layer() const {
    return static_cast<std::uint64_t>(axes_ > 2 ? z_.stride : y_.stride) / 64;
  }

  /// For the library: the slots of a word that are places.
  __host__ __device__ std::uint64_t places_of_word(std::uint64_t word) const { return places_(word); }

  /// For the library: the object behind places_of_word, for code that needs nothing else.
  __host__ __device__ const detail::PlacesOfWords& places_of_words() const { return places_; }

  /// For the library: calls `f(row, distance, reach)` for the rows of a neighbourhood. `row` is a RowOfPlaces of
  /// 2 * reach + 1 places, without the place itself, and `distance` leads to the middle one.
  ///
  /// @param word_of   `word_of(number)` returns the slots of a word that satisfy the search. May have `window(slot,
  ///                  count)`, which returns the same for up to 32 slots from `slot` on
  template <class Neighbourhood, class WordOf, class F>
  __host__ __device__ void for_each_row(Place place, Neighbourhood neighbourhood, const WordOf& word_of,
                                        const F& f) const {
    for_each_row(place, neighbourhood,
                 [&](const auto& look_at, LatticeVector distance, int reach) { f(look_at(word_of), distance, reach); });
  }

  /// For the library: the same for several searches. Calls `f(look_at, distance, reach)`; `look_at(word_of)` returns
  /// the RowOfPlaces.
  template <class Neighbourhood, class F>
  __host__ __device__ void for_each_row(Place place, Neighbourhood neighbourhood, const F& f) const {
    const Row at = row_of(place.slot());
    if (at.x >= Neighbourhood::kRadius && at.x + Neighbourhood::kRadius < x_.length) {
      for_each_row_from<true>(place, at, neighbourhood, f);
    } else {
      for_each_row_from<false>(place, at, neighbourhood, f);
    }
  }

 private:
  friend class detail::BlockNeighbours;
  template <std::size_t>
  friend class detail::InnerNeighbours;

  struct Row {
    std::int32_t x, y, z;
  };

  LatticeShape(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic, const detail::Slab* slab);

  __host__ __device__ std::uint64_t first_slot(std::int32_t y, std::int32_t z) const {
    const std::uint64_t row = std::uint64_t{static_cast<std::uint32_t>(z)} * static_cast<std::uint32_t>(y_.length) +
                              static_cast<std::uint32_t>(y);  // index in memory
    return row * stride_;
  }

  /// The i-th place in memory.
  __host__ __device__ Place nth_place(std::uint64_t i) const {
    const std::uint64_t row =
        i >> 31 == 0 ? x_.by_length.quotient(static_cast<std::uint32_t>(i)) : i / static_cast<std::uint32_t>(x_.length);
    return Place(i + row * padding());
  }

  /// The number of slots behind each row that are no places.
  __host__ __device__ std::uint32_t padding() const { return stride_ - static_cast<std::uint32_t>(x_.length); }

  // On a GPU, both have no branches, even if there is nothing to divide, so that compilers compute them once for all
  // neighbours. A CPU predicts these branches, and saves a multiplication.

  /// The row of a slot.
  __host__ __device__ std::uint32_t row_number(std::uint64_t slot) const {
    const std::uint32_t group = by_blocks_.quotient(static_cast<std::uint32_t>(slot / 64));
    if (!kCudaBackend && rows_of_group_ == 1) return group;
    const std::uint32_t rest = static_cast<std::uint32_t>(slot) - group * rows_of_group_ * stride_;
    return group * rows_of_group_ + by_stride_.quotient(rest);
  }

  __host__ __device__ Row row_of(std::uint64_t slot) const {
    const std::uint32_t row = row_number(slot);
    const std::uint32_t z = kCudaBackend || axes_ > 2 ? y_.by_length.quotient(row) : 0;
    return {static_cast<std::int32_t>(static_cast<std::uint32_t>(slot) - row * stride_),
            static_cast<std::int32_t>(row - z * static_cast<std::uint32_t>(y_.length)), static_cast<std::int32_t>(z)};
  }

  /// @tparam kInside   whether the neighbourhood stays within its rows. There are no branches then, so that no row
  ///                   waits for another one
  template <bool kInside, class Neighbourhood, class F>
  __host__ __device__ void for_each_row_from(Place place, const Row& at, Neighbourhood, const F& f) const {
    constexpr int kRadius = Neighbourhood::kRadius;
    [[maybe_unused]] constexpr int kUnrolled = kInside && kRadius == 1 ? 3 : 1;  // steps along y are then constants
    const int layers = axes_ > 2 ? kRadius : 0;
    for (int dz = -layers; dz <= layers; ++dz) {
      DYNASOAR_UNROLL(kUnrolled)
      for (int dy = -kRadius; dy <= kRadius; ++dy) {
        const int reach = Neighbourhood::reach(dy, dz);
        if (reach < 0) continue;
        const Place middle(place.slot() + y_.step(at.y, dy) + z_.step(at.z, dz));
        const bool exists = middle.exists() && (dy == 0 || axes_ > 1);
        if (!kInside && !exists) continue;
        const auto look_at = [&](const auto& word_of) {
          const std::uint64_t others = dy == 0 && dz == 0 ? ~(std::uint64_t{1} << reach) : ~std::uint64_t{0};
          const detail::RowOfPlaces row =
              kInside ? look_inside(middle.slot() - static_cast<unsigned>(reach), reach, word_of)
                      : look_at_ends(middle.slot(), at.x, reach, word_of);
          return exists ? detail::RowOfPlaces{row.exist & others, row.found & others} : detail::RowOfPlaces{0, 0};
        };
        f(look_at, LatticeVector{0, dy, dz}, reach);
      }
    }
  }

  /// Reads 2 * reach + 1 places from a slot on, all in one row.
  template <class WordOf>
  __host__ __device__ static detail::RowOfPlaces look_inside(std::uint64_t first, int reach, const WordOf& word_of) {
    const int count = 2 * reach + 1;
    const std::uint64_t exist = detail::first_bits(count);
    if constexpr (requires { word_of.window(first, count); }) {
      if (count <= 32) return {exist, word_of.window(first, count) & exist};
    }
    const int offset = static_cast<int>(first % 64);
    std::uint64_t found = word_of(first / 64) >> offset;
    if (offset + count > 64) found |= word_of(first / 64 + 1) << (64 - offset);
    return {exist, found & exist};
  }

  /// The same around a slot at x. Some of the places may be beyond the ends of its row.
  template <class WordOf>
  __host__ __device__ detail::RowOfPlaces look_at_ends(std::uint64_t slot, std::int32_t x, int reach,
                                                       const WordOf& word_of) const {
    const std::uint64_t row = slot - static_cast<std::uint32_t>(x);
    detail::RowOfPlaces places{0, 0};
    DYNASOAR_UNROLL(1)
    for (int i = 0; i <= 2 * reach; ++i) {
      const std::int32_t at = x_.moved(x, i - reach);
      if (at < 0) continue;
      const std::uint64_t next = row + static_cast<std::uint32_t>(at);
      places.exist |= std::uint64_t{1} << i;
      places.found |= (word_of(next / 64) >> next % 64 & 1) << i;
    }
    return places;
  }

  // No initial values, because this is a part of a bound state: see Binding.
  detail::Axis x_, y_, z_;
  std::int32_t axes_;
  std::uint32_t is_divided_;
  std::uint32_t stride_;  // slots from a row to the next
  std::uint64_t words_;
  std::uint32_t rows_of_group_;  // 1 if rows are padded, otherwise 64: a group begins at a word
  detail::Divider by_stride_;
  detail::Divider by_blocks_;  // words of a group of rows
  detail::PlacesOfWords places_;
  detail::Numbering<std::int32_t> rows_, planes_;
  detail::Numbering<std::int64_t> numbers_;
  std::uint32_t y_is_periodic_, z_is_periodic_;
  std::uint64_t own_size_;
  detail::WordRange own_words_;
};

}  // namespace dynasoar
