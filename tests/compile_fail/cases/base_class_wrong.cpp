// expect: BaseClass of this class is not its base. Write 'using BaseClass = <its base>;'
// A subclass that names a class which is not its base.
#include <dynasoar/dynasoar.h>

namespace base_class_wrong {

class Fish;
class Shark;
class Trout;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark, Trout>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};
class Shark : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Shark, (age_, int))
};
class Trout : public Fish {
 public:
#if defined(MISTAKE)
  using BaseClass = Shark;
#else
  using BaseClass = Fish;
#endif
  DYNASOAR_FIELDS(Trout, (spots_, int))
};

__device__ void use() {
  dynasoar::make_new<Trout>();
}

}  // namespace base_class_wrong
