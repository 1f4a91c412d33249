/// @file
/// Ghosts: copies layers of a divided lattice between ranks. Used by DistributedLattice; compiled once for all
/// programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/communicator.h>
#include <dynasoar/detail/partition.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// A class on a lattice.
struct PlacedClass {
  const ClassInfo* info;
  PlacedState state;
};

/// @throws Error if objects of a class have pointers, which have no meaning on another rank
void check_has_no_pointers(const ClassInfo& info);

/// The layers of a lattice that a rank has in memory: ghosts, its own layers, and ghosts again. They are copied as
/// bytes: for each class, first the words that say where objects are, and then the blocks. HaloExchange copies them
/// between neighbours.
class Ghosts {
 public:
  /// @param rank      the number of this rank
  /// @param classes   the classes on the lattice
  Ghosts(Executor& executor, int rank, const Partition& partition, std::vector<PlacedClass> classes);

  /// Some layers as bytes. @param first   counted from the first layer in memory
  std::vector<char> read(std::size_t first, std::size_t layers) const;

  /// Replaces layers by those that another rank has read.
  /// @param from   the lattice of that rank, to which Places in fields belong
  void write(std::size_t first, std::size_t layers, std::vector<char>& bytes, const LatticeShape& from);

  /// The number of bytes of some layers.
  std::size_t bytes_of(std::size_t layers) const;

  /// Layers in memory in front of the rank's own.
  std::size_t ghosts_before() const;

  /// The position of a class in these bytes. Parts that are copied in units of 16 bytes begin at a multiple of 16.
  struct Part {
    const PlacedClass* of;
    std::size_t seen, seen_end;  ///< equal if there is an object at every place
    std::size_t blocks, end;     ///< equal if there are no fields
  };
  std::vector<Part> parts(std::size_t layers) const;

  /// Compares layers in memory with the bytes that their owner has sent: the layers from `begin` to `end`, counted from
  /// `first`. @return the first difference as a text; empty if there is none
  std::string difference(std::size_t first, std::size_t layers, std::size_t begin, std::size_t end,
                         const std::vector<char>& theirs, int owner) const;

  int rank() const { return rank_; }
  const Partition& partition() const { return partition_; }
  const std::vector<PlacedClass>& classes() const { return classes_; }
  const LatticeShape& shape() const { return classes_.front().state.shape; }

 private:
  static std::uint64_t seen_in(const Part& part, const char* bytes, std::uint64_t i, std::uint64_t word);
  void convert_places(std::size_t first, std::size_t layers, char* bytes, const LatticeShape& from) const;
  std::string difference_in(const Part& part, std::uint64_t i, std::uint64_t word, const char* ours, const char* theirs,
                            int owner) const;

  Executor& executor_;
  int rank_;
  Partition partition_;
  std::vector<PlacedClass> classes_;
};

/// The layers of a rank when a lattice is divided in another way.
class MovingLayers {
 public:
  /// Reads the layers that this rank has.
  MovingLayers(const Ghosts& ghosts, const Partition& from, const Partition& to, int rank);

  /// The messages that this rank must send and receive.
  std::vector<Communicator::Message> sent() { return messages(sent_); }
  std::vector<Communicator::Message> received() { return messages(received_); }

  /// Writes the received layers. @param ghosts   of the new lattice
  void write(Ghosts& ghosts);

 private:
  struct Piece {
    int rank;  ///< the other rank
    std::size_t first, layers;
    std::vector<char> bytes;
  };
  static std::vector<Communicator::Message> messages(std::vector<Piece>& pieces);

  Partition from_, to_;
  int rank_;
  std::vector<Piece> sent_, received_;
};

}  // namespace dynasoar::detail
