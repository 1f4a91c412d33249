// expect: the field that orders the objects of a UniformGrid must be an integer
// Real numbers would be cut to whole ones, and those are equal for many objects.
#include <dynasoar/uniform_grid.h>

#include <dynasoar/dynasoar.h>

namespace grid_ordered_by_real_number {

struct Place {
  double x, y, z;
};
struct Seen {
  Place position;
};

class Dot;
using AllocatorT = dynasoar::SoaAllocator<Dot>;

class Dot : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Dot, (place_, Place), (mass_, float), (number_, int))
  __device__ Seen seen() { return {place_}; }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  dynasoar::UniformGrid<Dot, Seen> grid(handle, {.lower = {0, 0, 0}, .upper = {1, 1, 1}, .cell = 1});
#if defined(MISTAKE)
  grid.rebuild<&Dot::seen, &Dot::mass_>();
#else
  grid.rebuild<&Dot::seen, &Dot::number_>();
#endif
}

}  // namespace grid_ordered_by_real_number
