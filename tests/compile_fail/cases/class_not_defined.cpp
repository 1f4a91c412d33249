// expect: a class of the allocator's list is only declared up to here
// names: class_not_defined::Trout
// A class that is declared but not defined where a handle is made.
#include <dynasoar/dynasoar.h>

namespace class_not_defined {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if !defined(MISTAKE)
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
};
#endif

void use() {
  dynasoar::AllocatorHandle<AllocatorT> handle;
}

}  // namespace class_not_defined
