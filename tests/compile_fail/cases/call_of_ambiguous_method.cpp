// expect: has no such method for these arguments, or several that fit equally, or one that is not public
// A subclass with two methods that fit equally.
#include <dynasoar/dynasoar.h>

namespace call_of_ambiguous_method {

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
  __device__ void swim(float) {}
};
class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark)
#if defined(MISTAKE)
  __device__ void swim(int) {}
  __device__ void swim(long) {}
#else
  __device__ void swim(double) {}
#endif
};
DYNASOAR_METHOD(Swim, swim);

__device__ void use(Agent* agent) {
  dynasoar::call<Swim>(agent, 1.0f);
}

}  // namespace call_of_ambiguous_method
