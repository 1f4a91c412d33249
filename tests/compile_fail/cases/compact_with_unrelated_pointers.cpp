// expect: compact<T> got an array of pointers that cannot point to a T
// Pointers to objects of another class than the one that moves.
#include <dynasoar/dynasoar.h>

namespace compact_with_unrelated_pointers {

class Fish;
class Crab;
using AllocatorT = dynasoar::SoaAllocator<Fish, Crab>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};
class Crab : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Crab, (claws_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle, Fish** fish, Crab** crabs) {
#if defined(MISTAKE)
  handle.compact<Fish>({}, dynasoar::pointers(fish, 100), dynasoar::pointers(crabs, 100));
#else
  handle.compact<Fish>({}, dynasoar::pointers(fish, 100));
  handle.compact<Crab>({}, dynasoar::pointers(crabs, 100));
#endif
}

}  // namespace compact_with_unrelated_pointers
