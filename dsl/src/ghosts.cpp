#include <dynasoar/detail/ghosts.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

namespace {

/// Claims the places of objects that have been copied, for classes that share claims.
struct ClaimSeen {
  PlacedState placed;
  std::uint64_t first;
  __device__ void operator()(std::size_t i) const {
    placed.claims[first + i].fetch_or(placed.seen[first + i], Order::relaxed);  // relaxed: no loop is running
  }
};

std::string text_of(const LatticeVector& at, int axes) {
  std::string text = "(";
  text += std::to_string(at.x);
  text += ", ";
  text += std::to_string(at.y);
  if (axes > 2) {
    text += ", ";
    text += std::to_string(at.z);
  }
  return text += ")";
}

/// Calls `f(field, offset)` for the values of the object in a slot, with their offsets in a block.
template <class F>
void for_each_value(const ClassInfo& info, std::size_t slot, const F& f) {
  for (const FieldInfo& field : info.fields) {
    for (std::size_t i = 0; i < field.count; ++i) f(field, field.offset + i * field.stride + slot * field.bytes);
  }
}

template <class F>
void for_each_bit(std::uint64_t bits, const F& f) {
  for (; bits != 0; bits &= bits - 1) f(static_cast<std::size_t>(lowest_bit(bits)));
}

}  // namespace

void check_has_no_pointers(const ClassInfo& info) {
  for (const FieldInfo& field : info.fields) {
    if (field.pointers == 0) continue;
    throw Error("dynasoar: objects of " + std::string(info.name) +
                " are copied to other ranks, where the pointers in " + field.text() +
                " would point to nothing. Store a Place, or a number, instead");
  }
}

Ghosts::Ghosts(Executor& executor, int rank, const Partition& partition, std::vector<PlacedClass> classes)
    : executor_(executor), rank_(rank), partition_(partition), classes_(std::move(classes)) {}

std::size_t Ghosts::ghosts_before() const {
  return static_cast<std::size_t>(shape().own_words().first / shape().words_of_layer());
}

std::vector<Ghosts::Part> Ghosts::parts(std::size_t layers) const {
  constexpr std::size_t kUnit = 16;
  const auto words = static_cast<std::size_t>(layers * shape().words_of_layer());
  std::vector<Part> result;
  std::size_t at = 0;
  for (const PlacedClass& placed : classes_) {
    Part part{&placed, at, at, at, at};
    if (placed.state.seen != nullptr) part.seen_end += words * sizeof(std::uint64_t);
    part.blocks = (part.seen_end + kUnit - 1) / kUnit * kUnit;
    part.end = part.blocks + (placed.info->fields.empty() ? 0 : words * placed.info->block_bytes);
    result.push_back(part);
    at = part.end;
  }
  return result;
}

std::size_t Ghosts::bytes_of(std::size_t layers) const {
  return parts(layers).back().end;
}

std::vector<char> Ghosts::read(std::size_t first, std::size_t layers) const {
  executor_.wait();
  std::vector<char> bytes(bytes_of(layers));
  const std::size_t word = first * shape().words_of_layer();
  for (const Part& part : parts(layers)) {
    const PlacedState& state = part.of->state;
    if (part.seen < part.seen_end) copy_from_device(&bytes[part.seen], state.seen + word, part.seen_end - part.seen);
    if (part.blocks == part.end) continue;
    const char* const blocks = state.base + word * part.of->info->block_bytes;
    copy_from_device(&bytes[part.blocks], blocks, part.end - part.blocks);
  }
  return bytes;
}

void Ghosts::write(std::size_t first, std::size_t layers, std::vector<char>& bytes, const LatticeShape& from) {
  convert_places(first, layers, bytes.data(), from);
  const std::size_t word = first * shape().words_of_layer();
  for (const Part& part : parts(layers)) {
    const PlacedState& state = part.of->state;
    if (part.seen < part.seen_end) copy_to_device(state.seen + word, &bytes[part.seen], part.seen_end - part.seen);
    if (part.blocks == part.end) continue;
    copy_to_device(state.base + word * part.of->info->block_bytes, &bytes[part.blocks], part.end - part.blocks);
  }
  const std::size_t words = layers * shape().words_of_layer();
  for (const bool is_cleared : {false, true}) {
    for (const PlacedClass& placed : classes_) {
      const PlacedState& state = placed.state;
      if (state.seen == nullptr || !state.shares_claims()) continue;
      if (is_cleared) {
        executor_.for_each_index(words, ClaimSeen{state, word});
      } else {
        executor_.fill_bytes(state.claims + word, 0, words * sizeof(std::uint64_t));
      }
    }
  }
}

/// @param i      number of the word among those in the bytes
/// @param word   its number in memory
std::uint64_t Ghosts::seen_in(const Part& part, const char* bytes, std::uint64_t i, std::uint64_t word) {
  if (part.seen == part.seen_end) return part.of->state.shape.places_of_word(word);
  std::uint64_t seen = 0;
  std::memcpy(&seen, bytes + part.seen + i * sizeof seen, sizeof seen);
  return seen;
}

void Ghosts::convert_places(std::size_t first, std::size_t layers, char* bytes, const LatticeShape& from) const {
  const std::uint64_t begin = first * shape().words_of_layer(), words = layers * shape().words_of_layer();
  for (const Part& part : parts(layers)) {
    bool has_places = false;
    for (const FieldInfo& field : part.of->info->fields) has_places = has_places || field.places > 0;
    for (std::uint64_t i = 0; has_places && i < words; ++i) {
      char* const block = bytes + part.blocks + i * part.of->info->block_bytes;
      for_each_bit(seen_in(part, bytes, i, begin + i), [&](std::size_t slot) {
        for_each_value(*part.of->info, slot, [&](const FieldInfo& field, std::size_t offset) {
          for (std::size_t p = 0; p < field.places; ++p) {
            Place place;
            std::memcpy(&place, block + offset + p * sizeof place, sizeof place);
            place = shape().converted(place, from, static_cast<std::int64_t>((begin + i) / shape().words_of_layer()));
            std::memcpy(block + offset + p * sizeof place, &place, sizeof place);
          }
        });
      });
    }
  }
}

std::string Ghosts::difference_in(const Part& part, std::uint64_t i, std::uint64_t word, const char* ours,
                                  const char* theirs, int owner) const {
  const ClassInfo& info = *part.of->info;
  const std::string name(plain_name(info.name)), on_owner = " on rank " + std::to_string(owner) + ", which owns it";
  const auto where = [&](std::size_t slot) {
    return " at " + text_of(shape().coordinates(Place(word * 64 + slot)), shape().axes());
  };
  const std::uint64_t here = seen_in(part, ours, i, word), there = seen_in(part, theirs, i, word);
  std::string found;
  for_each_bit(here ^ there, [&](std::size_t slot) {
    if (!found.empty()) return;
    const bool is_here = (here >> slot & 1) != 0;
    found += is_here ? "there is a " : "there is no ";
    found += name;
    found += where(slot);
    found += is_here ? ", but none" : ", but one";
    found += on_owner;
  });
  const std::size_t block = part.blocks + i * info.block_bytes;
  for_each_bit(part.blocks < part.end ? here & there : 0, [&](std::size_t slot) {
    for_each_value(info, slot, [&](const FieldInfo& field, std::size_t offset) {
      if (!found.empty() || field.may_have_padding) return;
      if (std::memcmp(ours + block + offset, theirs + block + offset, field.bytes) == 0) return;
      found += field.text();
      found += " of the ";
      found += name;
      found += where(slot);
      found += " has another value than";
      found += on_owner;
    });
  });
  return found;
}

std::string Ghosts::difference(std::size_t first, std::size_t layers, std::size_t begin, std::size_t end,
                               const std::vector<char>& theirs, int owner) const {
  std::vector<char> expected = theirs;
  convert_places(first, layers, expected.data(), partition_.shape(owner));
  std::vector<char> ours = read(first, layers);
  convert_places(first, layers, ours.data(), shape());  // so that a place has one value, even if there are copies of it
  const std::uint64_t of_layer = shape().words_of_layer();
  std::string found;
  for (const Part& part : parts(layers)) {
    for (std::uint64_t i = begin * of_layer; i < end * of_layer && found.empty(); ++i)
      found = difference_in(part, i, first * of_layer + i, ours.data(), expected.data(), owner);
  }
  return found;
}

MovingLayers::MovingLayers(const Ghosts& ghosts, const Partition& from, const Partition& to, int rank)
    : from_(from), to_(to), rank_(rank) {
  const auto common = [](const Slab& a, const Slab& b) {
    const std::size_t first = std::max(a.first, b.first), end = std::min(a.first + a.length, b.first + b.length);
    return std::pair(first, end > first ? end - first : 0);
  };
  const Slab before = from.slab(rank), after = to.slab(rank);
  for (int other = 0; other < from.ranks(); ++other) {
    const auto [first, layers] = common(before, to.slab(other));
    if (layers > 0) {
      const std::size_t in_memory = ghosts.ghosts_before() + first - before.first;
      sent_.push_back({other, first, layers, ghosts.read(in_memory, layers)});
    }
    const auto [first_received, layers_received] = common(from.slab(other), after);
    if (layers_received > 0) {
      received_.push_back(
          {other, first_received, layers_received, std::vector<char>(ghosts.bytes_of(layers_received))});
    }
  }
}

std::vector<Communicator::Message> MovingLayers::messages(std::vector<Piece>& pieces) {
  std::vector<Communicator::Message> all;
  for (Piece& piece : pieces) all.push_back({piece.rank, 0, piece.bytes.data(), piece.bytes.size()});
  return all;
}

void MovingLayers::write(Ghosts& ghosts) {
  for (Piece& piece : received_) {
    const std::size_t in_memory = ghosts.ghosts_before() + piece.first - to_.slab(rank_).first;
    ghosts.write(in_memory, piece.layers, piece.bytes, from_.shape(piece.rank));
  }
}

}  // namespace dynasoar::detail
