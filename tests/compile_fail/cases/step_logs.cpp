// Totals of step logs.
#include <array>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/step_log.h>

namespace step_logs {

class Body;
using AllocatorT = dynasoar::SoaAllocator<Body>;

class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Place = std::array<float, 2>;
  DYNASOAR_FIELDS(Body, (mass_, float), (place_, Place))
  __device__ float weight() { return 10 * mass_; }
};

class Stranger {};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  namespace totals = dynasoar::totals;
  dynasoar::StepLog log(handle);
#if defined(MISTAKE_total_of_no_number)
  // expect: are for fields that are numbers
  log.add<Body>(totals::sum<&Body::place_>("place"));
#elif defined(MISTAKE_total_converted_to_no_number)
  // expect: the totals of a step log are of numbers of at most 64 bits
  log.add<Body>(totals::maximum<const char*>("name", [] __device__(Body*) -> const char* { return "body"; }));
#elif defined(MISTAKE_total_captures_vector)
  // expect: the callable of this loop captures, or has as a member, a value that is not trivially copyable
  const std::vector<float> masses(10);
  log.add<Body>(totals::count_if("heavy", [masses] __device__(Body * body) { return body->mass_ > masses[0]; }));
#elif defined(MISTAKE_log_without_totals)
  // expect: needs at least one total
  log.add<Body>();
#elif defined(MISTAKE_totals_of_unlisted_class)
  // expect: neither this class nor a class derived from it is in its allocator's list
  // names: step_logs::Stranger
  log.add<Stranger>(totals::count("strangers"));
#else
  log.add<Body>(totals::count("bodies"), totals::sum<&Body::mass_>("mass"), totals::mean<&Body::weight>("weight"));
#endif
}

}  // namespace step_logs
