/// @file
/// ObjectPlaces: the places of the listed objects of a class, for code that does not depend on the allocator and the
/// user's classes. Made by HeapMemory and AosStorage, used by read_columns.
#pragma once

#include <cstdint>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/lattice_shape.h>

namespace dynasoar::detail {

struct ObjectPlaces {
  BlockList list;
  const char* base;              ///< of the heap, for objects in blocks
  const std::uint64_t* objects;  ///< for objects in one piece, handles by place: block b has places 64 b to 64 b + 63
  const LatticeShape* shape = nullptr;  ///< for the host: the lattice of a placed class
};

}  // namespace dynasoar::detail
