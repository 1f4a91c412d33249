// call: methods that subclasses override, by the object's run-time class, over both kinds of allocators.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../platform/test_support.h"

namespace call_test {

using dynasoar::AllocatorHandle;
using namespace dynasoar::test;

DYNASOAR_METHOD(Sound, sound);
DYNASOAR_METHOD(Legs, legs);
DYNASOAR_METHOD(Grow, grow);
DYNASOAR_METHOD(Weight, weight);
DYNASOAR_METHOD(Note, note);

enum class Voice : std::uint64_t { none, bark, purr, hiss };

/// The classes of the tests, over a SoaAllocator or an AosAllocator.
template <template <class...> class Allocator>
struct World {
  class Animal;
  class Dog;
  class Cat;
  class Puppy;
  class Snake;
  using AllocatorT = Allocator<Animal, Dog, Cat, Puppy, Snake>;

  class Animal : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Animal, (number_, std::uint64_t), (weight_, double));
    __device__ explicit Animal(std::uint64_t number) : number_(number), weight_(1) {}
    __device__ Voice sound() const { return Voice::none; }
    __device__ int legs() const { return 4; }
    __device__ void grow(double by, int& calls) {
      weight_ += by;
      ++calls;
    }
    __device__ double& weight() { return weight_; }
    __device__ void note(Counter* seen) { seen[0].fetch_add(1, dynasoar::Order::relaxed); }
  };
  class Dog : public Animal {
   public:
    using BaseClass = Animal;
    DYNASOAR_FIELDS(Dog);
    using Animal::Animal;
    __device__ Voice sound() const { return Voice::bark; }
    __device__ void note(Counter* seen) { seen[1].fetch_add(1, dynasoar::Order::relaxed); }
  };
  class Cat : public Animal {
   public:
    using BaseClass = Animal;
    DYNASOAR_FIELDS(Cat, (lives_, int));
    __device__ explicit Cat(std::uint64_t number) : Animal(number), lives_(9) {}
    __device__ Voice sound() const { return Voice::purr; }
    __device__ void note(Counter* seen) {
      seen[2].fetch_add(static_cast<std::uint64_t>(lives_.get()), dynasoar::Order::relaxed);
    }
  };
  /// Has what a Dog has, but for `grow`.
  class Puppy : public Dog {
   public:
    using BaseClass = Dog;
    DYNASOAR_FIELDS(Puppy);
    using Dog::Dog;
    __device__ void grow(double by, int& calls) {
      this->weight_ += 2 * by;
      calls += 10;
    }
  };
  class Snake : public Animal {
   public:
    using BaseClass = Animal;
    DYNASOAR_FIELDS(Snake);
    using Animal::Animal;
    __device__ Voice sound() const { return Voice::hiss; }
    __device__ std::int8_t legs() const { return 0; }
    __device__ void note(Counter* seen) { seen[3].fetch_add(1, dynasoar::Order::relaxed); }
  };

  /// Makes an animal and looks at what is called through pointers to its base classes.
  struct Meet {
    Counter* wrong;  // one for each of what follows

    template <class T>
    __device__ void meet(std::uint64_t number, Voice voice, int legs, double weight, int calls) const {
      Animal* const animal = dynasoar::make_new<T>(number);
      const Animal* const looked_at = animal;
      dynasoar::test::count_if(wrong[0], dynasoar::call<Sound>(looked_at) != voice);
      dynasoar::test::count_if(wrong[1], dynasoar::call<Legs>(animal) != legs);
      int made = 0;
      dynasoar::call<Grow>(animal, 0.5, made);
      dynasoar::test::count_if(wrong[2], made != calls || animal->weight_ != weight);
      dynasoar::call<Weight>(animal) = 8;
      dynasoar::test::count_if(wrong[3], animal->weight_ != 8.0);
      static_assert(std::is_same_v<decltype(dynasoar::call<Legs>(animal)), int>);  // int and std::int8_t
      static_assert(std::is_same_v<decltype(dynasoar::call<Weight>(animal)), double&>);
      static_assert(std::is_void_v<decltype(dynasoar::call<Grow>(animal, 0.5, made))>);
    }
    __device__ void operator()(std::size_t i) const {
      switch (i % 5) {
        case 0: return meet<Animal>(i, Voice::none, 4, 1.5, 1);
        case 1: return meet<Dog>(i, Voice::bark, 4, 1.5, 1);
        case 2: return meet<Cat>(i, Voice::purr, 4, 1.5, 1);
        case 3: return meet<Puppy>(i, Voice::bark, 4, 2.0, 10);
        default: return meet<Snake>(i, Voice::hiss, 0, 1.5, 1);
      }
    }
  };

  /// Calls through pointers of which the compiler does not know the class.
  struct CallOfDogs {
    Counter* wrong;
    __device__ void operator()(Dog* dog) const {
      int calls = 0;
      const double before = dog->weight_;
      dynasoar::call<Grow>(dog, 1.0, calls);
      const bool is_puppy = dynasoar::is_a<Puppy>(dog);
      dynasoar::test::count_if(*wrong, calls != (is_puppy ? 10 : 1) || dog->weight_ != before + (is_puppy ? 2 : 1));
    }
  };

  struct LookAtAll {
    Counter* seen;
    __device__ void operator()(std::size_t) const { dynasoar::device_do<Animal>(Note{}, seen); }
  };
};

template <class... Ts>
using Soa = dynasoar::SoaAllocator<Ts...>;
template <class... Ts>
using Aos = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Ts...>;

TEST_CASE_TEMPLATE("a call runs the method of the object's own class, or the one that this inherits", W, World<Soa>,
                   World<Aos>) {
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 4});
  Counters wrong(5);
  handle.parallel_for(1000, typename W::Meet{wrong.data()});
  handle.template parallel_do<typename W::Dog>(typename W::CallOfDogs{wrong.data() + 4});
  handle.synchronize();
  for (int what = 0; what < 5; ++what) {
    CAPTURE(what);
    CHECK(wrong.values()[static_cast<std::size_t>(what)] == 0);
  }
  CHECK(handle.template count<typename W::Dog>() == 400);
}

TEST_CASE_TEMPLATE("loops over a base class run each class's own method", W, World<Soa>, World<Aos>) {
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 4});
  handle.template parallel_new<typename W::Animal>(1);
  handle.template parallel_new<typename W::Dog>(20);
  handle.template parallel_new<typename W::Puppy>(300);
  handle.template parallel_new<typename W::Cat>(100);
  handle.template parallel_new<typename W::Snake>(7);
  Counters seen(4);
  handle.template parallel_do<typename W::Animal>(Note{}, seen.data());
  handle.synchronize();
  CHECK(seen.values() == std::vector<std::uint64_t>{1, 320, 900, 7});
  handle.parallel_for(1, typename W::LookAtAll{seen.data()});
  handle.synchronize();
  CHECK(seen.values() == std::vector<std::uint64_t>{2, 640, 1800, 14});
  // A pointer to a method is that of one class, as always in C++.
  handle.template parallel_do<typename W::Animal, &W::Animal::note>(seen.data());
  handle.synchronize();
  CHECK(seen.values() == std::vector<std::uint64_t>{2 + 428, 640, 1800, 14});
}

// UBSan, which comes with AddressSanitizer here, ends the program at a method of a null pointer.
#if DYNASOAR_CHECKED && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a call of a null pointer is found where the method accesses a field") {
  AllocatorHandle<World<Soa>::AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 4});
  handle.parallel_for(
      1, [] __device__(std::size_t) { dynasoar::call<Weight>(static_cast<World<Soa>::Animal*>(nullptr)) = 1; });
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("accessed through a null pointer"),
                       dynasoar::MisuseError);
}
#endif

}  // namespace call_test
