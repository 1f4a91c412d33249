/// @file
/// Checks: how a checked build (DYNASOAR_CHECKED) finds misuse. Used by SoaAllocator, SoaField and the loops.
///
/// Every slot has a *tag*: whether an object lives in it, the slot's generation, counted at each creation, and the loop
/// in which the object was created. A pointer carries the generation of its object, so one that outlived it differs
/// from the tag, unless the slot was reused a multiple of 256 times since. Generations start at a number that is
/// different for every AllocatorHandle of the process, so that pointers of another one differ as well, 255 times out of
/// 256.
///
/// What is found is recorded, and the offending operation does nothing: `make_new` returns null, `destroy` leaves
/// everything as it is, a field access goes to scratch memory that nobody looks at.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include <dynasoar/allocator/handle.h>
#include <dynasoar/allocator/layout.h>
#include <dynasoar/allocator/misuse.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

// The kinds of build among the files of this program, for AllocatorHandle to refuse a mixture. The library's own
// sources serve both kinds.
inline constexpr unsigned kUncheckedBuild = 1, kCheckedBuild = 2;
inline unsigned kinds_of_build = 0;
#if !defined(DYNASOAR_LIBRARY_SOURCE)
[[maybe_unused]] static const unsigned kind_of_this_file = kinds_of_build |= kChecked ? kCheckedBuild : kUncheckedBuild;
#endif

/// The tag of a slot: alive (bit 0), being destroyed (bit 1), generation (2-9), loop of creation (10-31).
class Tag {
 public:
  __host__ __device__ explicit constexpr Tag(std::uint32_t bits) : bits_(bits) {}

  /// Of a slot that has never been used.
  __host__ __device__ static constexpr Tag unused(std::uint32_t generation) {
    return Tag(generation % Handle::kGenerations << kGenerationShift);
  }

  __host__ __device__ constexpr std::uint32_t bits() const { return bits_; }
  __host__ __device__ constexpr bool is_alive() const { return (bits_ & kAlive) != 0; }
  __host__ __device__ constexpr std::uint32_t generation() const {
    return (bits_ >> kGenerationShift) % Handle::kGenerations;
  }
  __host__ __device__ constexpr std::uint32_t loop() const { return bits_ >> kLoopShift; }
  __host__ __device__ constexpr bool was_ever_used() const { return loop() != 0; }

  __host__ __device__ constexpr Tag created(std::uint32_t loop) const {
    return Tag(unused(generation() + 1).bits_ | kAlive | loop << kLoopShift);
  }
  __host__ __device__ constexpr Tag being_destroyed() const { return Tag(bits_ | kDying); }
  __host__ __device__ constexpr Tag before_destruction() const { return Tag(bits_ & ~kDying); }
  __host__ __device__ constexpr Tag deleted() const { return Tag(bits_ & ~(kAlive | kDying)); }

  static constexpr std::uint32_t kNoLoop = (1u << 22) - 1;  ///< created in a kernel of the user's own

 private:
  static constexpr std::uint32_t kAlive = 1, kDying = 2;
  static constexpr int kGenerationShift = 2, kLoopShift = 10;
  std::uint32_t bits_;
};

/// The running loop; set by AllocatorHandle in stream order.
struct LoopRecord {
  AtomicWord<std::uint32_t> number;     ///< 1 to Tag::kNoLoop - 1; 0: a kernel of the user's own
  AtomicWord<std::uint64_t> visits[4];  ///< one bit per class whose objects the loop visits
};

/// Which calls of make_new fail on purpose, see FaultInjection.
struct FaultPlan {
  AtomicWord<std::uint64_t>* attempts;  ///< calls so far
  std::uint64_t first, every;

  __device__ bool fails_now() const {
    if (first == 0) return false;
    const std::uint64_t attempt = attempts->fetch_add(1, Order::relaxed) + 1;  // relaxed: a count
    return attempt == first || (attempt > first && every != 0 && (attempt - first) % every == 0);
  }
};

/// What checked builds add to an allocator's state.
struct CheckState {
  AtomicWord<std::uint32_t>* tags;  ///< [blocks * 64]
  MisuseRecord* misuse;
  LoopRecord* loop;
  char* scratch;  ///< a block for accesses that must not happen; null on the host
  FaultPlan faults;
};

/// What other builds add to it.
struct Unchecked {};

/// What a thread of a loop is doing; garbage in kernels of the user's own.
struct ThreadContext {
  std::uint64_t object = 0;   ///< bits of the pointer to the object that the loop runs on; 0 if it runs over indices
  std::uint32_t nesting = 0;  ///< make_new in constructors in make_new
  std::uint32_t mark = 0;     ///< whose loop it is, see Checks::mark; with 32 bits, garbage is not taken for one
};

/// The calling thread's.
__device__ inline ThreadContext& thread_context() {
#if defined(__CUDA_ARCH__)
  __shared__ std::uint64_t objects[kThreadsPerBlock * 2];  // contexts; a shared variable may not have initializers
  static_assert(sizeof(ThreadContext) == 2 * sizeof(std::uint64_t));
  return reinterpret_cast<ThreadContext*>(objects)[threadIdx.x % kThreadsPerBlock];
#elif DYNASOAR_CUDA_BACKEND
  static ThreadContext never_used;  // device code only
  return never_used;
#else
  static thread_local ThreadContext context;
  return context;
#endif
}

/// While one lives, the calling thread's context says that a loop of allocator type A runs on an object, or an index.
template <class A>
class ContextScope;

/// While one lives, the calling thread is in a constructor, of an object of allocator type A.
template <class A>
class ConstructorScope;

/// The checks of allocator type A.
template <class A>
class Checks {
 public:
  /// Whether a field of `handle`, a C*, may be accessed; notes why not.
  ///
  /// @param field   number among all fields of C
  template <class C>
  __device__ static bool may_access(Handle handle, std::uint32_t field) {
    Tag tag(0);
    const Misuse wrong = judge<C>(handle, tag);
    if (wrong == Misuse::none) return true;
    note<C>(wrong, Operation::access, handle, field);
    return false;
  }

  /// Notes an access beyond the end of an array field.
  template <class C>
  __device__ static void note_index(Handle handle, std::uint32_t field, std::uint64_t element) {
    note<C>(Misuse::index_out_of_range, Operation::access, handle, field, element);
  }

  /// Before a T is made. @return whether it may
  template <class T>
  __device__ static bool begin_create() {
    Misuse wrong = Misuse::none;
    check_alive();
    if (!runs_in_loop()) {
      wrong = Misuse::outside_loop;
    } else if (counts_nesting() && thread_context().nesting == kMaxNesting) {
      wrong = Misuse::nested_construction;
    }
    if (wrong == Misuse::none) return true;
    note<T>(wrong, Operation::create, Handle(0));
    return false;
  }

  /// The slot is the caller's, and an object is about to be constructed in it.
  __device__ static void mark_created(std::uint32_t block, std::uint32_t slot) {
    const std::uint32_t loop = state().loop->number.load(Order::relaxed);
    AtomicWord<std::uint32_t>& word = tag_of(block, slot);
    // relaxed: the last owner's changes came before it gave the slot back, which the caller acquired.
    word.store(Tag(word.load(Order::relaxed)).created(loop == 0 ? Tag::kNoLoop : loop).bits(), Order::relaxed);
  }

  /// The slot is about to be given back.
  __device__ static void mark_deleted(std::uint32_t block, std::uint32_t slot) {
    AtomicWord<std::uint32_t>& word = tag_of(block, slot);
    word.store(Tag(word.load(Order::relaxed)).deleted().bits(), Order::relaxed);
  }

  /// The generation of the object in a slot.
  __device__ static std::uint32_t generation(std::uint32_t block, std::uint32_t slot) {
    return Tag(tag_of(block, slot).load(Order::relaxed)).generation();
  }

  /// Before `handle`, a C* that is not null, is destroyed. @return whether it may; true for one caller per object
  template <class C>
  __device__ static bool begin_destroy(Handle handle) {
    Tag tag(0);
    Misuse wrong = judge<C>(handle, tag);
    if (wrong == Misuse::stale_access) wrong = Misuse::double_destroy;
    if (wrong == Misuse::none && !runs_in_loop()) wrong = Misuse::outside_loop;
    if (wrong == Misuse::none && is_visited_by_loop_of_another(handle, tag)) wrong = Misuse::destroyed_by_other;
    if (wrong == Misuse::none && !claim_for_destruction(handle, tag)) wrong = Misuse::double_destroy;
    if (wrong == Misuse::none) return true;
    note<C>(wrong, Operation::destroy, handle);
    return false;
  }

  /// Memory for an access that must not happen, as large as a block. On the host each thread has its own.
  __device__ static char* scratch() {
#if DYNASOAR_CUDA_BACKEND
    return state().scratch;
#else
    alignas(kArrayAlignment) static thread_local char memory[A::largest_block_bytes()];
    return memory;
#endif
  }

  /// Names the allocator in contexts.
  __device__ static std::uint32_t mark() {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(state().loop) >> 4) | 1;
  }

  /// Whether the calling thread's context says how deep in constructors it is.
  __device__ static bool counts_nesting() {
    return !kCudaBackend || has_context();
  }

 private:
  static constexpr std::uint32_t kMaxNesting = kCudaBackend ? 8 : 1000;  // a GPU's threads have little stack

  __device__ static const CheckState& state() {
    return bound_state<A>().checks;
  }

  __device__ static AtomicWord<std::uint32_t>& tag_of(std::uint32_t block, std::uint32_t slot) {
    return state().tags[block * kSlotsPerBlock + slot];
  }
  __device__ static AtomicWord<std::uint32_t>& tag_of(Handle handle) {
    return tag_of(A::block_of(handle), handle.slot());
  }

  /// What is wrong with the use of `handle` as a C*. @param tag   receives the slot's tag that this was judged by
  template <class C>
  __device__ static Misuse judge(Handle handle, Tag& tag) {
    check_alive();
    if (handle.bits() == 0) return Misuse::null_access;
    if (!A::is_position_of_object(handle)) return Misuse::foreign_pointer;
    if (!is_of_class<C>(handle.type_index())) return Misuse::wrong_class;
    tag = Tag(tag_of(handle).load(Order::relaxed));
    if (!tag.was_ever_used()) return Misuse::never_created;
    const bool is_same_object = tag.is_alive() && tag.generation() == handle.generation() &&
                                bound_state<A>().heap.type_of(A::block_of(handle)) == handle.type_index();
    return is_same_object ? Misuse::none : Misuse::stale_access;
  }

  template <class C>
  __device__ static bool is_of_class(int type) {
    bool found = false;
    A::template Subtypes<C>::for_each(
        [&]<class S>(std::type_identity<S>) { found = found || type == A::template index_of<S>; });
    return found;
  }

  template <class C>
  __device__ static std::uint32_t first_class() {
    int first = -1;
    A::template Subtypes<C>::for_each([&]<class S>(std::type_identity<S>) {
      if (first < 0) first = A::template index_of<S>;
    });
    return static_cast<std::uint32_t>(first);
  }

  /// @param tag   as judged: if it has changed since, another thread destroys the object, or has done so
  __device__ static bool claim_for_destruction(Handle handle, Tag tag) {
    std::uint32_t expected = tag.before_destruction().bits();
    // relaxed: only uniqueness matters.
    return tag_of(handle).compare_exchange(expected, tag.being_destroyed().bits(), Order::relaxed);
  }

  /// Whether the running loop visits the object, but not in this thread now. What was created in the loop is not
  /// visited.
  __device__ static bool is_visited_by_loop_of_another(Handle handle, Tag tag) {
    if (!has_context()) return false;
    const std::uint64_t visitor = thread_context().object;
    if (visitor == 0 || visitor == handle.bits()) return false;
    const LoopRecord& loop = *state().loop;
    const int type = handle.type_index();
    if ((loop.visits[type / 64].load(Order::relaxed) >> type % 64 & 1) == 0) return false;
    return tag.loop() != loop.number.load(Order::relaxed);
  }

  /// Whether the calling thread runs a loop of this allocator, so that its context means something.
  __device__ static bool has_context() {
    return thread_context().mark == mark();
  }

  __device__ static bool runs_in_loop() {
#if DYNASOAR_CUDA_BACKEND
    return true;  // nvcc does not let host code call device functions
#else
    return is_in_loop;
#endif
  }

  /// There is nowhere to record what happens without a heap, so the program ends.
  __device__ static void check_alive() {
    if (bound_state<A>().heap.pages != 0) return;
    std::printf(
        "dynasoar: an object is used, created or destroyed, but there is no AllocatorHandle of its allocator alive "
        "(or, in a kernel of your own: device_pointer() was not called before the launch, in the same file)\n");
#if defined(__CUDA_ARCH__)
    __trap();
#elif !DYNASOAR_CUDA_BACKEND
    std::fflush(stdout);
    std::abort();
#endif
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
  __device__ explicit ContextScope(std::uint64_t object) { thread_context() = {object, 0, Checks<A>::mark()}; }
  __device__ ~ContextScope() { thread_context() = {}; }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
};

template <class A>
class ConstructorScope {
 public:
  __device__ ConstructorScope() {
    if (Checks<A>::counts_nesting()) ++thread_context().nesting;
  }
  __device__ ~ConstructorScope() {
    if (Checks<A>::counts_nesting()) --thread_context().nesting;
  }
  ConstructorScope(const ConstructorScope&) = delete;
  ConstructorScope& operator=(const ConstructorScope&) = delete;
};

/// What other builds have in the place of a scope.
struct NoScope {
  template <class... Arguments>
  __device__ explicit NoScope(const Arguments&...) {}
};

}  // namespace dynasoar::detail
