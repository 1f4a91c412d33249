// Classes of an AosAllocator whose objects are placed on a lattice.
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

namespace lattices_in_pieces {

class Moss;
using AllocatorT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Moss>;

class Moss final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Moss, (age_, int))
  __device__ explicit Moss(int) {}
};

struct Grow {
  __device__ void operator()(dynasoar::Place place) const {
#if defined(MISTAKE_object_in_piece_without_place)
    // expect: so its objects need a place
    // names: lattices_in_pieces::Moss
    dynasoar::make_new<Moss>(1);
#else
    dynasoar::make_new_at<Moss>(place, 1);
#endif
  }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  dynasoar::Lattice<Moss> lattice(handle, {4, 4});
  lattice.parallel_for(Grow{});
#if defined(MISTAKE_compaction_of_placed_pieces)
  // expect: cannot be compacted
  // names: lattices_in_pieces::Moss
  handle.compact<Moss>();
#endif
}

}  // namespace lattices_in_pieces
