/// @file
/// PlacedClasses: the placed classes of an allocator that are on a lattice now. Base of PlacedRunner; compiled once for
/// all programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/checkpoint/error.h>
#include <dynasoar/checkpoint/items.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/heap/heap_map.h>
#include <dynasoar/heap/object_places.h>
#include <dynasoar/heap/placed_words.h>
#include <dynasoar/heap/relocation.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/statistics.h>

namespace dynasoar::detail {

/// The blocks of a class on a lattice, for pictures.
struct PlacedMap {
  std::string where;  ///< "64 x 32 places"
  std::vector<BlockMark> marks;
};

class PlacedClasses {
 public:
  PlacedClasses(Executor& executor, const ClassTable& classes);
  PlacedClasses(const PlacedClasses&) = delete;
  PlacedClasses& operator=(const PlacedClasses&) = delete;

  /// @throws Error if the objects of a class are on a lattice
  void check_may_add(std::size_t type) const;

  /// Adds a class. `state` says where its objects are, in `bytes` bytes of a lattice. @pre check_may_add
  void add(std::size_t type, const PlacedState& state, std::size_t bytes);
  void remove(std::size_t type);

  /// A number that changes with every addition and removal of a class: recorded steps then have to be recorded again.
  std::uint64_t changes() const { return changes_; }

  /// Sets the words that loops over the objects of a class visit. The default is all its own words. @pre it is on a
  /// lattice
  void set_range(std::size_t type, const WordRange& range) { of_class_[type]->range = range; }

  /// Lets the host see the changes that loops have made.
  void refresh();

  /// The state of a class; null pointers if it has listed subclasses. @throws Error if a class without any has no
  /// lattice
  const PlacedState& state(std::size_t type) const;

  /// Called before a loop is submitted. Lets it see the changes of earlier loops, and notes that it may make changes,
  /// too.
  void before_loop();

  /// Notes that loops may have made changes, because a recorded step has run, or may run before the next loop.
  void expect_changes() { may_have_changed_ = !words_.empty(); }

  // The functions below see objects as the next loop would see them.

  /// Number of objects of these classes. Waits.
  std::uint64_t count(const ClassSet& classes);

  /// A list of all blocks of a class, for reductions. @throws Error as `state`
  BlockList list(std::size_t type);

  /// The length of that list, or 1 if it is empty. @throws Error as `state`
  std::uint64_t words(std::size_t type) const {
    return std::max<std::uint64_t>(1, state(type).shape.own_words().words);
  }

  /// The places of the listed objects of all classes, including those in the heap.
  View<ObjectPlaces> list_all(View<ObjectPlaces> in_heap, const ClassSet& listed);

  /// The objects of those classes that have fields which may point to some classes. @return valid until the next call
  View<PlacedBlocks> blocks_pointing_to(const ClassSet& targets);

  /// Adds the statistics of placed classes to those of the heap. Waits.
  Statistics completed(Statistics statistics);

  /// The contents of the blocks of all classes on lattices. Waits.
  std::vector<PlacedMap> maps();

  /// The classes that are on lattices, by index.
  std::vector<std::size_t> on_lattices() const;

  /// During the lifetime of the result, checkpoints are saved without placed objects.
  [[nodiscard]] auto without_objects() {
    struct Leaving {
      bool& has_objects;
      ~Leaving() { has_objects = true; }
    };
    saves_objects_ = false;
    return Leaving{saves_objects_};
  }

  /// Adds placed objects to the items of a checkpoint. Waits. @return valid until the next call
  View<const SavedItem*> with_items(View<const SavedItem*> items);
  View<const CheckpointItem*> with_items(View<const CheckpointItem*> items);

  /// Calls a function that loads a file with these items. Then removes objects that are at no place or at a place that
  /// is taken, which only a forged file has. Removes all objects if the file changed while it was being read.
  template <class F>
  auto load(const F& function) {
    try {
      const auto loaded = load_with_or_without_generations(function);
      check_loaded();
      return loaded;
    } catch (const CheckpointError& error) {
      if (error.fault() == CheckpointFault::lost_while_reading) clear();
      throw;
    }
  }

 protected:
  ~PlacedClasses() = default;

  /// Called before a refresh: gives back the memory of objects in pieces that have departed.
  virtual void release_departed() = 0;

  bool is_on_lattice(std::size_t type) const { return of_class_[type].has_value(); }

  /// @throws Error as `state`
  const WordRange& range(std::size_t type) const {
    static_cast<void>(state(type));
    return of_class_[type]->range;
  }

 private:
  struct OfClass {
    PlacedState state;
    WordRange range;  // visited by loops
    std::size_t bytes;
    DeviceArray<ListedBlock> entries;  // for `list`
    DeviceArray<ListSize> size;
    bool is_complete = false;  // whether the list is final, because there is an object at every place
  };

  /// @pre the class has words
  static PlacedWords words_of(const PlacedState& state) { return {state, state.shape.words()}; }

  /// The first part of `load`. A checked build also accepts a file of a build without checks, in which pointers have no
  /// generations.
  template <class F>
  auto load_with_or_without_generations(const F& function) {
    loads_generations_ = true;
    try {
      return function();
    } catch (const CheckpointError& error) {
      if (error.fault() != CheckpointFault::other_values || !have_generations()) throw;
      if (const auto loaded = load_without_generations(function)) return *loaded;
      throw;
    }
  }

  /// @return nothing if the file cannot be loaded in this way, either
  template <class F>
  auto load_without_generations(const F& function) -> std::optional<decltype(function())> {
    loads_generations_ = false;
    try {
      const auto loaded = function();
      clear_generations();
      return loaded;
    } catch (const CheckpointError& error) {
      if (error.fault() == CheckpointFault::lost_while_reading) throw;
      return std::nullopt;
    }
  }

  bool have_generations() const;
  void clear_generations();

  void check_loaded();
  void clear();
  void clear_claims(const PlacedWords& words);

  std::uint64_t count(std::size_t type);

  /// The number of objects of a class that were created on its lattice, if they are counted.
  static std::optional<std::uint64_t> created(const PlacedState& placed);

  void find_items(bool with_generations);

  Executor& executor_;
  const ClassTable& classes_;
  std::vector<std::optional<OfClass>> of_class_;  // by index
  std::vector<PlacedWords> words_;                // of all classes with words
  DeviceArray<ListSize> no_blocks_;
  std::vector<ObjectPlaces> places_;
  std::vector<PlacedBlocks> blocks_;
  std::vector<CheckpointItem> items_;
  std::vector<const SavedItem*> saved_;
  std::vector<const CheckpointItem*> loaded_;
  std::uint64_t changes_ = 0;
  bool may_have_changed_ = false;
  bool loads_generations_ = true;
  bool saves_objects_ = true;
};

/// The name in a checkpoint for the words of a class's objects. The name for its fields is this and ", fields".
std::string name_in_checkpoint(const ClassTable& classes, std::size_t type, const LatticeShape& shape);

/// Text for messages and checkpoints: "64 x 32 places".
std::string text_of(const LatticeShape& shape);

}  // namespace dynasoar::detail
