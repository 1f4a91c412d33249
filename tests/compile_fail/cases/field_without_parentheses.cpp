// expect: DYNASOAR_FIELDS(Trout, ...) takes each field as (name, type)
// Names and types without parentheses around each pair.
#include <dynasoar/dynasoar.h>

namespace field_without_parentheses {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if defined(MISTAKE)
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, age_, int)
#else
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Trout>();
}

}  // namespace field_without_parentheses
