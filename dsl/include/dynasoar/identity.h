/// @file
/// Identity: a number that an object keeps for life, and that is the same in every run. IdentityIndex: finds objects by
/// their numbers. See docs/how-to/identity.md. Not included by dynasoar.h, because many programs do not need it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/type_name.h>
#include <dynasoar/detail/attachment.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/platform/sort.h>
#include <dynasoar/random.h>

namespace dynasoar {

/// The number of an object, to be stored in a field of its class. It does not depend on the object's address or on the
/// order of threads, and is the same on all backends and in later versions:
///
///     class Cell : public dynasoar::SoaBase<AllocatorT> {
///      public:
///       DYNASOAR_FIELDS(Cell, (identity_, dynasoar::Identity), (births_, std::uint32_t))
///       __device__ explicit Cell(std::size_t index) : Cell(dynasoar::first_identity({42}, index)) {}
///       __device__ explicit Cell(dynasoar::Identity identity) : identity_(identity), births_(0) {}
///       __device__ void divide() { dynasoar::make_new<Cell>(dynasoar::child_identity(identity_, births_++)); }
///     };
///
/// Numbers are hashes, so two objects may get the same one. Among n objects, this happens with a probability of
/// n^2 / 2^65, which is 2.7e-8 for 10^6 objects and 2.7 % for 10^9. IdentityIndex::rebuild detects it.
///
/// Columns, files and `print` show an Identity as an integer of 64 bits. `static_cast<std::uint64_t>(identity)` returns
/// this integer, and `Identity{number}` converts it back.
enum class Identity : std::uint64_t {
  none = 0  ///< the object has no number; the functions below never return this value
};

namespace detail {

/// A hash of two numbers, which is never 0. @param use   distinguishes hashes for different purposes
__host__ __device__ constexpr Identity hashed_identity(random::Seed seed, std::uint32_t use, std::uint64_t a,
                                                       std::uint64_t b) {
  const random::Words words =
      random::words(seed, use, a, static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32));
  const std::uint64_t number = std::uint64_t{words[1]} << 32 | words[0];
  return Identity{number == 0 ? 1 : number};
}

inline constexpr std::uint32_t kFirstIdentities = 0x6669'7273;  // no model's purpose has such a number
inline constexpr std::uint32_t kChildIdentities = 0x6368'696C;

}  // namespace detail

/// The number of an object that has no parent.
///
/// @param index   must differ between all objects without a parent, whatever their class; for example the index that
///                parallel_new passes
/// @par Cost   about 60 instructions
__host__ __device__ constexpr Identity first_identity(random::Seed seed, std::uint64_t index) {
  return detail::hashed_identity(seed, detail::kFirstIdentities, index, 0);
}

/// The number of a child of an object.
///
/// @param birth   must differ between all children of this parent; for example a field that counts them, or the number
///                of the step if a parent has at most one child in a step
/// @pre `parent` is not Identity::none
/// @par Cost   about 60 instructions
__host__ __device__ constexpr Identity child_identity(Identity parent, std::uint64_t birth) {
  return detail::hashed_identity({0}, detail::kChildIdentities, static_cast<std::uint64_t>(parent), birth);
}

/// Finds objects by their numbers in device code: see IdentityIndex::view(). Trivially copyable, so pass it to loops.
template <class T>
class IdentityView {
 public:
  IdentityView(const std::uint64_t* numbers, T* const* objects, std::uint32_t size)
      : numbers_(numbers), objects_(objects), size_(size) {}

  /// The object with this number, or null if there was none when the index was rebuilt.
  ///
  /// @pre the object has not been deleted since then
  /// @par Cost   reads as many words as size() has bits: a binary search
  __device__ T* find(Identity identity) const {
    const auto wanted = static_cast<std::uint64_t>(identity);
    std::uint32_t first = 0;
    for (std::uint32_t left = size_; left > 0;) {  // the number is at or behind `first`, among `left` others
      const std::uint32_t half = left / 2;
      const bool is_behind = numbers_[first + half] < wanted;
      first += is_behind ? half + 1 : 0;
      left = is_behind ? left - half - 1 : half;
    }
    return first < size_ && numbers_[first] == wanted ? objects_[first] : nullptr;
  }

  /// Object number i in the order of the numbers, 0 <= i < size(). So a random index chooses the same object in every
  /// run.
  /// @pre the object has not been deleted since the index was rebuilt
  __device__ T* operator[](std::uint32_t i) const { return objects_[i]; }

  /// The number of objects in the index.
  __host__ __device__ std::uint32_t size() const { return size_; }

 private:
  const std::uint64_t* numbers_;  // ascending
  T* const* objects_;
  std::uint32_t size_;
};

namespace detail {

/// Counters of an index that is being built.
struct IdentityCounts {
  AtomicWord<std::uint64_t> objects;
  AtomicWord<std::uint64_t> duplicates;  ///< objects whose number another object has already
  AtomicWord<std::uint64_t> least;       ///< the least number that several objects have
};

/// Stores the objects that have a number, and these numbers, in any order.
template <class T, auto kField>
struct NoteIdentity {
  IdentityCounts* counts;
  std::uint64_t* numbers;
  std::uint32_t* entries;
  T** objects;
  std::uint64_t room;

  template <class S>
  __device__ void operator()(S* object) const {
    T* const noted = object;
    const Identity identity = (noted->*kField).get();
    if (identity == Identity::none) return;
    const std::uint64_t entry = counts->objects.fetch_add(1, Order::relaxed);
    if (entry >= room) return;  // only if kept lists contain more objects than there are
    numbers[entry] = static_cast<std::uint64_t>(identity);
    entries[entry] = static_cast<std::uint32_t>(entry);
    objects[entry] = noted;
  }
};

/// Puts the objects into the order of their numbers, and counts numbers that occur more than once.
template <class T>
struct OrderIdentities {
  IdentityCounts* counts;
  const std::uint64_t* numbers;
  const std::uint32_t* entries;
  T* const* objects;
  T** ordered;

  __device__ void operator()(std::size_t i) const {
    ordered[i] = objects[entries[i]];
    if (i == 0 || numbers[i] != numbers[i - 1]) return;
    counts->duplicates.fetch_add(1, Order::relaxed);
    counts->least.fetch_min(numbers[i], Order::relaxed);
  }
};

template <class T>
struct FindIdentity {
  IdentityView<T> view;
  Identity identity;
  T** found;
  __device__ void operator()(std::size_t) const { *found = view.find(identity); }
};

/// The arrays of an index: numbers, entries and objects, each twice, and memory for the sort.
class IdentityMemory {
 public:
  static constexpr std::size_t kBytesPerObject =
      2 * (sizeof(std::uint64_t) + sizeof(std::uint32_t) + sizeof(std::uint64_t));

  /// Makes room for `objects` objects. @throws Error if there is not enough memory
  void make_room(std::size_t objects, std::string_view type);

  KeyedNumbers<std::uint64_t> pairs() const;
  void** objects(int which) const;

  /// Sorts the first `count` pairs. @return as sort_pairs
  int sort(Executor& executor, std::size_t count) const;

 private:
  std::size_t room_ = 0;
  DeviceArray<std::uint64_t> words_;  // numbers and objects
  DeviceArray<std::uint32_t> entries_;
  DeviceArray<char> scratch_;
};

/// @throws Error that says that several objects have the same number
[[noreturn]] void throw_duplicate_identities(std::string_view type, std::uint64_t duplicates, std::uint64_t least);

}  // namespace detail

/// Finds the objects of a class and its subclasses by their numbers.
///
///     dynasoar::IdentityIndex<&Cell::identity_> cells(handle);
///     cells.rebuild();
///     handle.parallel_do<&Cell::look_up>(cells.view());   // view.find(identity) in device code
///     Cell* const cell = cells.find(identity);            // on the host, to be passed to a loop
///
/// An index describes the objects at its last rebuild. Objects created since then are not in it. Do not look for
/// objects deleted since then: `find` would return a stale pointer, whose use checked builds report. If you compact or
/// sort objects, pass `objects()` to that call, or rebuild the index. After a checkpoint has been loaded, the index has
/// no objects until you rebuild it.
///
/// @tparam kField   a field of type Identity
template <auto kField>
class IdentityIndex final : detail::Attachment {
  using Field = detail::FieldPointer<decltype(kField)>;
  static_assert(std::is_same_v<typename Field::Type, Identity>,
                "dynasoar: an IdentityIndex looks at a field of type dynasoar::Identity, and this field is of another "
                "type");

 public:
  using T = typename Field::Class;
  using Allocator = typename T::Allocator;
  using View = IdentityView<T>;

  /// An index without objects. @pre the handle outlives it
  explicit IdentityIndex(AllocatorHandle<Allocator>& handle) : handle_(handle) {
    handle_.loops().attachments().add(*this);
  }
  IdentityIndex(const IdentityIndex&) = delete;
  IdentityIndex& operator=(const IdentityIndex&) = delete;
  ~IdentityIndex() { handle_.loops().attachments().remove(*this); }

  /// Rebuilds the index from all objects whose number is not Identity::none. Waits for all loops, so a recorded step
  /// cannot call it.
  ///
  /// @throws Error if two objects have the same number, or memory is short: the index then has no objects. Also throws
  ///         what AllocatorHandle::synchronize throws, and throws an Error in a recorded step
  /// @par Cost   a radix sort of numbers of 64 bits; 40 bytes of memory per object, which the index keeps
  void rebuild();

  /// The view for device code. Valid until the next rebuild, after which recorded steps that use it are recorded again.
  View view() const { return {numbers_, objects_, size_}; }

  /// The object with this number, or null. Runs a loop and waits for it: to find many objects, use `view()`.
  /// @pre the object has not been deleted since the last rebuild
  T* find(Identity identity) const;

  /// The number of objects in the index.
  std::uint32_t size() const { return size_; }

  /// The pointers in the index. Pass them to AllocatorHandle::compact and AllocatorHandle::sort, which update them:
  /// `handle.compact<Cell>({}, cells.objects())`. The index then stays valid.
  PointerArray<T> objects() const { return {objects_, size_}; }

 private:
  void objects_replaced() override {  // by those of a checkpoint; the index points to the old ones
    ++rebuilds_;
    size_ = 0;
  }
  std::uint64_t moves() const override { return rebuilds_; }

  AllocatorHandle<Allocator>& handle_;
  detail::IdentityMemory memory_;
  const std::uint64_t* numbers_ = nullptr;
  T** objects_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint64_t rebuilds_ = 0;
};

template <auto kField>
void IdentityIndex<kField>::rebuild() {
  Executor& executor = handle_.executor();
  executor.check_may_wait();
  ++rebuilds_;
  size_ = 0;
  const std::size_t most = handle_.template count<T>();
  memory_.make_room(most, type_name<T>());
  const auto pairs = memory_.pairs();
  T** const found = reinterpret_cast<T**>(memory_.objects(0));
  objects_ = reinterpret_cast<T**>(memory_.objects(1));
  DeviceArray<detail::IdentityCounts> counts(1);
  counts.fill_bytes(0);
  executor.fill_bytes(&counts.data()->least, 0xff, sizeof(std::uint64_t));
  handle_.template parallel_do<T>(
      detail::NoteIdentity<T, kField>{counts.data(), pairs.keys[0], pairs.numbers[0], found, most});
  executor.wait();
  const std::uint64_t noted = std::min<std::uint64_t>(counts.download()[0].objects.load(Order::relaxed), most);
  const int result = memory_.sort(executor, noted);
  numbers_ = pairs.keys[result];
  executor.for_each_index(noted,
                          detail::OrderIdentities<T>{counts.data(), numbers_, pairs.numbers[result], found, objects_});
  executor.wait();
  const detail::IdentityCounts counted = counts.download()[0];
  const std::uint64_t duplicates = counted.duplicates.load(Order::relaxed);
  if (duplicates > 0) {
    detail::throw_duplicate_identities(type_name<T>(), duplicates, counted.least.load(Order::relaxed));
  }
  size_ = static_cast<std::uint32_t>(noted);
}

template <auto kField>
auto IdentityIndex<kField>::find(Identity identity) const -> T* {
  Executor& executor = handle_.executor();
  executor.check_may_wait();
  const DeviceArray<T*> found(1);
  executor.for_each_index(1, detail::FindIdentity<T>{view(), identity, found.data()});
  executor.synchronize();
  return found.download()[0];
}

}  // namespace dynasoar
