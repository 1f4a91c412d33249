// expect: a field's type is a reference
// names: reference_field::Trout
// A reference as a field.
#include <dynasoar/dynasoar.h>

namespace reference_field {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if defined(MISTAKE)
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int&))
#else
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Trout>();
}

}  // namespace reference_field
