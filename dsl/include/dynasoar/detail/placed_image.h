/// @file
/// PlacedImage: the objects of a placed class in some layers of a lattice, as bytes in the host's memory. Used by
/// checkpoints of several ranks, which other numbers of ranks can load.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/loops/lattice_axes.h>
#include <dynasoar/loops/lattice_shape.h>

namespace dynasoar::detail {

/// The number of places along each axis.
std::vector<std::size_t> sizes_of(const LatticeShape& shape);
std::array<bool, 3> periodic_axes(const LatticeShape& shape);

/// The layers that a process has: all layers if the lattice is not divided.
Slab slab_of(const LatticeShape& shape);

/// The objects of a class in the own layers of a shape, in the order of its words.
struct PlacedImage {
  const ClassInfo* info;
  LatticeShape shape;
  bool has_words;                   ///< if not, there is an object at every place
  std::vector<std::uint64_t> seen;  ///< a bit for each slot; if it has words
  std::vector<char> blocks;         ///< if the class has fields

  /// An image without objects.
  PlacedImage(const ClassInfo& info, const LatticeShape& shape, bool has_words);

  /// Whether `seen` and `blocks` have the right sizes.
  bool is_complete() const;

  /// Copies the objects in the layers that both images have. Converts Places in their fields.
  void copy_from(const PlacedImage& other);

  /// Replaces the own layers of a lattice in memory. @pre no loop is running; the lattice has this shape
  void write(const PlacedState& state) const;

 private:
  std::uint64_t words() const { return shape.own_words().words; }
  void copy_words(const PlacedImage& other, std::uint64_t from, std::uint64_t to);
  void copy_objects(const PlacedImage& other, std::uint64_t from, std::uint64_t to);
  void convert_places(const LatticeShape& from, std::uint64_t slot, std::uint64_t layer);
  bool has_object(std::uint64_t slot) const { return !has_words || (seen[slot / 64] >> slot % 64 & 1) != 0; }
};

}  // namespace dynasoar::detail
