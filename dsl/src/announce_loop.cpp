#include <dynasoar/detail/announce_loop.h>

#include <cstddef>

#include <dynasoar/platform/atomic.h>

namespace dynasoar::detail {
namespace {

struct AnnounceLoop {
  LoopRecord* record;
  std::uint32_t number;
  ClassSet visited;

  __device__ void operator()(std::size_t) const {
    record->number.store(number, Order::relaxed);
    for (int i = 0; i < 4; ++i) record->visits[i].store(visited.words[i], Order::relaxed);
  }
};

}  // namespace

void announce_loop(Executor& executor, LoopRecord* record, std::uint32_t number, const ClassSet& visited) {
  executor.for_each_index(1, AnnounceLoop{record, number, visited});
}

}  // namespace dynasoar::detail
