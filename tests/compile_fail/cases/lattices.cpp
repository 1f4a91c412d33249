// Classes whose objects are placed on a lattice.
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

namespace lattices {

class Moss;
class Tree;
class Oak;
class Bird;
class Beast;
class Wolf;
class Bear;
class Ground;
using AllocatorT = dynasoar::SoaAllocator<Moss, Tree, Oak, Bird, Beast, Wolf, Bear, Ground>;

class Bird : public dynasoar::SoaBase<AllocatorT> {
 public:
#if defined(MISTAKE_compressed_pointer_to_placed_object)
  // expect: this class is placed on a lattice, and a CompressedPointer cannot point to such objects
  // names: lattices::Moss
  DYNASOAR_FIELDS(Bird, (nest_, CompressedPointer<Moss>))
#else
  DYNASOAR_FIELDS(Bird, (nest_, Moss*))
#endif
};

class Moss final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Moss, (age_, int), (eaten_by_, Bird*))
  __device__ explicit Moss(int) {}
  __device__ void look() {}
  __device__ bool is_old() { return age_ > 9; }
  __device__ auto count() {
    return dynasoar::device_reduce<Bird>(0, dynasoar::Plus{}, [](Bird*) { return 1; }).then([](int) {});
  }
};

class Tree : public dynasoar::SoaBase<AllocatorT> {
 public:
#if defined(MISTAKE_only_subclass_is_placed)
  // expect: this class is placed on a lattice, and its base is not
  // names: lattices::Oak
#else
  static constexpr bool kPlaced = true;
#endif
  DYNASOAR_FIELDS(Tree, (age_, int))
};

class Oak : public Tree {
 public:
  using BaseClass = Tree;
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Oak, (acorns_, int))
};

/// A place has room for a wolf or a bear.
class Beast : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
#if defined(MISTAKE_only_subclass_is_one_per_place)
  // expect: kOnePerPlace of this class is not that of its base
  // names: lattices::Wolf
#else
  static constexpr bool kOnePerPlace = true;
#endif
  DYNASOAR_FIELDS(Beast, (age_, int))
};

class Wolf final : public Beast {
 public:
  using BaseClass = Beast;
  static constexpr bool kOnePerPlace = true;
  DYNASOAR_FIELDS(Wolf, (hunger_, int))
};

class Bear final : public Beast {
 public:
  using BaseClass = Beast;
  DYNASOAR_FIELDS(Bear, (fat_, int))
};

/// At every place.
class Ground final : public dynasoar::SoaBase<AllocatorT> {
 public:
#if defined(MISTAKE_at_every_place_but_not_placed)
  // expect: kAtEveryPlace, but is not placed on a lattice
  // names: lattices::Ground
#else
  static constexpr bool kPlaced = true;
#endif
  static constexpr bool kAtEveryPlace = true;
  DYNASOAR_FIELDS(Ground, (height_, int))
#if defined(MISTAKE_at_every_place_with_arguments)
  // expect: so the class needs a public constructor without arguments
  // names: lattices::Ground
  __device__ explicit Ground(int) {}
#endif
};

struct Look {
  __device__ void operator()(dynasoar::Place place) const {
#if defined(MISTAKE_placed_object_without_place)
    // expect: so its objects need a place
    // names: lattices::Moss
    dynasoar::make_new<Moss>(1);
#else
    dynasoar::make_new_at<Moss>(place, 1);
#endif
#if defined(MISTAKE_free_object_at_place)
    // expect: this class is not placed on a lattice
    // names: lattices::Bird
    dynasoar::at<Bird>(place);
#elif defined(MISTAKE_base_class_at_place)
    // expect: several objects can be at a place, one of each listed class
    // names: lattices::Tree
    dynasoar::at<Tree>(place);
#else
    dynasoar::at<Oak>(place);
#endif
#if defined(MISTAKE_only_subclass_is_placed) || defined(MISTAKE_only_subclass_is_one_per_place)
    // What is wrong with a class is to be said before what is wrong with its use.
#else
    dynasoar::at<Beast>(place);
    dynasoar::for_each_at<Tree>(place, [](Tree*) {});
#endif
#if defined(MISTAKE_new_object_of_base_at_place)
    // expect: Objects at places are of classes without subclasses
    // names: lattices::Beast
    dynasoar::make_new_at<Beast>(place);
#else
    dynasoar::make_new_at<Wolf>(place);
#endif
#if defined(MISTAKE_new_object_where_there_is_one)
    // expect: Its objects cannot be created, moved or destroyed
    // names: lattices::Ground
    dynasoar::make_new_at<Ground>(place);
#elif defined(MISTAKE_move_from_every_place)
    // expect: Its objects cannot be created, moved or destroyed
    // names: lattices::Ground
    dynasoar::move_to(dynasoar::at<Ground>(place), place);
#elif defined(MISTAKE_destruction_at_every_place)
    // expect: Its objects cannot be created, moved or destroyed
    // names: lattices::Ground
    dynasoar::destroy(dynasoar::at<Ground>(place));
#elif !defined(MISTAKE_at_every_place_but_not_placed)
    dynasoar::for_each_neighbour<Ground>(place, dynasoar::Moore<>{}, [](Ground*) {});
#endif
  }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE_one_per_place_on_two_lattices)
  // expect: so all of its classes are on one lattice
  // names: lattices::Bear
  dynasoar::Lattice<Moss, Oak, Wolf> lattice(handle, {4, 4});
#elif defined(MISTAKE_class_twice_on_a_lattice)
  // expect: a class is named twice in Lattice
  // names: lattices::Moss
  dynasoar::Lattice<Moss, Oak, Wolf, Bear, Moss> lattice(handle, {4, 4});
#else
  dynasoar::Lattice<Moss, Oak, Wolf, Bear> lattice(handle, {4, 4});
#endif
  lattice.parallel_for(Look{});
#if !defined(MISTAKE_at_every_place_but_not_placed)
  dynasoar::Lattice<Ground> land(handle, {4, 4});
#else
  handle.count<Ground>();
#endif
#if defined(MISTAKE_places_free_of_what_is_everywhere)
  // expect: no place is free of them
  // names: lattices::Ground
  land.parallel_for_free(Look{});  // of all classes of the lattice
#endif
#if defined(MISTAKE_class_of_another_lattice)
  // expect: this class is not one of the lattice's
  // names: lattices::Tree
  lattice.parallel_for_free<Tree>(Look{});
#else
  lattice.parallel_for_free<Oak>(Look{});
#endif
#if defined(MISTAKE_colours_of_a_radius)
  // expect: needs to know where f looks at other places
  lattice.parallel_for_in_colours(1, Look{});
#else
  lattice.parallel_for_in_colours(dynasoar::Moore<>{}, Look{});
#endif
#if defined(MISTAKE_many_placed_objects_without_places)
  // expect: so its objects need a place
  // names: lattices::Moss
  handle.parallel_new<Moss>(10);
#endif
  handle.parallel_do<&Moss::look>();
#if defined(MISTAKE_action_returns_a_reduction)
  // expect: the action of this loop returns a device_reduce
  // names: lattices::Moss
  handle.parallel_do_if<&Moss::is_old, &Moss::count>();
#endif
#if defined(MISTAKE_condition_without_a_result)
  // expect: the condition of this loop does not return a bool
  // names: lattices::Moss
  handle.parallel_do_if<&Moss::look, &Moss::look>();
#else
  handle.parallel_do_if<&Moss::is_old, &Moss::look>();
#endif
#if defined(MISTAKE_compaction_of_placed_objects)
  // expect: cannot be compacted
  // names: lattices::Moss
  handle.compact<Moss>();
#elif defined(MISTAKE_sort_of_placed_objects)
  // expect: cannot be sorted
  // names: lattices::Moss
  handle.sort<Moss>(Look{});
#else
  handle.compact<Bird>();
#endif
  (void)handle.columns<Bird>();
}

}  // namespace lattices
