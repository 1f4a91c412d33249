// expect: a field's type is a C array
// names: c_array_field::Trout
// A C array as a field.
#include <array>

#include <dynasoar/dynasoar.h>

namespace c_array_field {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

#if defined(MISTAKE)
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (ages_, int[4]))
#else
class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Ages = std::array<int, 4>;
  DYNASOAR_FIELDS(Trout, (ages_, Ages))
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Trout>();
}

}  // namespace c_array_field
