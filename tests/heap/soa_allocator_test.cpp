// SoaAllocator, one thread, against a model that knows exactly which requests can be granted.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "handle_check.h"
#include "test_classes.h"

namespace soa_allocator_test {

using namespace dynasoar;
using dynasoar::detail::Handle;
using namespace dynasoar::test;

constexpr std::size_t kTypes = FourTypes::kTypes;
constexpr std::uint32_t kLargest = FourTypes::index_of<Large>;

/// Create an object of `type`, or destroy `object`, which was made by step `number`.
struct Step {
  bool create;
  std::uint32_t type;
  std::uint32_t number;
};

struct RunSteps {
  const Step* steps;
  Stamped** made;  // [steps of all batches] what each step created
  std::uint32_t first, count;
  std::uint32_t* damaged;

  __device__ void operator()(std::size_t) const {
    for (std::uint32_t i = first; i < first + count; ++i) {
      const Step& step = steps[i - first];
      if (step.create) {
        made[i] = dynasoar::test::make_of_type(step.type, i);
      } else {
        made[i] = nullptr;
        if (!dynasoar::test::intact(made[step.number], step.number)) ++*damaged;
        dynasoar::destroy(made[step.number]);
      }
    }
  }
};

/// Which slots hold which objects, and so what must still be possible.
class Model {
 public:
  explicit Model(std::size_t pages) : pages_(pages) {}

  /// A page belongs to a type as long as it holds an object; it has room until all slots of all its blocks are taken.
  bool can_create(std::size_t type) const {
    if (live_by_page_.size() < pages_) return true;
    const std::uint64_t most = FourTypes::pages().blocks_per_page[type] * 64;
    return std::any_of(live_by_page_.begin(), live_by_page_.end(),
                       [&](const auto& page) { return page.second.type == type && page.second.objects < most; });
  }

  /// @return whether the object may be there
  bool create(std::size_t type, Handle handle) {
    const std::uint64_t page = handle.block_offset() / FourTypes::pages().bytes;
    bool good = handle.type_index() == static_cast<int>(type) && page < pages_;
    good = good && live_[type].insert(handle.bits()).second;
    PageContent& content = live_by_page_.try_emplace(page, PageContent{type, 0}).first->second;
    ++content.objects;
    return good && content.type == type;
  }

  void destroy(std::size_t type, Handle handle) {
    live_[type].erase(handle.bits());
    const auto page = live_by_page_.find(handle.block_offset() / FourTypes::pages().bytes);
    if (--page->second.objects == 0) live_by_page_.erase(page);
  }

  std::uint64_t count(std::size_t type) const { return live_[type].size(); }
  std::uint64_t pages_in_use() const { return live_by_page_.size(); }

 private:
  struct PageContent {
    std::size_t type;
    std::uint64_t objects;
  };
  std::size_t pages_;
  std::array<std::set<std::uint64_t>, kTypes> live_;
  std::map<std::uint64_t, PageContent> live_by_page_;
};

void compare_with_model(std::size_t pages, std::uint64_t seed) {
  CAPTURE(pages);
  constexpr std::uint32_t kBatches = 40;
  constexpr std::uint32_t kSteps = 2500 / (dynasoar::test::kSlowdown > 4 ? 5 : 1);  // per batch
  AllocatorHandle<FourTypes> handle(heap_of_pages<FourTypes>(pages));
  Model model(pages);
  Random random{seed};
  auto made = zeroed<Stamped*>(kBatches * kSteps);
  DeviceArray<Step> steps(kSteps);
  auto damaged = zeroed<std::uint32_t>(1);
  std::vector<std::pair<std::size_t, std::uint32_t>> live;  // type, number of the step that made it
  std::uint64_t refused = 0;
  for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
    CAPTURE(batch);
    // Batches that mostly create and batches that mostly destroy, with a favourite type each, of which the first two
    // fill a small heap. Only objects of earlier batches are destroyed, because whether a creation in this batch
    // succeeds is not known when its steps are made.
    const bool grow = batch % 4 < 2;
    const auto favourite = batch < 2 ? kLargest : random.below(kTypes);
    std::vector<Step> planned;
    std::vector<std::size_t> types_destroyed;
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      const bool create = random.below(8) < (grow ? 7u : 1u) || live.empty();
      if (create) {
        planned.push_back({true, random.below(3) == 0 ? random.below(kTypes) : favourite, 0});
      } else {
        const std::uint32_t which = random.below(static_cast<std::uint32_t>(live.size()));
        planned.push_back({false, static_cast<std::uint32_t>(live[which].first), live[which].second});
        live[which] = live.back();
        live.pop_back();
      }
    }
    steps.upload(planned);
    handle.parallel_for(1, RunSteps{steps.data(), made.data(), batch * kSteps, kSteps, damaged.data()});
    handle.synchronize();
    const std::vector<Stamped*> objects = made.download();
    const auto handle_of = [&](std::uint32_t number) {
      return Handle(reinterpret_cast<std::uint64_t>(objects[number]));
    };
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      const std::uint32_t number = batch * kSteps + i;
      const Step& step = planned[i];
      if (!step.create) {
        model.destroy(step.type, handle_of(step.number));
      } else if (objects[number] == nullptr) {
        ++refused;
        wrong += model.can_create(step.type);
      } else {
        wrong += !model.can_create(step.type) || !model.create(step.type, handle_of(number));
        live.emplace_back(step.type, number);
      }
    }
    CHECK(wrong == 0);
    CHECK(handle.count<Tiny>() == model.count(0));
    CHECK(handle.count<Small>() == model.count(1));
    CHECK(handle.count<Medium>() == model.count(2));
    CHECK(handle.count<Large>() == model.count(3));
    CHECK(handle.count<Stamped>() == live.size());
    CHECK(handle.statistics().free_pages == pages - model.pages_in_use());
    CHECK(dynasoar::test::heap_errors(handle) == "");
  }
  CHECK(damaged.download()[0] == 0);
  CHECK(handle.statistics().refused() == refused);
  for (const auto& type : handle.statistics().types) CHECK(type.refused_contended == 0);  // there were no other threads
  if (pages < 10) CHECK(refused > 0);
}

TEST_CASE("requests are granted exactly when a model of pages and slots says so, and counts agree with it") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  compare_with_model(4, seed);
  compare_with_model(9, seed + 1);
  compare_with_model(70, seed + 2);
}

}  // namespace soa_allocator_test
