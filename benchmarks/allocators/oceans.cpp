// Wa-Tor and its heap: how well objects that come and go fill it over time, and how large an ocean fits into it.
//
// Source: DynaSOAr (Springer and Masuhara 2019), section 7.3, figure 12 (fragmentation over 500 steps), and section
// 7.2, figure 11 (largest problem in a heap of one size).
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../workloads.h"
#include "applications.h"
#include "wa_tor/simulation.h"

namespace benchmarks::allocators {
namespace {

/// Fish and sharks only: cells never go, and would hide what happens to blocks of those that do.
void record_fragmentation(const Context& context, const std::string& allocator) {
  const int width = context.pick(1024, 32);
  const int steps = context.pick(500, 20);
  Workload<wa_tor::Parameters> workload = wa_tor_workload(width, width, steps);
  workload.parameters.allocator = allocator;
  const std::unique_ptr<wa_tor::Simulation> ocean = wa_tor::make_agents(workload.parameters);
  for (int step = 0; step <= steps; ++step) {
    if (step > 0) ocean->step();
    if (step % 10 != 0) continue;
    const app::HeapUsage usage = ocean->usage().value().heap.value();
    ocean->record();
    const wa_tor::Population agents = ocean->take_history().back();
    if (usage.allocations.value() - usage.frees.value() != agents.fish + agents.sharks) {
      throw std::runtime_error("fragmentation_over_time: the heap has other objects than the ocean");
    }
    std::map<std::string, std::int64_t> parameters = workload.size;
    parameters["step"] = step;
    const double mib = static_cast<double>(usage.used_bytes) / (1 << 20);
    context.add({"fragmentation_over_time", allocator, parameters, "memory in use", "MiB", {mib}});
    if (allocator != "soa") continue;  // others have no blocks
    context.add({"fragmentation_over_time", allocator, parameters, "fragmentation", "%", {100 * usage.fragmentation}});
  }
}

/// Whether an ocean gets by with the heap. Fish are most numerous within the first 100 steps.
bool fits(const std::string& allocator, std::size_t heap_bytes, int width, int height, int steps) {
  Workload<wa_tor::Parameters> workload = wa_tor_workload(width, height, steps);
  workload.parameters.allocator = allocator;
  workload.parameters.heap_bytes = heap_bytes;
  try {
    const std::unique_ptr<wa_tor::Simulation> ocean = wa_tor::make_cells(workload.parameters);
    for (int step = 0; step < steps; ++step) {
      ocean->step();
      if (step % 10 == 0) ocean->synchronize();  // those that do not fit need not go on
    }
    ocean->synchronize();
    return true;
  } catch (const app::HeapTooSmall&) {
    return false;
  }
}

/// Finds the largest ocean, to 2 % of what the heap could hold of cells alone.
void measure_largest_ocean(const Context& context, const std::string& allocator) {
  const std::size_t heap_bytes = context.pick<std::size_t>(64, 1) << 20;
  const int width = context.pick(512, 64);
  const int parts = context.pick(50, 4);
  constexpr std::size_t kLeastBytesPerCell = 48;  // four neighbours, an agent, and what else a cell knows
  const int most = static_cast<int>(heap_bytes / kLeastBytesPerCell / static_cast<std::size_t>(width));
  int fitting = 0;
  for (int low = 0, high = parts; low < high;) {
    const int middle = (low + high + 1) / 2;
    if (fits(allocator, heap_bytes, width, most * middle / parts, context.pick(100, 5))) {
      fitting = low = middle;
    } else {
      high = middle - 1;
    }
  }
  if (fitting == 0) throw std::runtime_error("largest_ocean: not even the smallest ocean fits into the heap");
  const double cells = static_cast<double>(most * fitting / parts) * width;
  const std::map<std::string, std::int64_t> parameters = {{"MiB", static_cast<std::int64_t>(heap_bytes >> 20)}};
  context.add({"largest_ocean", allocator, parameters, "cells", "million", {cells * 1e-6}});
}

}  // namespace

void add_oceans(std::vector<Case>& cases) {
  for (const std::string& allocator : names_in(DYNASOAR_WA_TOR_ALLOCATORS)) {
    cases.push_back({"fragmentation_over_time", allocator,
                     [allocator](const Context& context) { record_fragmentation(context, allocator); }});
    cases.push_back({"largest_ocean", allocator,
                     [allocator](const Context& context) { measure_largest_ocean(context, allocator); }});
  }
}

}  // namespace benchmarks::allocators
