// What the parts of DynaSOAr's allocator are worth: the load of Linux Scalability with each of them left out.
//
// Source: DynaSOAr (Springer and Masuhara 2019), section 7.4, figure 13 (d).
#include "ablation.h"

#include "experiments/object_load.h"

namespace benchmarks::allocators {
namespace ablation {

struct WithoutCombining : dynasoar::AllFeatures {
  static constexpr bool kCombines = false;
};
struct WithoutRotation : dynasoar::AllFeatures {
  static constexpr bool kRotates = false;
};
struct WithoutCurrentBlocks : dynasoar::AllFeatures {
  static constexpr bool kKeepsCurrentBlocks = false;
};

template <class... Ts>
using All = dynasoar::ReducedSoaAllocator<dynasoar::AllFeatures, Ts...>;
template <class... Ts>
using NotCombining = dynasoar::ReducedSoaAllocator<WithoutCombining, Ts...>;
template <class... Ts>
using NotRotating = dynasoar::ReducedSoaAllocator<WithoutRotation, Ts...>;
template <class... Ts>
using NoCurrentBlocks = dynasoar::ReducedSoaAllocator<WithoutCurrentBlocks, Ts...>;

template <template <class...> class Allocator>
void add(std::vector<Case>& cases, const char* variant) {
  cases.push_back({"ablation", variant, [variant](const Context& context) {
                     using namespace soa::object_load;
                     const soa::Word most = most_of_thread(context);
                     for (const soa::Word part : {1024u, 256u, 16u, 2u}) {
                       if (part > most) continue;
                       const Load load{threads_of(context), most / part};
                       if (measure<Allocator>(context, "ablation", variant, load.threads * most, load) > kLongestRun) {
                         return;
                       }
                     }
                   }});
}

}  // namespace ablation

void add_ablation(std::vector<Case>& cases) {
  ablation::add<ablation::All>(cases, "soa");
  ablation::add<ablation::NotCombining>(cases, "soa, requests not combined");
  ablation::add<ablation::NotRotating>(cases, "soa, searches not rotated");
  ablation::add<ablation::NoCurrentBlocks>(cases, "soa, no current blocks");
}

}  // namespace benchmarks::allocators
