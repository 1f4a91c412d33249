/// @file
/// Occupancy: who is where on a lattice, and the protocol of the threads that create, move and destroy objects. Used by
/// PlacedObjects and by the refresh before a loop; model-checked in tests/model_checking.
///
/// Words of 64 places say it, for each class:
///
///   seen       the objects that there were when the running loop began. No loop changes it
///   arrived    what was created, or moved here, in the running loop
///   departed   what was destroyed, or moved away, in the running loop
///
/// A loop sets bits of the last two and never clears them, except that a move which fails takes back its own claim. So
/// within a loop at most one object arrives at a place, nothing arrives where an object is seen, and an object departs
/// once. Before the next loop `seen` becomes (seen | arrived) & ~departed, and the others become 0.
///
/// An object that arrives claims its place first: with its bit in `claims`. That is `arrived`, unless the classes of a
/// hierarchy exclude each other (kOnePerPlace). Their `claims` are words of all of them, which have the bits of the
/// objects that any of them sees, too, so that one atomic decides for all classes.
///
/// All accesses are relaxed: whoever sets a bit first has the slot to itself, and others see the object in the next
/// loop only, which begins after this one has ended.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// A place's bit in the words.
struct PlaceBit {
  std::uint64_t word;
  std::uint64_t mask;

  __device__ explicit PlaceBit(std::uint64_t slot) : word(slot / 64), mask(std::uint64_t{1} << slot % 64) {}
};

/// The words of one class. Trivially copyable; all null if there is no lattice for the class.
///
/// @tparam Atomics   an AtomicsPolicy
template <class Atomics>
struct Occupancy {
  using Word = typename Atomics::template word<std::uint64_t>;

  std::uint64_t* seen;
  Word* arrived;
  Word* departed;
  Word* claims;

  /// Whether an object is seen there or has arrived in the loop, whether or not it has departed since.
  __device__ bool has_object(PlaceBit bit) const {
    return ((seen[bit.word] | arrived[bit.word].load(Order::relaxed)) & bit.mask) != 0;
  }

  /// Creates an object: calls `construct()` if the place was free and no other thread has claimed it. @return whether
  template <class Construct>
  __device__ bool create(PlaceBit at, const Construct& construct) const {
    if (!claim(at)) return false;
    arrive(at);
    construct();
    return true;
  }

  /// Notes that an object departs. @return whether the caller was the first
  __device__ bool depart(PlaceBit from) const {
    return (departed[from.word].fetch_or(from.mask, Order::relaxed) & from.mask) == 0;
  }

  /// Moves an object: calls `copy()` if the place was free and no other thread has claimed it, and the object has not
  /// departed. @return whether
  template <class Copy>
  __device__ bool move(PlaceBit from, PlaceBit to, const Copy& copy) const {
    // A claim blocks other threads until it is taken back, so a thread whose object has departed makes none.
    if ((departed[from.word].load(Order::relaxed) & from.mask) != 0 || !claim(to)) return false;
    if (!depart(from)) {
      claims[to.word].fetch_and(~to.mask, Order::relaxed);  // nothing has been written there
      return false;
    }
    arrive(to);
    copy();
    return true;
  }

  /// Lets the next loop see what has changed in the i-th word. @pre no loop is running
  __device__ void refresh(std::uint64_t i) const {
    const std::uint64_t came = arrived[i].load(Order::relaxed);
    const std::uint64_t went = departed[i].load(Order::relaxed);
    if ((came | went) == 0) return;
    seen[i] = (seen[i] | came) & ~went;
    arrived[i].store(0, Order::relaxed);
    departed[i].store(0, Order::relaxed);
    if (is_shared()) claims[i].fetch_and(~went, Order::relaxed);
  }

 private:
  __device__ bool is_shared() const { return claims != arrived; }

  /// Claims a place for an object that arrives. @return whether the caller got it
  __device__ bool claim(PlaceBit bit) const {
    if ((seen[bit.word] & bit.mask) != 0) return false;
    return (claims[bit.word].fetch_or(bit.mask, Order::relaxed) & bit.mask) == 0;
  }

  /// Notes that an object of this class is what the caller has claimed a place for.
  __device__ void arrive(PlaceBit at) const {
    if (is_shared()) arrived[at.word].fetch_or(at.mask, Order::relaxed);
  }
};

}  // namespace dynasoar::detail
