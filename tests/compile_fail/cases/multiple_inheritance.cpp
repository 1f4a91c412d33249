// expect: Multiple inheritance of SOA classes is not supported: derive from one class
// A class with two SOA bases.
#include <dynasoar/dynasoar.h>

namespace multiple_inheritance {

class Fish;
class Bird;
class FlyingFish;
using AllocatorT = dynasoar::SoaAllocator<Fish, Bird, FlyingFish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (depth_, int))
};
class Bird : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Bird, (height_, int))
};
#if defined(MISTAKE)
class FlyingFish : public Fish, public Bird {
#else
class FlyingFish : public Fish {
#endif
 public:
  using BaseClass = Fish;
  using Allocator = AllocatorT;
  DYNASOAR_FIELDS(FlyingFish, (speed_, int))
};

__device__ void use() {
  dynasoar::make_new<FlyingFish>();
}

}  // namespace multiple_inheritance
