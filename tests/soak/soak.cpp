// The soak test's device code: six classes of objects, workers that create, delete, exchange and visit them, and the
// tables of claims that find what is lost or handed out twice.
#include "soak.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "../platform/test_random.h"

namespace soak {

using namespace dynasoar;
using dynasoar::detail::Handle;
using dynasoar::test::Random;

class Object4;
class Object12;
template <class Value, std::size_t kValues>
class ArrayObject;
using Object28 = ArrayObject<std::uint64_t, 3>;
using Object60 = ArrayObject<std::uint32_t, 14>;
using Object100 = ArrayObject<std::uint64_t, 12>;
using Object200 = ArrayObject<std::uint32_t, 49>;
using Allocator = SoaAllocator<Object4, Object12, Object28, Object60, Object100, Object200>;
constexpr std::uint32_t kTypes = Allocator::kTypes;

/// What a field holds in the object of that id and class: different fields hold different values.
__device__ std::uint32_t value_of(std::uint32_t id, std::uint32_t type, std::uint32_t field) {
  return (id ^ (type * 8 + field)) * 2654435761u;
}

/// 4 bytes.
class Object : public SoaBase<Allocator> {
 public:
  DYNASOAR_FIELDS(Object, (id_, std::uint32_t))
  __device__ explicit Object(std::uint32_t id) : id_(id) {}
  __device__ std::uint32_t id() const { return id_; }
};

/// Writes and reads the first, the last and one more element: these are random accesses, and the others would tell no
/// more about the allocator.
template <class Array>
__device__ void write_some(Array& array, std::uint32_t id, std::uint32_t type) {
  const std::size_t any = id % array.size();
  array[any] = value_of(id, type, 2);
  array[0] = value_of(id, type, 0);
  array[array.size() - 1] = value_of(id, type, 1);
}
template <class Array>
__device__ bool holds_some(const Array& array, std::uint32_t id, std::uint32_t type) {
  const std::size_t any = id % array.size();
  if (array[0] != value_of(id, type, 0) || array[array.size() - 1] != value_of(id, type, 1)) return false;
  return any == 0 || any == array.size() - 1 || array[any] == value_of(id, type, 2);
}

class Object4 : public Object {
 public:
  using BaseClass = Object;
  DYNASOAR_FIELDS(Object4)
  __device__ explicit Object4(std::uint32_t id) : Object(id) {}
  __device__ bool holds(std::uint32_t id) const { return this->id() == id; }
};

class Object12 : public Object {
 public:
  using BaseClass = Object;
  DYNASOAR_FIELDS(Object12, (a_, std::uint32_t), (b_, std::uint16_t), (c_, std::uint8_t), (d_, std::uint8_t))
  __device__ explicit Object12(std::uint32_t id)
      : Object(id),
        a_(value_of(id, 1, 0)),
        b_(static_cast<std::uint16_t>(value_of(id, 1, 1))),
        c_(static_cast<std::uint8_t>(value_of(id, 1, 2))),
        d_(static_cast<std::uint8_t>(value_of(id, 1, 3))) {}
  __device__ bool holds(std::uint32_t id) const {
    return this->id() == id && a_ == value_of(id, 1, 0) && b_ == static_cast<std::uint16_t>(value_of(id, 1, 1)) &&
           c_ == static_cast<std::uint8_t>(value_of(id, 1, 2)) && d_ == static_cast<std::uint8_t>(value_of(id, 1, 3));
  }
};

template <class Value, std::size_t kValues>
class ArrayObject : public Object {
 public:
  using BaseClass = Object;
  DYNASOAR_FIELDS(ArrayObject, (values_, std::array<Value, kValues>))
  __device__ explicit ArrayObject(std::uint32_t id) : Object(id) { write_some(values_, id, type()); }
  __device__ bool holds(std::uint32_t id) const { return this->id() == id && holds_some(values_, id, type()); }

 private:
  __device__ static constexpr std::uint32_t type() { return Allocator::index_of<ArrayObject>; }
};

__device__ Object* create(std::uint32_t type, std::uint32_t id) {
  switch (type) {
    case 0: return dynasoar::make_new<Object4>(id);
    case 1: return dynasoar::make_new<Object12>(id);
    case 2: return dynasoar::make_new<Object28>(id);
    case 3: return dynasoar::make_new<Object60>(id);
    case 4: return dynasoar::make_new<Object100>(id);
    default: return dynasoar::make_new<Object200>(id);
  }
}

__device__ std::uint32_t type_of(Object* object) {
  return static_cast<std::uint32_t>(Handle(reinterpret_cast<std::uint64_t>(object)).type_index());
}

__device__ bool intact(Object* object, std::uint32_t id) {
  switch (type_of(object)) {
    case 0: return static_cast<Object4*>(object)->holds(id);
    case 1: return static_cast<Object12*>(object)->holds(id);
    case 2: return static_cast<Object28*>(object)->holds(id);
    case 3: return static_cast<Object60*>(object)->holds(id);
    case 4: return static_cast<Object100*>(object)->holds(id);
    case 5: return static_cast<Object200*>(object)->holds(id);
    default: return false;
  }
}

/// Position of an object's slot among all slots of the heap.
__device__ std::uint32_t slot_number(Object* object) {
  const Handle handle(reinterpret_cast<std::uint64_t>(object));
  return Allocator::block_of(handle) * 64 + handle.slot();
}

/// Bytes of a page that a slot of the type takes.
__host__ __device__ constexpr std::uint32_t bytes_of(std::uint32_t type) {
  constexpr auto kPages = Allocator::pages();
  return static_cast<std::uint32_t>(kPages.bytes / (kPages.blocks_per_page[type] * 64));
}

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

/// Who owns what. An object belongs to the worker, or the mailbox, whose entry it is. Its slot's claim is its id: a
/// slot that is handed out twice is claimed twice.
struct Tables {
  Object** held;         // [kMost * workers], entry i of worker w at i * workers + w
  std::uint32_t* count;  // [workers] entries in use
  std::uint32_t* bytes;  // [workers] of heap that they take
  std::uint32_t workers;
  AtomicWord<std::uint32_t>* claims;     // [slots of the heap] 0: nobody's
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
      // So much is not to be had. Who went on asking without giving would do little else, because a refusal takes a
      // while.
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
    // An object without a claim is nobody's, which the sums will show.
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

struct Phase {
  const char* name;
  int rounds;
  double level;         ///< share of the heap that workers try to take
  bool in_step;         ///< whether warps stay together, so that their requests are combined
  std::uint32_t loyal;  ///< creations in 256 that are of the class in demand; 0: all classes are in equal demand
};

// A heap can only be filled to the last page as long as demand does not change: then pages keep a few objects of the
// class that was in demand before. Refusals take a while, so most rounds are those in which few are to be expected.
constexpr Phase kPhases[] = {{"grow until full", 1, 1.3, false, 0},
                             {"churn at 99 %", 1, 0.99, false, 0},
                             {"drain", 1, 0.02, false, 0},
                             {"churn at 3 %", 20, 0.03, false, 192},
                             {"churn at 50 %", 1, 0.5, false, 192},
                             {"drain to 3 %", 2, 0.03, true, 192},
                             {"in step at 3 %", 100, 0.03, true, 192},
                             {"churn beyond full", 1, 1.1, false, 192},
                             {"drain to 10 %", 1, 0.1, false, 192},
                             {"in step at 30 %", 20, 0.3, true, 0}};

/// The heap, the tables, and the phases of a run.
class Soak {
 public:
  explicit Soak(const Options& options)
      : options_(options),
        handle_({.heap_bytes = options.heap_bytes != 0 ? options.heap_bytes : kDefaultHeap,
                 .on_refusal = dynasoar::OnRefusal::record,
                 .threads = options.threads}),
        pages_(handle_.statistics().pages),
        heap_bytes_(handle_.statistics().heap_bytes),
        workers_(options.workers != 0 ? options.workers : default_workers(heap_bytes_)),
        held_(workers_ * kMost),
        count_(workers_),
        bytes_(workers_),
        claims_(pages_ * Allocator::pages().block_stride * 64),
        mailboxes_(workers_ / 4 + 1),
        stop_(1) {
    count_.fill_bytes(0);
    bytes_.fill_bytes(0);
    claims_.fill_bytes(0);
    mailboxes_.fill_bytes(0);
    stop_.fill_bytes(0);
    tables_ = {held_.data(),
               count_.data(),
               bytes_.data(),
               static_cast<std::uint32_t>(workers_),
               reinterpret_cast<AtomicWord<std::uint32_t>*>(claims_.data()),
               reinterpret_cast<AtomicWord<std::uint64_t>*>(mailboxes_.data()),
               static_cast<std::uint32_t>(mailboxes_.size()),
               reinterpret_cast<AtomicWord<std::uint32_t>*>(stop_.data()),
               tally_.sums()};
  }

  State run(const AfterRound& after_round) {
    bool go_on = true;
    for (std::size_t phase = 0; go_on; ++phase) {
      phase_ = kPhases[phase % std::size(kPhases)];
      for (int i = 0; go_on && i < phase_.rounds; ++i) {
        work();
        go_on = !limit_reached() && after_round(seconds(), [this] { return describe(); });
      }
      verify();
      go_on = go_on && totals_.errors() + unowned_ == 0;
    }
    phase_ = {"end", 0, 0, false, 0};
    if (totals_.errors() + unowned_ == 0)
      finish();  // else the heap is not to be trusted, and might keep us waiting for ever
    return describe();
  }

 private:
  static constexpr std::size_t kDefaultHeap = std::size_t{dynasoar::kCudaBackend ? 1024 : 16} << 20;

  /// Heaps are full at 26 bytes per object then, which is less than any mix of classes takes.
  static std::size_t default_workers(std::size_t heap_bytes) { return heap_bytes / 816 / 32 * 32 + 32; }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  void work() {
    const double share = static_cast<double>(heap_bytes_) / static_cast<double>(workers_);
    handle_.parallel_for(workers_,
                         Round{tables_, options_.seed + ++round_, static_cast<std::uint32_t>(share * phase_.level),
                               phase_.loyal, phase_.in_step});
    handle_.synchronize();
    update();
  }

  bool limit_reached() const {
    return (options_.operations != 0 && totals_.operations() >= options_.operations) ||
           (options_.seconds != 0 && seconds() >= options_.seconds) || found_in_rounds() != 0;
  }

  std::uint64_t found_in_rounds() const { return totals_.doubled + totals_.damaged + totals_.wrong + unowned_; }

  /// Takes over what the workers have counted.
  void update() {
    const auto tally = tally_.totals();
    totals_.created = tally[kCreated];
    totals_.destroyed = tally[kDestroyed];
    totals_.checked = tally[kChecked];
    totals_.exchanged = tally[kExchanged];
    refused_ = tally[kRefused];
    totals_.refused_full = refused_ - totals_.refused_contended;
    totals_.doubled = tally[kDoubled];
    totals_.damaged = tally[kDamaged];
    totals_.wrong = tally[kWrong];
    unowned_ = tally[kUnowned];
  }

  State describe() {
    State state{phase_.name, seconds(), totals_, heap_bytes_, workers_, 0, 0, 0};
    state.totals.lost += unowned_;
    const dynasoar::Statistics statistics = handle_.statistics();
    state.used = statistics.used();
    state.totals.refused_contended = 0;
    for (std::uint32_t type = 0; type < kTypes; ++type) {
      state.live += statistics.types[type].objects;
      state.filled += static_cast<double>(statistics.types[type].objects * bytes_of(type));
      state.totals.refused_contended += statistics.types[type].refused_contended;
    }
    state.totals.refused_full = refused_ - state.totals.refused_contended;
    state.filled /= static_cast<double>(heap_bytes_);
    return state;
  }

  template <class T>
  void sum_objects(const SumsMemory& sums) {
    handle_.template parallel_do<T>(SumObjects{tables_, sums.sums()});
  }

  /// Compares the tables with the heap: its objects one by one, and its own counts.
  void verify() {
    ++totals_.verifications;
    SumsMemory held, found;
    handle_.parallel_for(workers_, SumHeld{tables_, held.sums()});
    handle_.parallel_for(mailboxes_.size(), SumMailboxes{tables_, held.sums()});
    sum_objects<Object4>(found);
    sum_objects<Object12>(found);
    sum_objects<Object28>(found);
    sum_objects<Object60>(found);
    sum_objects<Object100>(found);
    sum_objects<Object200>(found);
    handle_.synchronize();
    update();
    compare(held.totals(), found.totals());
  }

  void compare(const std::array<std::uint64_t, Sums::kStride>& held,
               const std::array<std::uint64_t, Sums::kStride>& found) {
    const dynasoar::Statistics statistics = handle_.statistics();
    for (std::uint32_t type = 0; type < kTypes; ++type) {
      const std::uint64_t owned = held[count_of(type)];
      const std::uint64_t there = found[count_of(type)];
      totals_.visited += there;
      totals_.lost += owned > there ? owned - there : 0;
      totals_.left_over += there > owned ? there - owned : 0;
      // As many, but others.
      totals_.lost += owned == there && held[ids_of(type)] != found[ids_of(type)];
      totals_.miscounted += statistics.types[type].objects != there;
    }
    totals_.miscounted += handle_.count<Object>() != statistics.objects();
    totals_.miscounted += statistics.created() != totals_.created;
    totals_.miscounted += statistics.refused() != refused_;
  }

  void finish() {
    handle_.parallel_for(workers_, DestroyHeld{tables_});
    handle_.parallel_for(mailboxes_.size(), EmptyMailboxes{tables_});
    handle_.synchronize();
    verify();
    SumsMemory claims;
    handle_.parallel_for(claims_.size(), SumClaims{tables_, claims.sums()});
    handle_.synchronize();
    totals_.left_over += claims.totals()[0];
    totals_.miscounted += handle_.statistics().free_pages != pages_;
  }

  Options options_;
  AllocatorHandle<Allocator> handle_;
  std::size_t pages_;
  std::size_t heap_bytes_;
  std::size_t workers_;
  DeviceArray<Object*> held_;
  DeviceArray<std::uint32_t> count_, bytes_, claims_;
  DeviceArray<std::uint64_t> mailboxes_;
  DeviceArray<std::uint32_t> stop_;
  SumsMemory tally_;
  Tables tables_{};
  Phase phase_{};
  std::uint64_t round_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t unowned_ = 0;  // objects whose claim was gone
  Totals totals_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

State run(const Options& options, const AfterRound& after_round) {
  return Soak(options).run(after_round);
}

}  // namespace soak
