// expect: a base class that 'using BaseClass = ...;' does not name
// A subclass that does not say what its base is.
#include <dynasoar/dynasoar.h>

namespace base_class_forgotten {

class Fish;
class Trout;
using AllocatorT = dynasoar::SoaAllocator<Fish, Trout>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};
class Trout : public Fish {
 public:
#if !defined(MISTAKE)
  using BaseClass = Fish;
#endif
  DYNASOAR_FIELDS(Trout, (spots_, int))
};

__device__ void use() {
  dynasoar::make_new<Trout>();
}

}  // namespace base_class_forgotten
