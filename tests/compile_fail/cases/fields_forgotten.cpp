// expect: this class does not say what its fields are
// names: fields_forgotten::Trout
// Members without DYNASOAR_FIELDS.
#include <dynasoar/dynasoar.h>

namespace fields_forgotten {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if defined(MISTAKE)
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  int age_;
#else
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Trout>();
}

}  // namespace fields_forgotten
