// Methods that subclasses override.
#include <dynasoar/dynasoar.h>

namespace overridden_methods {

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

DYNASOAR_METHOD(Swim, swim);

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (age_, int))
#if defined(MISTAKE_call_before_all_classes)
  // expect: a class of the allocator's list is only declared up to here, so its base classes are unknown
  __device__ void live() {
    dynasoar::call<Swim>(this, 1.0f);
  }
#else
  __device__ void live();
#endif
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
#if defined(MISTAKE_call_of_missing_method)
  // expect: has no such method for these arguments, or several that fit equally, or one that is not public
#elif defined(MISTAKE_call_of_ambiguous_method)
  // expect: has no such method for these arguments, or several that fit equally, or one that is not public
  __device__ void swim(int) {}
  __device__ void swim(long) {}
#elif defined(MISTAKE_call_of_private_method)
  // expect: has no such method for these arguments, or several that fit equally, or one that is not public
 private:
  __device__ void swim(float) {}
#else
  __device__ void swim(double) {}
#endif
};

#if !defined(MISTAKE_call_before_all_classes)
__device__ inline void Agent::live() {
  dynasoar::call<Swim>(this, 1.0f);
}
#endif

}  // namespace overridden_methods
