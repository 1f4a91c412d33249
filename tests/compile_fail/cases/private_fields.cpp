// expect: the fields of this class are private
// names: private_fields::Trout
// Fields in the private part of a class.
#include <dynasoar/dynasoar.h>

namespace private_fields {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if defined(MISTAKE)
class Trout : public dynasoar::SoaBase<AllocatorT> {
  DYNASOAR_FIELDS(Trout, (age_, int))
#else
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Trout>();
}

}  // namespace private_fields
