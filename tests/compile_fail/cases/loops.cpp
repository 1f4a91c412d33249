// What loops call, and the arguments that they pass to it.
#include <functional>
#include <vector>

#include <dynasoar/dynasoar.h>

namespace loops {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ void count(int& trouts) { ++trouts; }
  __device__ void grow(int years) { age_ += years; }
  __device__ void choose(std::vector<int> ages) { age_ = ages[0]; }
  __device__ void look_up(const int* ages) { age_ = ages[0]; }
};

struct Place {
  int x, y;
};

DYNASOAR_METHOD(Count, count);
DYNASOAR_METHOD(Grow, grow);

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  [[maybe_unused]] int trouts = 0;
  const std::vector<int> ages(10);
  [[maybe_unused]] const int* const first_age = ages.data();
#if defined(MISTAKE_argument_by_reference)
  // expect: is a reference to a value that is not const
  // names: loops::Trout
  handle.parallel_do<&Trout::count>(1);
#elif defined(MISTAKE_argument_is_reference_wrapper)
  // expect: an argument of this loop is a std::ref
  // names: loops::Trout
  handle.parallel_do<&Trout::count>(std::ref(trouts));
#elif defined(MISTAKE_method_with_other_arguments)
  // expect: the method does not take these arguments
  handle.parallel_do<&Trout::grow>();
#else
  handle.parallel_do<&Trout::grow>(trouts);
#endif

#if defined(MISTAKE_argument_of_called_method_by_reference)
  // expect: is a reference to a value that is not const
  // names: loops::Trout
  handle.parallel_do<Trout>(Count{}, 1);
#else
  handle.parallel_do<Trout>(Grow{}, 1);
#endif

#if defined(MISTAKE_argument_not_copyable_as_bytes)
  // expect: an argument of this loop is not trivially copyable
  // names: loops::Trout
  handle.parallel_do<&Trout::choose>(ages);
#else
  handle.parallel_do<&Trout::look_up>(first_age);
#endif

  // Generic lambdas and callable classes are no exception.
#if defined(MISTAKE_argument_of_lambda_by_reference)
  // expect: is a reference to a value that is not const
  // names: loops::Trout
  handle.parallel_do<Trout>([] __device__(Trout*, auto& years) { ++years; }, 1);
#elif defined(MISTAKE_mutable_lambda)
  // expect: must not be 'mutable'
  // names: loops::Trout
  handle.parallel_do<Trout>([trouts] __device__(Trout*) mutable { ++trouts; });
#else
  handle.parallel_do<Trout>([] __device__(Trout * trout, const auto& years) { trout->age_ = years; }, 1);
#endif

#if defined(MISTAKE_capture_not_copyable_as_bytes)
  // expect: the callable of this loop captures, or has as a member, a value that is not trivially copyable
  handle.parallel_for(10, [ages] __device__(std::size_t i) { (void)ages[i]; });
#elif defined(MISTAKE_index_by_reference)
  // expect: is a reference to a value that is not const
  handle.parallel_for(10, [] __device__(std::size_t & i) { ++i; });
#else
  handle.parallel_for(10, [first_age] __device__(std::size_t i) { (void)first_age[i]; });
#endif

#if defined(MISTAKE_sum_of_no_numbers)
  // expect: StepValue<T>::add needs a number; use set
  dynasoar::StepValue<Place>(handle.executor(), {}).add({1, 2});
#else
  dynasoar::StepValue<Place>(handle.executor(), {}).set({1, 2});
  dynasoar::StepValue<int>(handle.executor(), 1).add(2);
#endif
}

}  // namespace loops
