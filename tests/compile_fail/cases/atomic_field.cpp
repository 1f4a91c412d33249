// expect: a field's type cannot be copied or assigned
// names: atomic_field::Trout
// std::atomic as a field.
#include <atomic>

#include <dynasoar/dynasoar.h>

namespace atomic_field {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if defined(MISTAKE)
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, std::atomic<unsigned>))
#else
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, dynasoar::AtomicWord<unsigned>))
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Trout>();
}

}  // namespace atomic_field
