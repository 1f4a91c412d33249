// expect: a field's type is not trivially copyable. Fields are copied as bytes
// A field with memory of its own.
#include <dynasoar/dynasoar.h>

namespace field_not_trivially_copyable {

#if defined(MISTAKE)
struct Name {
  Name() {}
  Name(const Name& other) : first(other.first) {}
  char first = 'x';
};
#else
struct Name {
  char first;
};
#endif

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int), (name_, Name))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.count<Fish>();
}

}  // namespace field_not_trivially_copyable
