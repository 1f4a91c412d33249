// Object handles: what goes in comes out, and no object is null.
#include <cstdint>
#include <set>

#include <doctest/doctest.h>

#include <dynasoar/classes/handle.h>

namespace handle_test {

using dynasoar::detail::Handle;

static_assert(sizeof(Handle) == sizeof(void*), "a handle is what a pointer holds");
static_assert(Handle::make(0, 0, 0).bits() != 0, "the first object of the first class is not null");
static_assert(Handle(0).type_index() == -1, "null is of no class");

TEST_CASE("a handle gives back the block, the slot and the class that it was made of") {
  std::set<std::uint64_t> different;
  for (std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{128}, std::uint64_t{1} << 32, Handle::kMaxHeapBytes - 64}) {
    for (std::uint32_t slot : {0u, 1u, 31u, 32u, 63u}) {
      for (int type : {0, 1, 127, 128, 254}) {
        CAPTURE(offset);
        CAPTURE(slot);
        CAPTURE(type);
        const Handle handle = Handle::make(offset, slot, type);
        CHECK(handle.block_offset() == offset);
        CHECK(handle.slot() == slot);
        CHECK(handle.type_index() == type);
        CHECK(handle.bits() != 0);
        CHECK(Handle(handle.bits()).block_offset() == offset);
        different.insert(handle.bits());
      }
    }
  }
  CHECK(different.size() == 5 * 5 * 5);
}

TEST_CASE("the generation in a handle does not change what else it says") {
  const Handle handle = Handle::make(4096, 17, 3, 255);
  CHECK(handle.generation() == 255);
  CHECK(Handle::make(4096, 17, 3).generation() == 0);
  CHECK(handle.block_offset() == 4096);
  CHECK(handle.slot() == 17);
  CHECK(handle.type_index() == 3);
}

}  // namespace handle_test
