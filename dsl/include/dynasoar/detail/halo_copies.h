/// @file
/// The functions of the loops that exchange ghosts. PackHalo copies the layers of which neighbours have ghosts into
/// messages, and UnpackHalo copies messages into ghosts. Used by HaloExchange.
///
/// A message has the layers of all classes, as described at Ghosts::parts. It is copied in *units*: words that say
/// where objects are, and pieces of 16 bytes of blocks. Consecutive units are adjacent, both in memory and in messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/loops/places.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/mail.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// A field with Places: arrays of 64 values, in which a value is `places` Places.
struct PlaceField {
  std::uint32_t offset, count, stride, bytes;
};

/// A class, in memory and in a message.
struct HaloClass {
  std::uint64_t first_unit;  ///< index of the first unit in the message
  std::uint64_t seen_words;  ///< 0 if there is an object at every place
  std::uint64_t seen_at, blocks_at;
  std::uint64_t* seen;
  char* base;
  std::uint64_t block_bytes;
  AtomicWord<std::uint64_t>* claims;  ///< shared claims; null if there are none
  bool sets_claims;                   ///< whether it is the first of the classes that share them
  std::uint32_t first_field, fields;  ///< in the table of fields with Places
};

/// The classes, and other tables in the device's memory. The first classes are arguments of kernels, which takes less
/// time to read than memory.
struct HaloTables {
  static constexpr std::uint32_t kFirst = 3;
  HaloClass first_classes[kFirst];
  const HaloClass* other_classes;  ///< in the device's memory
  std::uint32_t number;
  const PlaceField* fields;
  const LatticeShape* shapes;    ///< of this rank, of the rank before, and of the rank behind
  std::uint64_t units;           ///< of a message
  std::uint32_t first_side;      ///< 1 if there is no rank before, otherwise 0
  std::uint64_t first_words[2];  ///< word in memory with which the layers for each side begin

  /// The side of index i in a loop over the units of all messages.
  __device__ int side_of(std::size_t i) const { return static_cast<int>(first_side + (i >= units ? 1 : 0)); }
  __device__ std::uint64_t unit_of(std::size_t i) const { return i >= units ? i - units : i; }

  __device__ HaloClass class_at(std::uint32_t i) const {
    return i < kFirst ? first_classes[i] : other_classes[i - kFirst];
  }
  __device__ HaloClass class_of(std::uint64_t unit) const {
    std::uint32_t i = 0;
    while (i + 1 < number && unit >= class_at(i + 1).first_unit) ++i;
    return class_at(i);
  }
};

struct alignas(16) HaloUnit {
  std::uint64_t words[2];
};

__device__ inline std::uint64_t& word_at(char* bytes, std::uint64_t i) {
  return reinterpret_cast<std::uint64_t*>(bytes)[i];
}
__device__ inline HaloUnit& unit_at(char* bytes, std::uint64_t i) {
  return reinterpret_cast<HaloUnit*>(bytes)[i];
}

/// Counts exchanges, for the host, which does not wait. One thread of a loop counts.
struct ExchangeCount {
  std::uint64_t* count;          ///< on the device; null: nothing is counted
  volatile std::uint64_t* mail;  ///< the same in the host's memory, which takes long to read

  __device__ void add_one(std::size_t i) const {
    if (i == 0 && count != nullptr) dynasoar::mail(mail, ++*count);
  }
};

struct PackHalo {
  HaloTables tables;
  char* to[2];           ///< messages, by side
  std::uint64_t stride;  ///< bytes from the messages of even epochs to those of odd ones
  ExchangeCount begun;

  /// @param odd   1 in odd epochs
  __device__ void operator()(int side, std::size_t unit, std::uint64_t odd) const {
    const HaloClass of = tables.class_of(unit);
    char* const message = to[side] + odd * stride;
    const std::uint64_t at = unit - of.first_unit;
    if (at < of.seen_words) {
      word_at(message + of.seen_at, at) = of.seen[tables.first_words[side] + at];
    } else {
      const std::uint64_t block = at - of.seen_words;
      unit_at(message + of.blocks_at, block) = unit_at(of.base + tables.first_words[side] * of.block_bytes, block);
    }
  }
  __device__ void operator()(std::size_t i) const {
    begun.add_one(i);
    (*this)(tables.side_of(i), tables.unit_of(i), 0);
  }
};

struct UnpackHalo {
  HaloTables tables;
  char* from[2];
  std::uint64_t stride;
  const std::uint64_t* epoch;  ///< null: all epochs are even
  ExchangeCount ended;

  __device__ void operator()(int side, std::size_t unit, std::uint64_t odd) const {
    const HaloClass of = tables.class_of(unit);
    char* const message = from[side] + odd * stride;
    const std::uint64_t first = tables.first_words[side], at = unit - of.first_unit;
    if (at < of.seen_words) {
      of.seen[first + at] = word_at(message + of.seen_at, at);
      if (of.sets_claims) of.claims[first + at].store(claims(of, message, at), Order::relaxed);
      return;
    }
    const std::uint64_t block = at - of.seen_words;
    HaloUnit value = unit_at(message + of.blocks_at, block);
    if (of.fields > 0) convert(value, of, message, block, side);
    unit_at(of.base + first * of.block_bytes, block) = value;
  }
  __device__ void operator()(std::size_t i) const {
    ended.add_one(i);
    (*this)(tables.side_of(i), tables.unit_of(i), epoch == nullptr ? 0 : *epoch % 2);
  }

 private:
  /// The places with objects of any class that shares its claims with this one.
  __device__ std::uint64_t claims(const HaloClass& of, char* message, std::uint64_t at) const {
    std::uint64_t seen = 0;
    for (std::uint32_t i = 0; i < tables.number; ++i) {
      const HaloClass other = tables.class_at(i);
      if (other.claims == of.claims) seen |= word_at(message + other.seen_at, at);
    }
    return seen;
  }

  /// Converts the Places in a unit, if they are those of objects.
  __device__ void convert(HaloUnit& value, const HaloClass& of, char* message, std::uint64_t unit, int side) const {
    const LatticeShape& here = tables.shapes[0];
    const std::uint64_t i = unit * sizeof value / of.block_bytes, word = tables.first_words[side] + i;
    const auto offset = static_cast<std::uint32_t>(unit * sizeof value % of.block_bytes);
    const std::uint64_t seen = of.seen_words == 0 ? here.places_of_word(word) : word_at(message + of.seen_at, i);
    const auto layer = static_cast<std::int64_t>(word / here.words_of_layer());
    for (std::uint32_t f = of.first_field; f < of.first_field + of.fields; ++f) {
      const PlaceField& field = tables.fields[f];
      for (std::uint32_t half = 0; half < 2; ++half) {
        const std::uint32_t at = offset + half * 8 - field.offset;  // wraps around if it is in front of the field
        const std::uint32_t array = field.count > 1 ? at / field.stride : 0, in_array = at - array * field.stride;
        if (array >= field.count || in_array >= 64 * field.bytes) continue;
        if ((seen >> in_array / field.bytes & 1) == 0) continue;
        value.words[half] = here.converted(Place(value.words[half]), tables.shapes[1 + side], layer).slot();
      }
    }
  }
};

}  // namespace dynasoar::detail
