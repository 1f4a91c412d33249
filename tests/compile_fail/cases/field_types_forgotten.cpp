// expect: this class inherits FieldTypes from its base. Declare its own
// A subclass of a class with DYNASOAR_FIELDS that declares no fields.
#include <dynasoar/dynasoar.h>

namespace field_types_forgotten {

class Fish;
class Trout;
using AllocatorT = dynasoar::SoaAllocator<Fish, Trout>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};
class Trout : public Fish {
 public:
  using BaseClass = Fish;
#if !defined(MISTAKE)
  DYNASOAR_FIELDS(Trout)
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.count<Trout>();
}

}  // namespace field_types_forgotten
