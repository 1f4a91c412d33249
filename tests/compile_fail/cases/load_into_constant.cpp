// expect: load takes what value(name, variable) and array(name, elements) make of things that can be changed
// A value that is to be loaded, but cannot be changed.
#include <dynasoar/dynasoar.h>

namespace load_into_constant {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  const int step = 0;
#else
  int step = 0;
#endif
  handle.load("fish.checkpoint", dynasoar::value("step", step));
}

}  // namespace load_into_constant
