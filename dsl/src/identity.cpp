#include <dynasoar/identity.h>

#include <limits>
#include <string>

#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

void IdentityMemory::make_room(std::size_t objects, std::string_view type) {
  if (objects <= room_) return;
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (objects > kMost) {
    throw Error("dynasoar: an IdentityIndex has room for " + std::to_string(kMost) + " objects, but there are " +
                std::to_string(objects) + " objects of " + std::string(type));
  }
  *this = {};
  try {
    words_ = DeviceArray<std::uint64_t>(4 * objects);
    entries_ = DeviceArray<std::uint32_t>(2 * objects);
    scratch_ = DeviceArray<char>(sort_scratch_bytes<std::uint64_t>(objects));
  } catch (const Error& error) {
    *this = {};
    throw Error("dynasoar: there is not enough memory for an IdentityIndex of " + std::to_string(objects) +
                " objects of " + std::string(type) + ", which takes " + std::to_string(kBytesPerObject * objects) +
                " bytes beside the heap. Give the heap less memory. (" + error.what() + ")");
  }
  room_ = objects;
}

KeyedNumbers<std::uint64_t> IdentityMemory::pairs() const {
  return {{words_.data(), words_.data() + room_}, {entries_.data(), entries_.data() + room_}};
}

void** IdentityMemory::objects(int which) const {
  return reinterpret_cast<void**>(words_.data() + (2 + static_cast<std::size_t>(which)) * room_);
}

int IdentityMemory::sort(Executor& executor, std::size_t count) const {
  if (count == 0) return 0;
  constexpr int kBits = 64;
  return sort_pairs(executor, pairs(), count, kBits, scratch_.data(), scratch_.size());
}

void throw_duplicate_identities(std::string_view type, std::uint64_t duplicates, std::uint64_t least) {
  throw Error("dynasoar: an IdentityIndex found " + std::to_string(duplicates) + " objects of " + std::string(type) +
              " whose number another one has already; the least such number is " + std::to_string(least) +
              ". Most likely first_identity got an index twice, or child_identity got a birth twice for the same "
              "parent, or a parent without a number");
}

}  // namespace dynasoar::detail
