/// @file
/// Checks: finds misuse in a checked build (DYNASOAR_CHECKED). Used by SoaAllocator, SoaField and the loops.
///
/// Every slot has a *tag*, which says whether the slot holds an object, the slot's generation, and the loop that
/// created the object. Each creation increments the generation, and a pointer contains the generation of its object.
/// Once the object has been destroyed, the pointer differs from the tag, unless the slot has been reused a multiple of
/// 256 times since. Generations start at a different number for every AllocatorHandle of the process. Therefore
/// pointers of another handle also differ in 255 of 256 cases.
///
/// Misuse is recorded, and the operation does nothing: `make_new` returns null, `destroy` changes nothing, and a field
/// access goes to scratch memory that is not used otherwise.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include <dynasoar/checks/misuse.h>
#include <dynasoar/checks/placed_checks.h>
#include <dynasoar/checks/tag.h>
#include <dynasoar/checks/thread_context.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

// The kinds of build among the files of this program, so that AllocatorHandle can refuse a mixture. The library's own
// sources serve both kinds.
inline constexpr unsigned kUncheckedBuild = 1, kCheckedBuild = 2;
inline unsigned kinds_of_build = 0;
#if !defined(DYNASOAR_LIBRARY_SOURCE)
[[maybe_unused]] static const unsigned kind_of_this_file = kinds_of_build |= kChecked ? kCheckedBuild : kUncheckedBuild;
#endif

/// The running loop; set by AllocatorHandle in stream order.
struct LoopRecord {
  AtomicWord<std::uint32_t> number;     ///< 1 to Tag::kNoLoop - 1; 0: a kernel that the user has written
  AtomicWord<std::uint64_t> visits[4];  ///< one bit per class whose objects the loop visits

  /// Bits for fields that a constructor has left unset. There are enough bits that fields rarely share one.
  AtomicWord<std::uint64_t> left_unset[32];

  __device__ void leave_unset(int type, std::uint32_t field) {
    if (was_left_unset(type, field)) return;
    left_unset[word(type, field)].fetch_or(std::uint64_t{1} << field % 64, Order::relaxed);
  }
  __device__ bool was_left_unset(int type, std::uint32_t field) const {
    return (left_unset[word(type, field)].load(Order::relaxed) >> field % 64 & 1) != 0;
  }

 private:
  __device__ static std::uint32_t word(int type, std::uint32_t field) {
    return (static_cast<std::uint32_t>(type) + field / 64) % 32;
  }
};

/// The value of all bytes of a field that nothing has set. Reads compare with it only if a constructor has left a field
/// unset.
inline constexpr unsigned char kUnsetByte = 0xb5;

/// The calls of make_new that fail on purpose, see FaultInjection.
struct FaultPlan {
  AtomicWord<std::uint64_t>* attempts;  ///< calls so far
  std::uint64_t first, every;

  __device__ bool fails_now() const {
    if (first == 0) return false;
    const std::uint64_t attempt = attempts->fetch_add(1, Order::relaxed) + 1;  // relaxed: a count
    return attempt == first || (attempt > first && every != 0 && (attempt - first) % every == 0);
  }
};

/// The part of an allocator's state in checked builds.
struct CheckState {
  AtomicWord<std::uint32_t>* tags;  ///< [blocks * 64]
  MisuseRecord* misuse;
  LoopRecord* loop;
  char* scratch;  ///< a block for accesses that must not happen; null on the host
  FaultPlan faults;
};

/// The same part in other builds.
struct Unchecked {};

/// During its lifetime, the calling thread's context says that a loop of allocator type A runs on an object or index.
template <class A>
class ContextScope;

/// During its lifetime, the calling thread's context says that a constructor of a T, of allocator type A, is running.
template <class A, class T>
class ConstructorScope;

/// The checks of allocator type A.
template <class A>
class Checks {
 public:
  /// Whether a field of `handle`, a C*, may be accessed. Records misuse.
  ///
  /// @param field   its number among all fields of C
  template <class C>
  __device__ static bool may_access(Handle handle, std::uint32_t field) {
    Tag tag(0);
    const Misuse wrong = judge<C>(handle, tag);
    if (wrong != Misuse::none) {
      note<C>(wrong, Operation::access, handle, field);
      return false;
    }
    if (counts_nesting()) {
      const RunningConstructor* const running = thread_context().construction;
      if (running != nullptr && running->object == handle.bits()) running->set[field / 32] |= 1u << field % 32;
    }
    return true;
  }

  /// Whether the constructor of a field of `handle`, a C*, runs in the heap. Records misuse.
  template <class C>
  __device__ static bool may_construct(Handle handle, std::uint32_t field) {
    if (handle.type_index() >= 0) return true;
    if (bound_state<A>().heap.pages == 0) {
      end_program(
          "an object is constructed as a variable, a member or an element of a container, or with 'new', and there is "
          "no AllocatorHandle of its allocator alive. Objects exist in its heap only: create them with make_new or "
          "parallel_new");
    }
    note<C>(Misuse::outside_heap, Operation::construct, handle, field);
    return false;
  }

  /// Records a read of a field that nothing has set. @param bytes   the `size` bytes of the field
  template <class C>
  __device__ static void check_set(Handle handle, std::uint32_t field, const void* bytes, std::size_t size) {
    if (handle.type_index() < 0 || !state().loop->was_left_unset(handle.type_index(), field)) return;
    const auto* const value = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < size; ++i) {
      if (value[i] != kUnsetByte) return;
    }
    note<C>(Misuse::unset_field, Operation::access, handle, field);
  }

  /// Records an access beyond the end of an array field.
  template <class C>
  __device__ static void note_index(Handle handle, std::uint32_t field, std::uint64_t element) {
    note<C>(Misuse::index_out_of_range, Operation::access, handle, field, element);
  }

  /// Called before a T is created. @return whether it may be created
  template <class T>
  __device__ static bool begin_create() {
    Misuse wrong = Misuse::none;
    check_alive();
    if (!runs_in_loop()) {
      wrong = Misuse::outside_loop;
    } else if (counts_nesting() && nesting() == kMaxNesting) {
      wrong = Misuse::nested_construction;
    }
    if (wrong == Misuse::none) return true;
    note<T>(wrong, Operation::create, Handle(0));
    return false;
  }

  /// Called before an object is constructed in a slot. @pre the caller has reserved the slot
  __device__ static void mark_created(std::uint32_t block, std::uint32_t slot) {
    const std::uint32_t loop = state().loop->number.load(Order::relaxed);
    AtomicWord<std::uint32_t>& word = tag_of(block, slot);
    // relaxed: the last owner changed the tag before it released the slot, which the caller acquired.
    word.store(Tag(word.load(Order::relaxed)).created(loop == 0 ? Tag::kNoLoop : loop).bits(), Order::relaxed);
  }

  /// Called before a slot is released.
  __device__ static void mark_deleted(std::uint32_t block, std::uint32_t slot) {
    AtomicWord<std::uint32_t>& word = tag_of(block, slot);
    word.store(Tag(word.load(Order::relaxed)).deleted().bits(), Order::relaxed);
  }

  /// The generation of the object in a slot.
  __device__ static std::uint32_t generation(std::uint32_t block, std::uint32_t slot) {
    return Tag(tag_of(block, slot).load(Order::relaxed)).generation();
  }

  /// Called before `handle`, a C* that is not null, is destroyed. @return whether the caller may destroy it; true for
  /// only one caller per object
  ///
  /// @param operation   destroy or become
  template <class C>
  __device__ static bool begin_destroy(Handle handle, Operation operation = Operation::destroy) {
    Tag tag(0);
    Misuse wrong = judge<C>(handle, tag);
    if (wrong == Misuse::stale_access) wrong = Misuse::double_destroy;
    if (wrong == Misuse::none && !runs_in_loop()) wrong = Misuse::outside_loop;
    if (wrong == Misuse::none && is_visited_by_loop_of_another(handle, tag)) wrong = Misuse::destroyed_by_other;
    if (wrong == Misuse::none && !claim_for_destruction(handle, tag)) wrong = Misuse::double_destroy;
    if (wrong == Misuse::none) return true;
    note<C>(wrong, operation, handle);
    return false;
  }

  /// Called if an object lives on although begin_destroy returned true. @pre nothing else has changed it since
  __device__ static void cancel_destroy(Handle handle) {
    AtomicWord<std::uint32_t>& word = tag_of(handle);
    word.store(Tag(word.load(Order::relaxed)).before_destruction().bits(), Order::relaxed);
  }

  /// Called before `handle`, a C* to a placed object that is not null, is destroyed or moved. @return whether this is
  /// allowed. It is no misuse if several threads try
  template <class C>
  __device__ static bool may_depart(Handle handle) {
    Tag tag(0);
    Misuse wrong = judge<C>(handle, tag);
    if (wrong == Misuse::stale_access) wrong = Misuse::double_destroy;
    if (wrong == Misuse::none && !runs_in_loop()) wrong = Misuse::outside_loop;
    if (wrong == Misuse::none) return true;
    note<C>(wrong, Operation::destroy, handle);
    return false;
  }

  /// Records that a T could not be created at or moved to a place of a divided lattice, because another object had
  /// arrived there in the same loop.
  template <class T>
  __device__ static void note_lost_race() {
    note<T>(Misuse::lost_race, Operation::create, Handle(0));
  }

  /// Memory of the size of a block, for an access that must not happen. On the host each thread has its own.
  __device__ static char* scratch() {
    if constexpr (kCudaBackend) {
      return state().scratch;
    } else {
      return memory_of_host_thread<A::largest_block_bytes(), kArrayAlignment>();
    }
  }

  /// Names the allocator in contexts.
  __device__ static std::uint32_t mark() {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(state().loop) >> 4) | 1;
  }

  /// The number of nested constructors that run in the calling thread. @pre counts_nesting()
  __device__ static std::uint32_t nesting() {
    const RunningConstructor* const running = thread_context().construction;
    return running == nullptr ? 0 : running->depth;
  }

  /// Called after the constructor of a T: writes kUnsetByte into the fields that it has not accessed.
  template <class T>
  __device__ static void mark_unset(const RunningConstructor& construction) {
    const Handle handle(construction.object);
    char* const block = A::template base_of<T>(handle) + handle.block_offset();
    std::uint32_t field = 0;
    for_each_field<T>([&]<class Arrays>(Arrays) {
      if ((construction.set[field / 32] >> field % 32 & 1) == 0) {
        state().loop->leave_unset(handle.type_index(), field);
        char* const values = block + Arrays::kOffset + handle.slot() * sizeof(typename Arrays::Element);
        for (std::size_t i = 0; i < Arrays::kCount * sizeof(typename Arrays::Element); ++i) {
          constexpr std::size_t kBytes = sizeof(typename Arrays::Element);
          values[i / kBytes * Arrays::kStride + i % kBytes] = static_cast<char>(kUnsetByte);
        }
      }
      ++field;
    });
  }

  /// Called before a field is copied from `from` to `to`, an object of another class. If nothing has set it in `from`,
  /// reads of it in `to` will be found, too.
  __device__ static void carry_unset(Handle from, Handle to, std::uint32_t field) {
    LoopRecord& loop = *state().loop;
    if (loop.was_left_unset(from.type_index(), field)) loop.leave_unset(to.type_index(), field);
  }

  /// Whether the calling thread's context counts nested constructors.
  __device__ static bool counts_nesting() { return !kCudaBackend || has_context(); }

 private:
  static constexpr std::uint32_t kMaxNesting = kCudaBackend ? 8 : 1000;  // a GPU's threads have little stack

  __device__ static const CheckState& state() { return bound_state<A>().checks; }

  __device__ static AtomicWord<std::uint32_t>& tag_of(std::uint32_t block, std::uint32_t slot) {
    return state().tags[block * kSlotsPerBlock + slot];
  }
  __device__ static AtomicWord<std::uint32_t>& tag_of(Handle handle) {
    return tag_of(A::block_of(handle), handle.slot());
  }

  /// The misuse if `handle` is used as a C*, or none. @param tag   receives the slot's tag on which the result is based
  template <class C>
  __device__ static Misuse judge(Handle handle, Tag& tag) {
    check_alive();
    if (handle.bits() == 0) return Misuse::null_access;
    if constexpr (is_placed<C>()) {
      if (is_of_class<C>(handle.type_index())) return judge_placed<A>(handle);
      const bool is_listed = handle.type_index() >= 0 && handle.type_index() < A::kTypes;
      return is_listed ? Misuse::wrong_class : Misuse::foreign_pointer;
    }
    if (!A::is_position_of_object(handle)) return Misuse::foreign_pointer;
    if (!is_of_class<C>(handle.type_index())) return Misuse::wrong_class;
    tag = Tag(tag_of(handle).load(Order::relaxed));
    if (!tag.was_ever_used()) return Misuse::never_created;
    const bool is_same_object = tag.is_alive() && tag.generation() == handle.generation() &&
                                bound_state<A>().heap.type_of(A::block_of(handle)) == handle.type_index();
    return is_same_object ? Misuse::none : Misuse::stale_access;
  }

  template <class C>
  __device__ static std::uint32_t first_class() {
    int first = -1;
    A::template Subtypes<C>::for_each([&]<class S>(std::type_identity<S>) {
      if (first < 0) first = A::template index_of<S>;
    });
    return static_cast<std::uint32_t>(first);
  }

  /// @param tag   the tag from `judge`. If it has changed since, another thread is destroying or has destroyed the
  ///              object
  __device__ static bool claim_for_destruction(Handle handle, Tag tag) {
    std::uint32_t expected = tag.before_destruction().bits();
    // relaxed: only uniqueness matters.
    return tag_of(handle).compare_exchange(expected, tag.being_destroyed().bits(), Order::relaxed);
  }

  /// Whether the running loop visits the object, but in another thread or at another time. The loop does not visit
  /// objects that were created in it.
  __device__ static bool is_visited_by_loop_of_another(Handle handle, Tag tag) {
    if (!has_context()) return false;
    const std::uint64_t visitor = thread_context().object;
    if (visitor == 0 || visitor == handle.bits()) return false;
    const LoopRecord& loop = *state().loop;
    const int type = handle.type_index();
    if ((loop.visits[type / 64].load(Order::relaxed) >> type % 64 & 1) == 0) return false;
    return tag.loop() != loop.number.load(Order::relaxed);
  }

  /// Whether the calling thread runs a loop of this allocator, so that its context is valid.
  __device__ static bool has_context() { return thread_context().mark == mark(); }

  /// Ends the program if there is no heap, because misuse could not be recorded then.
  __device__ static void check_alive() {
    if (bound_state<A>().heap.pages == 0) {
      end_program(
          "an object is used, created or destroyed, but there is no AllocatorHandle of its allocator alive (or, in a "
          "kernel of your own: device_pointer() was not called before the launch, in the same file)");
    }
  }

  template <class C>
  __device__ static void note(Misuse kind, Operation operation, Handle handle, std::uint32_t field = 0,
                              std::uint64_t element = 0) {
    Offence offence;
    offence.object = handle.bits();
    offence.by = has_context() ? thread_context().object : 0;
    offence.operation = operation;
    offence.class_index = first_class<C>();
    offence.field = field;
    offence.element = element;
    state().misuse->add(kind, offence);
  }
};

template <class A>
class ContextScope {
 public:
  /// @param object   bits of the pointer to the object; 0: an index
  __device__ explicit ContextScope(std::uint64_t object) { thread_context() = {object, nullptr, Checks<A>::mark()}; }
  __device__ ~ContextScope() { thread_context() = {}; }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
};

template <class A, class T>
class ConstructorScope {
 public:
  /// @param object   the T that is about to be constructed
  __device__ explicit ConstructorScope(const T* object) : counted_(Checks<A>::counts_nesting()) {
    if (!counted_) return;
    ThreadContext& context = thread_context();
    construction_ = {reinterpret_cast<std::uint64_t>(object), Checks<A>::nesting() + 1, context.construction, set_};
    context.construction = &construction_;
  }
  __device__ ~ConstructorScope() {
    if (!counted_) return;
    thread_context().construction = construction_.outer;
    Checks<A>::template mark_unset<T>(construction_);
  }
  ConstructorScope(const ConstructorScope&) = delete;
  ConstructorScope& operator=(const ConstructorScope&) = delete;

 private:
  bool counted_;
  RunningConstructor construction_{};
  std::uint32_t set_[ClassLayout<T>::field_count / 32 + 1] = {};
};

/// Replaces these scopes in other builds.
struct NoScope {
  template <class... Arguments>
  __device__ explicit NoScope(const Arguments&...) {}
};

}  // namespace dynasoar::detail
