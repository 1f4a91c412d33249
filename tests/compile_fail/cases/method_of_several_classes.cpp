// expect: several listed classes inherit this method
// &Fish::move is &Agent::move, so this would move the sharks too.
#include <dynasoar/dynasoar.h>

namespace method_of_several_classes {

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (age_, int))
  __device__ void move() { ++age_; }
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

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<&Fish::move>();
#else
  handle.parallel_do<Fish, &Agent::move>();
#endif
}

}  // namespace method_of_several_classes
