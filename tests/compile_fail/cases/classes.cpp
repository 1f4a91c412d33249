// Classes, their bases and the list of the allocator.
#include <dynasoar/dynasoar.h>

namespace classes {

class Shark;
class Trout;
class Bird;
class FlyingFish;
class Crab;
#if defined(MISTAKE_class_not_listed) || defined(MISTAKE_loop_over_class_not_listed)
using AllocatorT = dynasoar::SoaAllocator<Shark, Trout, Bird, FlyingFish>;
#else
using AllocatorT = dynasoar::SoaAllocator<Shark, Trout, Bird, FlyingFish, Crab>;
#endif

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
  __device__ void swim() { ++age_; }
};

class Shark : public Fish {
 public:
  using BaseClass = Fish;
#if defined(MISTAKE_field_types_forgotten)
  // expect: this class inherits FieldTypes from its base. Declare its own
#else
  DYNASOAR_FIELDS(Shark)
#endif
};

#if defined(MISTAKE_private_base)
// expect: this class does not derive publicly from SoaBase
// names: classes::Bird
class Bird : dynasoar::SoaBase<AllocatorT> {
#else
class Bird : public dynasoar::SoaBase<AllocatorT> {
#endif
 public:
#if defined(MISTAKE_fields_of_another_class)
  // expect: names another class than the one it stands in
  DYNASOAR_FIELDS(Fish, (age_, int))
#else
  DYNASOAR_FIELDS(Bird, (height_, int))
#endif
};

class Trout : public Fish {
 public:
#if defined(MISTAKE_base_class_forgotten)
  // expect: a base class that 'using BaseClass = ...;' does not name
#elif defined(MISTAKE_base_class_wrong)
  // expect: BaseClass of this class is not its base. Write 'using BaseClass = <its base>;'
  using BaseClass = Bird;
#else
  using BaseClass = Fish;
#endif
  DYNASOAR_FIELDS(Trout, (spots_, int))
};

#if defined(MISTAKE_multiple_inheritance)
// expect: Multiple inheritance of SOA classes is not supported: derive from one class
class FlyingFish : public Fish, public Bird {
#else
class FlyingFish : public Fish {
#endif
 public:
  using BaseClass = Fish;
  using Allocator = AllocatorT;
  DYNASOAR_FIELDS(FlyingFish, (speed_, int))
};

#if defined(MISTAKE_class_not_defined)
// expect: a class of the allocator's list is only declared up to here
// names: classes::Crab
#else
class Crab : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Crab, (claws_, int))
  __device__ void walk() {}
};
#endif

struct WeightOf {
  __device__ float operator()(Bird* bird) const { return 2.5f * static_cast<float>(bird->height_); }
};

inline void use() {
  dynasoar::AllocatorHandle<AllocatorT> handle;
#if defined(MISTAKE_method_of_several_classes)
  // expect: several listed classes inherit this method
  handle.parallel_do<&Shark::swim>();  // &Shark::swim is &Fish::swim, so this would move the trouts, too
#else
  handle.parallel_do<Shark, &Fish::swim>();
#endif
#if defined(MISTAKE_loop_over_class_not_listed)
  // expect: neither this class nor a class derived from it is in its allocator's list
  handle.parallel_do<&Crab::walk>();
#endif
}

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle, Bird** birds, Shark** sharks) {
#if defined(MISTAKE_compact_with_unrelated_pointers)
  // expect: compact<T> got an array of pointers that cannot point to a T
  handle.compact<Shark>({}, dynasoar::pointers(sharks, 100), dynasoar::pointers(birds, 100));
#else
  handle.compact<Shark>({}, dynasoar::pointers(sharks, 100));
  handle.compact<Bird>({}, dynasoar::pointers(birds, 100));
#endif
#if defined(MISTAKE_sort_by_real_numbers)
  // expect: sort orders objects by an integer of up to 64 bits, and this key is something else
  handle.sort<Bird>(WeightOf{});
#elif defined(MISTAKE_sort_by_inherited_key)
  // expect: several listed classes inherit this key
  handle.sort<&Shark::age_>();
#elif defined(MISTAKE_sort_of_a_base)
  // expect: sort orders the objects of one class, and this one is not in its allocator's list
  // names: classes::Fish
  handle.sort<Fish, &Fish::age_>();
#elif defined(MISTAKE_sort_with_unrelated_pointers)
  // expect: sort<T> got an array of pointers that cannot point to a T
  handle.sort<&Bird::height_>({}, dynasoar::pointers(sharks, 100));
#else
  handle.sort<Shark, &Shark::age_>({}, dynasoar::pointers(sharks, 100));
  handle.sort<Bird, &Bird::height_>({}, dynasoar::pointers(birds, 100));
#endif
}

#if !defined(MISTAKE_class_not_defined)
__device__ inline void use(Fish* fish, [[maybe_unused]] Trout* trout) {
  dynasoar::make_new<Trout>();
#if defined(MISTAKE_class_not_listed)
  // expect: this class is not in its allocator's list. Add it to SoaAllocator
  dynasoar::make_new<Crab>();
#endif
#if defined(MISTAKE_cast_between_unrelated_classes)
  // expect: is_a and cast are for classes of which one derives from the other
  dynasoar::destroy(dynasoar::cast<Shark>(trout));
#else
  dynasoar::destroy(dynasoar::cast<Shark>(fish));
#endif
}
#endif

}  // namespace classes
