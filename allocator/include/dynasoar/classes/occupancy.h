/// @file
/// Occupancy: the places of objects on a lattice, and the protocol of threads that create, move and destroy objects.
/// Used by PlacedObjects and by the refresh before a loop; model-checked in tests/model_checking.
///
/// Each class has three kinds of words, with one bit for each of 64 places:
///
///   - `seen`: the objects at the beginning of the running loop. No loop changes these words.
///   - `arrived`: the objects that the running loop has created here or moved here.
///   - `departed`: the objects that the running loop has destroyed or moved away.
///
/// A loop sets bits of `arrived` and `departed`, and never clears them, except that a failing move takes back its own
/// claim. So within a loop at most one object arrives at a place, no object arrives at a place with a seen object, and
/// an object departs at most once. Before the next loop `seen` becomes (seen | arrived) & ~departed, and the others
/// become 0.
///
/// An arriving object first claims its place by setting its bit in `claims`. This is the same as `arrived`, unless the
/// classes of a hierarchy exclude each other (kOnePerPlace). These classes share separate words `claims`, which also
/// have the bits of the objects that any of them sees. So one atomic operation decides for all classes.
///
/// All accesses are relaxed. The first thread that sets a bit has exclusive access to the slot. Other threads see the
/// object only in the next loop, which begins after this one has ended.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// One or several places of a word.
struct PlaceBits {
  std::uint32_t word;  ///< the number of the word
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

  /// The places at which an object is seen or has arrived in the loop, whether or not it has departed since.
  __device__ std::uint64_t objects_at(PlaceBits places) const {
    return (seen[places.word] | arrived[places.word].load(Order::relaxed)) & places.mask;
  }

  /// Lets objects arrive at those of the places that are free and that no other thread has claimed. @return these
  /// places; the caller constructs the objects
  __device__ std::uint64_t create(PlaceBits at) const {
    const std::uint64_t claimed = claim(at);
    if (claimed != 0) arrive({at.word, claimed});
    return claimed;
  }

  /// Notes that objects depart. @return the places of those that no other thread has marked as departed
  __device__ std::uint64_t depart(PlaceBits from) const {
    return from.mask & ~departed[from.word].fetch_or(from.mask, Order::relaxed);
  }

  /// Moves an object, unless the place is not free, another thread has claimed it, or the object has departed. @return
  /// whether it has moved. If so, the caller copies the object, which can still be read at its old place
  /// @pre both are one place
  __device__ bool move(PlaceBits from, PlaceBits to) const {
    // A claim makes other threads fail until it is taken back, so make no claim if the object has departed already.
    if ((departed[from.word].load(Order::relaxed) & from.mask) != 0 || claim(to) == 0) return false;
    if (depart(from) == 0) {
      claims[to.word].fetch_and(~to.mask, Order::relaxed);  // no object has been written there
      return false;
    }
    arrive(to);
    return true;
  }

  /// Lets the next loop see the changes in the i-th word. @pre no loop is running
  __device__ void refresh(std::uint64_t i) const {
    const std::uint64_t came = arrived[i].load(Order::relaxed);
    const std::uint64_t went = departed[i].load(Order::relaxed);
    if ((came | went) == 0) return;
    seen[i] = (seen[i] | came) & ~went;
    arrived[i].store(0, Order::relaxed);
    departed[i].store(0, Order::relaxed);
    if (shares_claims()) claims[i].fetch_and(~went, Order::relaxed);
  }

  /// Whether the class shares its claims with other classes.
  __host__ __device__ bool shares_claims() const { return claims != arrived; }

 private:
  /// Claims places for arriving objects. @return the places that this call has claimed
  __device__ std::uint64_t claim(PlaceBits places) const {
    const std::uint64_t free = places.mask & ~seen[places.word];
    if (free == 0) return 0;
    return free & ~claims[places.word].fetch_or(free, Order::relaxed);
  }

  /// Notes that the claimed places are for objects of this class.
  __device__ void arrive(PlaceBits at) const {
    if (shares_claims()) arrived[at.word].fetch_or(at.mask, Order::relaxed);
  }
};

}  // namespace dynasoar::detail
