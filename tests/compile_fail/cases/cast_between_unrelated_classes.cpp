// expect: is_a and cast are for classes of which one derives from the other
// A cast that could never succeed.
#include <dynasoar/dynasoar.h>

namespace cast_between_unrelated_classes {

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (age_, int))
};
class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish)
};
class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark)
};

#if defined(MISTAKE)
__device__ bool use(Fish* fish) {
  return dynasoar::cast<Shark>(fish) != nullptr;
}
#else
__device__ bool use(Agent* agent) {
  return dynasoar::cast<Shark>(agent) != nullptr;
}
#endif

}  // namespace cast_between_unrelated_classes
