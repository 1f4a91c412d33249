// How objects are made and deleted.
#include <cstddef>
#include <new>
#include <string>

#include <dynasoar/dynasoar.h>

namespace objects {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ Trout() : age_(0) {}
#if defined(MISTAKE_constructor_without_number)
  // expect: this class has no public constructor for these arguments
#else
  __device__ explicit Trout(std::size_t) : age_(0) {}
#endif
  __device__ Trout(std::size_t, const std::string&) : age_(0) {}
#if defined(MISTAKE_argument_of_new_by_reference)
  // expect: to which a reference must be one to const
  // names: objects::Trout
  __device__ Trout(std::size_t, int& trouts) : age_(++trouts) {}
#else
  __device__ Trout(std::size_t, const int& age) : age_(age) {}
#endif

  __device__ void spawn() {
#if defined(MISTAKE_new_array)
    // expect: 'new' cannot create an object of this allocator's classes
    // names: objects::
    new Trout[3];
#else
    dynasoar::make_new<Trout>();
#endif
  }
  __device__ void die() {
#if defined(MISTAKE_delete_this)
    // expect: 'delete' cannot destroy an object of this allocator's classes
    // expect of nvcc: deleted function
    delete this;
#else
    dynasoar::destroy(this);
#endif
  }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_do<&Trout::spawn>();
  handle.parallel_do<&Trout::die>();
  handle.parallel_new<Trout>(10);
#if defined(MISTAKE_argument_of_new_not_copyable_as_bytes)
  // expect: an argument of this loop is not trivially copyable
  // names: objects::Trout
  handle.parallel_new<Trout>(10, std::string("brown"));
#else
  handle.parallel_new<Trout>(10, 1);
#endif
#if defined(MISTAKE_new_expression)
  // expect: 'new' cannot create an object of this allocator's classes
  // names: objects::
  new Trout(std::size_t{1});
#elif defined(MISTAKE_placement_new)
  // expect: 'new' cannot create an object of this allocator's classes
  // names: objects::
  alignas(16) static char place[64];
  new (place) Trout(std::size_t{1});  // the forms with std::nothrow and alignment are refused likewise
#endif
}

}  // namespace objects
