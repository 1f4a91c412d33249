// Neighbours in space.
#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

namespace grids {

struct Place {
  float x, y;
};
struct Seen {
#if defined(MISTAKE_grid_without_position)
  // expect: what objects show of themselves in a grid needs a member called position
  Place where;
#else
  Place position;
#endif
};

class Dot;
using AllocatorT = dynasoar::SoaAllocator<Dot>;

class Dot : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Dot, (place_, Place), (mass_, float), (number_, int))
  __device__ Seen seen() { return {place_}; }
  __device__ void look_at_many(dynasoar::GridView<Dot, Seen> dots) {
#if defined(MISTAKE_too_many_nearest)
    // expect: GridView::nearest finds 1 to 64 objects
    number_ = dots.nearest<65>(place_, 1, this).size();
#else
    number_ = dots.nearest<64>(place_, 1, this).size();
#endif
  }
  __device__ auto look(dynasoar::GridView<Dot, Seen> dots) {
    return dots.reduce(place_, 1, 0, dynasoar::Plus{}, [](const auto&) { return 1; })
#if defined(MISTAKE_neighbours_not_reduced)
        // expect: the method returns the reduce of a grid without a function for the result
        ;
#else
        .then([this](int near) { number_ = near; });
#endif
  }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  dynasoar::UniformGrid<Dot, Seen> grid(handle, {.lower = {0, 0}, .upper = {1, 1}, .cell = 1});
#if defined(MISTAKE_grid_ordered_by_real_number)
  // expect: the field that orders the objects of a UniformGrid must be an integer or an Identity
  grid.rebuild<&Dot::seen, &Dot::mass_>();
#else
  grid.rebuild<&Dot::seen, &Dot::number_>();
#endif
  grid.parallel_do<&Dot::look>();
  grid.parallel_do<&Dot::look_at_many>();
}

}  // namespace grids
