// expect: the method returns the reduce of a grid without saying what becomes of the result
// A reduction over neighbours needs `.then`.
#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

namespace neighbours_not_reduced {

struct Plane {
  float x, y;
};
struct Seen {
  Plane position;
};

class Dot;
using AllocatorT = dynasoar::SoaAllocator<Dot>;

class Dot : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Dot, (position_, Plane), (near_, int))

  __device__ Seen seen() { return {position_}; }

  __device__ auto look(dynasoar::GridView<Dot, Seen> dots) {
    return dots
        .reduce(position_, 1, 0, dynasoar::Plus{}, [](const auto&) { return 1; })
#if !defined(MISTAKE)
        .then([this](int near) { near_ = near; })
#endif
        ;
  }
};

inline void use(dynasoar::UniformGrid<Dot, Seen>& grid) {
  grid.parallel_do<&Dot::look>();
}

}  // namespace neighbours_not_reduced
