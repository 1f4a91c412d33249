/// @file
/// Checkpoints of several ranks. Each rank writes a part, which is an ordinary checkpoint of its own layers. Rank 0
/// writes last. Its file replaces the old checkpoint, contains the values of the program, and lists the parts. Used by
/// DistributedHandle; compiled once for all programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/checkpoint/compression.h>
#include <dynasoar/checkpoint/items.h>
#include <dynasoar/checkpoint/save_and_load.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/placed_classes.h>
#include <dynasoar/detail/placed_image.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/platform/durable_file.h>

namespace dynasoar::detail {

/// The values that all parts of a save have in common.
struct SaveNote {
  std::uint64_t id;      ///< a random number
  std::uint64_t number;  ///< part of the file names of its parts
  std::uint64_t ranks;
};

/// The shape of a lattice.
struct LatticeNote {
  std::uint64_t sizes[3];  ///< places along each axis; 0: there is no such axis
  std::uint64_t periodic;  ///< bit i: whether axis i is periodic
};

/// Identifies the part in a file.
struct PartNote {
  std::uint64_t id;
  std::uint64_t rank;
};
inline constexpr const char* kPartName = "part of a checkpoint of several ranks";

/// The file with the layers of a rank.
std::string part_path(const std::string& path, std::uint64_t number, std::uint64_t rank);

/// Values that all ranks must agree on before they save: their names and contents.
/// @throws Error if one is in device memory
std::string text_of_values(View<const SavedItem*> items);

/// The classes and sizes of all lattices.
std::string text_of_lattices(const ClassTable& classes, const PlacedClasses& placed);

/// The layers of each class on a lattice that this rank has. @throws Error if a lattice is not divided
std::vector<std::uint64_t> own_layers(const ClassTable& classes, const PlacedClasses& placed);

[[noreturn]] void throw_is_in_heap(const ClassInfo& info, std::uint64_t objects);

/// The part of rank 0 when several ranks save.
class SavedParts {
 public:
  /// Chooses a number that no file has. @throws Error if the checkpoint cannot be written, or is being written
  SavedParts(const std::string& path, int ranks);

  const SaveNote& note() const { return note_; }

  /// Values that say which parts belong together.
  /// @param layers   of each rank, see own_layers; must live as long as the result is used
  std::vector<SavedItem> items(const ClassTable& classes, const PlacedClasses& placed,
                               const std::vector<std::vector<char>>& layers);

  /// @throws Error if rank 0 does not find the part of another rank
  void check_are_there() const;

  /// Removes the files of all other saves.
  void remove_others() const;

 private:
  std::string path_;
  SaveNote note_{};
  DurableFile lock_;
  std::vector<std::vector<std::uint64_t>> layers_;  // of each class
  std::vector<LatticeNote> lattices_;
};

/// Removes the parts that earlier saves of several ranks have left.
void remove_parts(const std::string& path);

/// The part of a rank when several ranks load.
class LoadedParts {
 public:
  /// Reads the list of the parts, and the program's values. A checkpoint of one process, with lattices that are not
  /// divided, is also accepted.
  /// @throws CheckpointError if it does not fit this program and its lattices
  LoadedParts(const HeapMemory& memory, const PlacedClasses& placed, const std::string& path,
              const LoadOptions& options, View<const CheckpointItem*> items, const Compression& compression);

  /// Whether a file is a checkpoint of several ranks. @throws CheckpointError if it is none at all, or damaged
  static bool are_at(const HeapMemory& memory, const std::string& path, const LoadOptions& options,
                     const Compression& compression);

  /// A text for what was read. It must be the same on all ranks.
  std::string text() const;

  /// Reads the layers that this rank has, of all lattices. @throws CheckpointError if a part does not fit the others
  void read();

  /// Puts objects and values in their places. @pre no loop is running
  void put_in_place(PlacedClasses& placed) const;

 private:
  /// A class on a lattice of this program.
  struct Target {
    std::size_t type;
    PlacedImage image;
    std::vector<std::uint64_t> layers;  // first, number and ghosts of each rank that saved
    LatticeNote lattice;                // the saved one

    Slab slab(std::uint64_t rank) const {
      return {static_cast<std::size_t>(layers[3 * rank]), static_cast<std::size_t>(layers[3 * rank + 1]),
              static_cast<std::size_t>(layers[3 * rank + 2])};
    }
  };

  void check(const Target& target) const;
  bool needs(const Target& target, std::uint64_t rank) const;
  void read(std::uint64_t rank);
  LatticeShape shape_of_part(const Target& target, std::uint64_t rank) const;
  [[noreturn]] void fail_damaged(const std::string& path, const std::string& what) const;

  const HeapMemory& memory_;
  const ClassTable& classes_;
  std::string path_;
  LoadOptions options_;
  Compression compression_;
  bool are_parts_;
  SaveNote note_{};
  std::vector<Target> targets_;
  std::optional<ReadValues> values_;  // the list of the parts, followed by the program's values
  std::size_t first_value_ = 0, end_value_ = 0;
};

}  // namespace dynasoar::detail
