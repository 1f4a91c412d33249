#include <dynasoar/platform/host_threads.h>

#include <sched.h>

#include <algorithm>
#include <thread>

namespace dynasoar::detail {

int usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // more than a cpu_set_t holds
}

int processors_of_rank(int processes) {
  const int usable = usable_processors();
  const bool is_bound = usable < static_cast<int>(std::thread::hardware_concurrency());
  return is_bound ? usable : std::max(1, usable / processes);
}

}  // namespace dynasoar::detail
