/// @file
/// GETPAGE: how long threads take that all ask for one page, and in how many steps they find it, over their number and
/// the share of pages that are free.
///
/// Source: Pham et al., ICS '22, section 5.2.1, figure 7: 50, 10, 1 and 0.5 % of the pages are free when the kernel
/// starts; pages have 256 bytes. As for the paper's figure 4 there are 2^20 pages, so that 5000 and 10 000 threads take
/// almost all that are free in the last two cases. TAS is the average of the threads' steps, WAS that of the warps'
/// maxima. Beside what is measured stands what sections 3.2 and 4.1 compute, with words of 64 bits where the paper
/// has 32. CoRW's steps have no formula. A walk here ends after some steps and a sweep follows, so that where the bound
/// of WAS is in the tens of thousands less is measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/malloc/random_walk.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../../measure.h"
#include "../suite.h"
#include "series.h"

namespace benchmarks::allocators {
namespace get_page {

inline constexpr std::size_t kLanes = dynasoar::kCudaBackend ? 32 : 1;

template <class P>
struct Get {
  P allocator;
  std::uint32_t* pages;  // [threads]
  __device__ void operator()(std::size_t i) const { pages[i] = allocator.get_page(); }
};

template <class P>
struct GetAndCount {
  P allocator;
  std::uint32_t* pages;  // [threads]
  std::uint32_t* steps;  // [threads]
  __device__ void operator()(std::size_t i) const {
    dynasoar::StepCount count;
    pages[i] = allocator.get_page(dynasoar::PlatformWarp{}, count);
    steps[i] = count.steps;
  }
};

template <class P>
struct Free {
  P allocator;
  const std::uint32_t* pages;  // [threads]
  __device__ void operator()(std::size_t i) const {
    if (pages[i] != dynasoar::kNoPage) allocator.free_page(pages[i]);
  }
};

/// The paper's T, A and N, and how many pages a step looks at.
struct Setting {
  std::size_t pages, free, threads;
  int word_bits;

  /// Chance that a step finds a page when `taken` of the free ones are gone.
  double chance(std::size_t taken) const {
    return 1 - std::pow(static_cast<double>(pages - free + taken) / static_cast<double>(pages), word_bits);
  }
  /// Equation 4, of which equation 2 is the case of one bit.
  double average_steps() const {
    double sum = 0;
    for (std::size_t taken = 0; taken < threads; ++taken) sum += 1 / chance(taken);
    return sum / static_cast<double>(threads);
  }
  /// Standard deviation of the average: each thread's steps are distributed geometrically.
  double deviation() const {
    double variance = 0;
    for (std::size_t taken = 0; taken < threads; ++taken) {
      variance += (1 - chance(taken)) / (chance(taken) * chance(taken));
    }
    return std::sqrt(variance) / static_cast<double>(threads);
  }
  /// Equation 5, of which equation 3 is the case of one bit: the bound of WAS.
  double warp_bound() const {
    double sum = 0;
    const double fails = 1 - chance(threads);
    for (double all_fail = 1; all_fail > 1e-9; all_fail *= fails) sum += 1 - std::pow(1 - all_fail, kLanes);
    return sum;
  }
  /// Whether it holds within five deviations, and what collisions and the ends of walks change.
  bool agrees(double measured) const {
    return std::abs(measured - average_steps()) < 5 * deviation() + 0.1 * average_steps();
  }
  std::map<std::string, std::int64_t> parameters() const {
    return {{"threads", static_cast<std::int64_t>(threads)},
            {"free_per_mille",
             static_cast<std::int64_t>(std::llround(1000.0 * static_cast<double>(free) / static_cast<double>(pages)))}};
  }
};

/// All pages used but for `free` ones, chosen at random.
inline std::vector<bool> used_pages(std::size_t pages, std::size_t free) {
  std::vector<bool> used(pages, true);
  std::mt19937_64 random(1);
  for (std::size_t left = free; left > 0;) {
    const std::size_t page = random() % pages;
    if (!used[page]) continue;
    used[page] = false;
    --left;
  }
  return used;
}

inline double average(const std::vector<std::uint32_t>& values) {
  double sum = 0;
  for (const std::uint32_t value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// The greatest of each warp's values.
inline std::vector<std::uint32_t> of_warps(const std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> greatest;
  for (std::size_t first = 0; first < values.size(); first += kLanes) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    const auto lanes = static_cast<std::ptrdiff_t>(std::min(kLanes, values.size() - first));
    greatest.push_back(*std::max_element(begin, begin + lanes));
  }
  return greatest;
}

/// @throws std::runtime_error if a page was given to two threads, was not free, or somebody got none
inline void check_pages(std::vector<std::uint32_t> pages, const std::vector<bool>& used) {
  std::sort(pages.begin(), pages.end());
  if (pages.back() >= used.size()) throw std::runtime_error("a thread got no page, though enough were free");
  if (std::adjacent_find(pages.begin(), pages.end()) != pages.end()) throw std::runtime_error("two threads got a page");
  if (std::any_of(pages.begin(), pages.end(), [&](std::uint32_t page) { return used[page]; })) {
    throw std::runtime_error("a thread got a page that was in use");
  }
}

template <class P>
void measure(const Context& context, const Setting& setting, const P& allocator, const std::vector<bool>& used) {
  dynasoar::Executor executor;
  const dynasoar::DeviceArray<std::uint32_t> pages(setting.threads);
  const dynasoar::DeviceArray<std::uint32_t> steps(setting.threads);
  const auto give = [&] { executor.for_each_index(setting.threads, Free<P>{allocator, pages.data()}); };
  // The counted round is also the warm-up.
  executor.for_each_index(setting.threads, GetAndCount<P>{allocator, pages.data(), steps.data()});
  executor.synchronize();
  check_pages(pages.download(), used);
  give();
  std::vector<double> microseconds;
  for (int i = 0; i < context.repetitions; ++i) {
    const auto get = [&] { executor.for_each_index(setting.threads, Get<P>{allocator, pages.data()}); };
    microseconds.push_back(1e6 * seconds_of(executor, get));
    give();
  }
  executor.synchronize();

  const auto add = [&](const char* metric, const char* unit, std::vector<double> values) {
    context.add({"get_page", P::kProperties.name, setting.parameters(), metric, unit, std::move(values)});
  };
  const std::vector<std::uint32_t> counts = steps.download();
  add("kernel time", "us", std::move(microseconds));
  add("TAS", "steps", {average(counts)});
  add("WAS", "steps", {average(of_warps(counts))});
  if (P::kProperties.combines) return;
  add("TAS, computed", "steps", {setting.average_steps()});
  add("WAS, bound", "steps", {setting.warp_bound()});
  if (context.smoke && !setting.agrees(average(counts))) {
    throw std::runtime_error("threads take " + std::to_string(average(counts)) + " steps instead of " +
                             std::to_string(setting.average_steps()));
  }
}

template <class P>
void measure_shares(const Context& context) {
  const std::size_t pages = std::size_t{1} << context.pick(20, 18);
  dynasoar::Executor executor;
  typename P::Storage storage(executor, {pages * 256, 256});
  const int word_bits = std::is_same_v<P, dynasoar::RwPages> ? 1 : 64;
  for (const std::size_t free : {pages / 2, pages / 10, pages / 100, pages / 200}) {
    const std::vector<bool> used = used_pages(pages, free);
    storage.set_used(used);
    for (const std::size_t threads : context.pick<std::vector<std::size_t>>({1000, 5000, 10'000, 50'000}, {600})) {
      if (threads < free) measure<P>(context, {pages, free, threads, word_bits}, storage.view(), used);
    }
  }
}

}  // namespace get_page

template <class M>
void add_get_page(std::vector<Case>& cases) {
  if constexpr (dynasoar::PageAllocator<M>) {
    cases.push_back({"get_page", M::kProperties.name, &get_page::measure_shares<M>});
  }
}

}  // namespace benchmarks::allocators
