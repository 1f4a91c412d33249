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

/// Places of a word, one or several.
struct PlaceBits {
  std::uint32_t word;  ///< its number
  std::uint64_t mask;

  __host__ __device__ static constexpr PlaceBits of(std::uint64_t slot) {
    return {static_cast<std::uint32_t>(slot / 64), std::uint64_t{1} << slot % 64};
  }
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

  /// Where an object is seen or has arrived in the loop, whether or not it has departed since.
  __device__ std::uint64_t objects_at(PlaceBits places) const {
    return (seen[places.word] | arrived[places.word].load(Order::relaxed)) & places.mask;
  }

  /// Lets objects arrive at those of the places that are free and that no other thread has claimed. @return these: the
  /// caller constructs the objects
  __device__ std::uint64_t create(PlaceBits at) const {
    const std::uint64_t claimed = claim(at);
    if (claimed != 0) arrive({at.word, claimed});
    return claimed;
  }

  /// Notes that objects depart. @return those that no other thread has let depart
  __device__ std::uint64_t depart(PlaceBits from) const {
    return from.mask & ~departed[from.word].fetch_or(from.mask, Order::relaxed);
  }

  /// Moves an object, unless the place is not free, another thread has claimed it, or the object has departed. @return
  /// whether it has moved: then the caller copies the object, which may still be read where it was
  /// @pre both are one place
  __device__ bool move(PlaceBits from, PlaceBits to) const {
    // A claim blocks other threads until it is taken back, so a thread whose object has departed makes none.
    if ((departed[from.word].load(Order::relaxed) & from.mask) != 0 || claim(to) == 0) return false;
    if (depart(from) == 0) {
      claims[to.word].fetch_and(~to.mask, Order::relaxed);  // nothing has been written there
      return false;
    }
    arrive(to);
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
    if (shares_claims()) claims[i].fetch_and(~went, Order::relaxed);
  }

  /// Whether other classes have the same claims.
  __host__ __device__ bool shares_claims() const { return claims != arrived; }

 private:
  /// Claims places for objects that arrive. @return those that the caller got
  __device__ std::uint64_t claim(PlaceBits places) const {
    const std::uint64_t free = places.mask & ~seen[places.word];
    if (free == 0) return 0;
    return free & ~claims[places.word].fetch_or(free, Order::relaxed);
  }

  /// Notes that it is objects of this class for which places were claimed.
  __device__ void arrive(PlaceBits at) const {
    if (shares_claims()) arrived[at.word].fetch_or(at.mask, Order::relaxed);
  }
};

}  // namespace dynasoar::detail
