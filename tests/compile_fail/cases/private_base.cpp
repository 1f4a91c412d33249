// expect: this class does not derive publicly from SoaBase
// names: private_base::Trout
// 'public' is forgotten in front of the base.
#include <dynasoar/dynasoar.h>

namespace private_base {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if defined(MISTAKE)
class Trout : dynasoar::SoaBase<AllocatorT> {
 public:
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

}  // namespace private_base
