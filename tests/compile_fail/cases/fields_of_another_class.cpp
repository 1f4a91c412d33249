// expect: names another class than the one it stands in
// The macro was copied from another class.
#include <dynasoar/dynasoar.h>

namespace fields_of_another_class {

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};
class Shark : public dynasoar::SoaBase<AllocatorT> {
 public:
#if defined(MISTAKE)
  DYNASOAR_FIELDS(Fish, (age_, int))
#else
  DYNASOAR_FIELDS(Shark, (age_, int))
#endif
};

}  // namespace fields_of_another_class
