// expect: what objects show of themselves in a grid needs a member called position
// A grid has to know where objects are.
#include <dynasoar/uniform_grid.h>

#include <dynasoar/dynasoar.h>

namespace grid_without_position {

struct Place {
  float x, y;
};

struct Seen {
#if defined(MISTAKE)
  Place where;
#else
  Place position;
#endif
};

class Dot;
using AllocatorT = dynasoar::SoaAllocator<Dot>;

class Dot : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Dot, (place_, Place))
  __device__ Seen seen() { return {place_}; }
  __device__ void look(dynasoar::GridView<Dot, Seen>) {}
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  dynasoar::UniformGrid<Dot, Seen> grid(handle, {.lower = {0, 0}, .upper = {1, 1}, .cell = 1});
  grid.rebuild<&Dot::seen>();
  grid.parallel_do<&Dot::look>();
}

}  // namespace grid_without_position
