// expect: a class of the allocator's list is only declared up to here, so nobody can tell from which it derives
// A method of a base class, defined in that class, calls a method of its subclasses, which only come after it.
#include <dynasoar/dynasoar.h>

namespace call_before_all_classes {

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

DYNASOAR_METHOD(Swim, swim);

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (age_, int))
#if defined(MISTAKE)
  __device__ void live() {
    dynasoar::call<Swim>(this);
  }
#else
  __device__ void live();
#endif
};
class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish)
  __device__ void swim() {}
};
class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark)
  __device__ void swim() {}
};

#if !defined(MISTAKE)
__device__ inline void Agent::live() {
  dynasoar::call<Swim>(this);
}
#endif

}  // namespace call_before_all_classes
