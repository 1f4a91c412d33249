#include <string>
#include <string_view>

#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/lattice_memory.h>
#include <dynasoar/heap/tally.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

namespace {

std::size_t words_of(const LatticeShape& shape, const LatticeNeeds& needs) {
  const auto words = static_cast<std::size_t>(shape.words());
  if (words * (needs.block_bytes / kPlacedUnit) > std::size_t{1} << 32) {
    throw Error("dynasoar: objects of " + std::string(needs.class_name) + " on " + std::to_string(shape.size()) +
                " places take more than 256 GiB, which a class on a lattice cannot: make it smaller, or the class");
  }
  return words;
}

}  // namespace

void throw_no_room_at_every_place(const LatticeShape& shape, std::string_view class_name) {
  throw Error("dynasoar: the heap has no room for " + std::to_string(shape.own_size()) + " objects of " +
              std::string(class_name) + ", one at every place. Give the handle more heap_bytes");
}

void check_is_whole(const LatticeShape& shape, std::string_view function) {
  if (!shape.is_divided()) return;
  throw Error("dynasoar: " + std::string(function) +
              " needs a whole lattice, but this process has a part of one. Run the program as one process");
}

LatticeMemory::LatticeMemory(const LatticeShape& shape, const LatticeNeeds& needs)
    : blocks(words_of(shape, needs) * needs.block_bytes),
      generations(needs.has_generations ? 64 * words_of(shape, needs) : 0),
      words(needs.bits * words_of(shape, needs)),
      created(needs.counts_created ? Tally<>::kWords : 0) {
  generations.fill_bytes(0);
  blocks.fill_bytes(0);  // checkpoints contain all bytes
  words.fill_bytes(0);
  created.fill_bytes(0);
}

}  // namespace dynasoar::detail
