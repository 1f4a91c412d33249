/// @file
/// The soak test's workers, which create, delete, exchange and visit objects, and the tables of claims that find what
/// is lost or handed out twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "../platform/test_random.h"
#include "objects.h"

namespace soak {

using dynasoar::test::Random;

/// Sums that all threads add to, spread over memory; up to 16 of them.
struct Sums {
  static constexpr std::size_t kShards = 256;
  static constexpr std::size_t kStride = 16;  // one shard per 128-byte line

  AtomicWord<std::uint64_t>* words;

  __device__ void add(std::size_t key, std::uint32_t which, std::uint64_t amount) const {
    if (amount != 0) words[key % kShards * kStride + which].add(amount, Order::relaxed);
  }
};

/// Owns Sums.
class SumsMemory {
 public:
  SumsMemory() : words_(Sums::kShards * Sums::kStride) { clear(); }
  void clear() { words_.fill_bytes(0); }
  Sums sums() const { return {reinterpret_cast<AtomicWord<std::uint64_t>*>(words_.data())}; }
  std::array<std::uint64_t, Sums::kStride> totals() const {
    std::array<std::uint64_t, Sums::kStride> totals{};
    const std::vector<std::uint64_t> words = words_.download();
    for (std::size_t i = 0; i < words.size(); ++i) totals[i % Sums::kStride] += words[i];
    return totals;
  }

 private:
  DeviceArray<std::uint64_t> words_;
};

/// What is counted over the whole run.
enum Tally : std::uint32_t {
  kCreated,
  kDestroyed,
  kChecked,
  kExchanged,
  kRefused,
  kDoubled,
  kUnowned,
  kDamaged,
  kWrong,
  kTallies
};

/// What is summed up to compare the heap with the tables: objects of a type, and their ids.
__host__ __device__ constexpr std::uint32_t count_of(std::uint32_t type) {
  return 2 * type;
}
__host__ __device__ constexpr std::uint32_t ids_of(std::uint32_t type) {
  return 2 * type + 1;
}

/// Objects that a worker may have.
constexpr std::uint32_t kMost = 32;

/// The owners of objects. An object belongs to the worker, or the mailbox, whose entry it is. Its slot is
/// claimed with its id, so a slot that is allocated twice is claimed twice.
struct Tables {
  Object** held;         // [kMost * workers], entry i of worker w at i * workers + w
  std::uint32_t* count;  // [workers] entries in use
  std::uint32_t* bytes;  // [workers] of heap that they take
  std::uint32_t workers;
  AtomicWord<std::uint32_t>* claims;     // [slots of the heap] 0: no owner
  AtomicWord<std::uint64_t>* mailboxes;  // [mailbox_count] 0, or an object on its way from one worker to another
  std::uint32_t mailbox_count;
  AtomicWord<std::uint32_t>* stop;  // 1 once an error was found: a damaged heap may keep threads waiting for ever
  Sums tally;
};

/// A worker while it works: its numbers in registers.
class Worker {
 public:
  /// @param level     bytes that it is to have in the long run
  /// @param in_step   whether it tries to do the same kind of thing, to the same class, as 31 others
  __device__ Worker(const Tables& tables, std::uint32_t number, std::uint64_t seed, std::uint32_t level, bool in_step)
      : tables_(tables),
        number_(number),
        random_(Random::of(seed, number)),
        common_(Random::of(~seed, in_step ? number / 32 : number)),
        count_(tables.count[number]),
        bytes_(tables.bytes[number]),
        level_(level) {}

  /// One random operation.
  __device__ void step(std::uint32_t favourite, std::uint32_t loyal) {
    const std::uint64_t dice = common_.next();
    const auto kind = static_cast<std::uint32_t>(dice % 16);
    if (kind < 2 && count_ > 0) {
      kind == 0 ? check_one() : exchange_one(random_.below(tables_.mailbox_count));
      return;
    }
    const bool create_one = (dice / 16 % 8 != 0) == (bytes_ < level_);
    if (create_one && count_ < kMost) {
      const bool any = dice / 128 % 256 >= loyal;
      create_object(any ? static_cast<std::uint32_t>(dice >> 15) % 65536 % kTypes : favourite,
                    static_cast<std::uint32_t>(random_.next() >> 32) | 1);
    } else if (count_ > 0) {
      destroy_object(random_.below(count_));
    }
  }

  __device__ void destroy_all() {
    while (count_ > 0) destroy_object(count_ - 1);
  }

  /// Writes back what is kept in registers.
  __device__ void finish() const {
    tables_.count[number_] = count_;
    tables_.bytes[number_] = bytes_;
    for (std::uint32_t i = 0; i < kTallies; ++i) tables_.tally.add(number_ / 32, i, tally_[i]);
  }

 private:
  __device__ Object*& entry(std::uint32_t i) const { return tables_.held[std::size_t{i} * tables_.workers + number_]; }

  __device__ void keep(Object* object) {
    entry(count_++) = object;
    bytes_ += bytes_of(type_of(object));
  }

  __device__ Object* remove(std::uint32_t which) {
    Object* const object = entry(which);
    entry(which) = entry(--count_);
    bytes_ -= bytes_of(type_of(object));
    return object;
  }

  __device__ void create_object(std::uint32_t type, std::uint32_t id) {
    Object* const object = create(type, id);
    if (object == nullptr) {
      ++tally_[kRefused];
      // The heap is full. A worker that went on creating without deleting would do little else, because a refusal
      // takes long.
      level_ = bytes_ / 2;
      return;
    }
    ++tally_[kCreated];
    if (type_of(object) != type) report(kWrong);
    // relaxed: one word's changes are in one order, and the allocator has to put its owners in an order, too.
    if (tables_.claims[slot_number(object)].exchange(id, Order::relaxed) != 0) report(kDoubled);
    keep(object);
  }

  __device__ void destroy_object(std::uint32_t which) {
    ++tally_[kDestroyed];
    Object* const object = remove(which);
    if (!as_left(object, tables_.claims[slot_number(object)].exchange(0, Order::relaxed))) return;
    dynasoar::destroy(object);
  }

  __device__ void check_one() {
    ++tally_[kChecked];
    Object* const object = entry(random_.below(count_));
    as_left(object, tables_.claims[slot_number(object)].load(Order::relaxed));
  }

  /// Puts an object into a mailbox, and takes out what another worker has left there.
  __device__ void exchange_one(std::uint32_t where) {
    ++tally_[kExchanged];
    const auto mine = reinterpret_cast<std::uint64_t>(remove(random_.below(count_)));
    // acq_rel: what the sender wrote into the object, the receiver reads.
    const std::uint64_t got = tables_.mailboxes[where].exchange(mine, Order::acq_rel);
    if (got == 0) return;
    Object* const object = reinterpret_cast<Object*>(got);
    as_left(object, tables_.claims[slot_number(object)].load(Order::relaxed));
    keep(object);
  }

  /// Whether an object is as its creator left it.
  __device__ bool as_left(Object* object, std::uint32_t claim) {
    if (claim != 0 && intact(object, claim)) return true;
    report(claim == 0 ? kUnowned : kDamaged);
    return false;
  }

  __device__ void report(Tally error) {
    ++tally_[error];
    tables_.stop->store(1, Order::relaxed);
  }

  const Tables& tables_;
  std::uint32_t number_;
  Random random_;
  Random common_;
  std::uint32_t count_;
  std::uint32_t bytes_;
  std::uint32_t level_;
  std::uint32_t tally_[kTallies] = {};
};

/// A round: every worker does some operations. Which class is in demand changes, so pages change hands.
struct Round {
  static constexpr std::uint32_t kOperations = 64;

  Tables tables;
  std::uint64_t seed;
  std::uint32_t level;  // bytes
  std::uint32_t loyal;
  bool in_step;

  __device__ void operator()(std::size_t index) const {
    Worker worker(tables, static_cast<std::uint32_t>(index), seed, level, in_step);
    const std::uint32_t favourite = Random{~seed}.below(kTypes);
    for (std::uint32_t i = 0; i < kOperations; ++i) {
      if (i % 8 == 0 && tables.stop->load(Order::relaxed) != 0) break;
      worker.step(favourite, loyal);
    }
    worker.finish();
  }
};

/// Everything that workers have is deleted.
struct DestroyHeld {
  Tables tables;
  __device__ void operator()(std::size_t index) const {
    Worker worker(tables, static_cast<std::uint32_t>(index), 0, 0, true);
    worker.destroy_all();
    worker.finish();
  }
};

/// So is everything in mailboxes.
struct EmptyMailboxes {
  Tables tables;
  __device__ void operator()(std::size_t index) const {
    const std::uint64_t got = tables.mailboxes[index].exchange(0, Order::acq_rel);
    if (got == 0) return;
    Object* const object = reinterpret_cast<Object*>(got);
    const std::uint32_t claim = tables.claims[slot_number(object)].exchange(0, Order::relaxed);
    tables.tally.add(index / 32, kUnowned, claim == 0);
    tables.tally.add(index / 32, kDamaged, claim != 0 && !intact(object, claim));
    tables.tally.add(index / 32, kDestroyed, 1);
    dynasoar::destroy(object);
  }
};

/// Adds up what workers have.
struct SumHeld {
  Tables tables;
  Sums sums;
  __device__ void operator()(std::size_t worker) const {
    for (std::uint32_t i = 0; i < tables.count[worker]; ++i) {
      Object* const object = tables.held[std::size_t{i} * tables.workers + worker];
      sums.add(worker / 32, count_of(type_of(object)), 1);
      sums.add(worker / 32, ids_of(type_of(object)), tables.claims[slot_number(object)].load(Order::relaxed));
    }
  }
};

/// Adds up what is in mailboxes.
struct SumMailboxes {
  Tables tables;
  Sums sums;
  __device__ void operator()(std::size_t index) const {
    const std::uint64_t bits = tables.mailboxes[index].load(Order::relaxed);
    if (bits == 0) return;
    Object* const object = reinterpret_cast<Object*>(bits);
    sums.add(index / 32, count_of(type_of(object)), 1);
    sums.add(index / 32, ids_of(type_of(object)), tables.claims[slot_number(object)].load(Order::relaxed));
  }
};

/// In a loop over the heap's objects: adds them up and checks them.
struct SumObjects {
  Tables tables;
  Sums sums;
  template <class T>
  __device__ void operator()(T* object) const {
    const std::uint32_t slot = slot_number(object);
    constexpr auto kType = static_cast<std::uint32_t>(Allocator::index_of<T>);
    const std::uint32_t id = object->id();
    sums.add(slot / 64, count_of(kType), 1);
    sums.add(slot / 64, ids_of(kType), id);
    // An object without a claim has no owner, which the sums will show.
    const std::uint32_t claim = tables.claims[slot].load(Order::relaxed);
    tables.tally.add(slot / 64, kDamaged, claim != 0 && !object->holds(claim));
  }
};

/// Claims that are left.
struct SumClaims {
  Tables tables;
  Sums sums;
  __device__ void operator()(std::size_t slot) const {
    sums.add(slot / 64, 0, tables.claims[slot].load(Order::relaxed) != 0);
  }
};

}  // namespace soak
