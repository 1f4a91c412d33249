// The hierarchical bitmap: against a reference model step by step, and under many threads with a table of owners.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../platform/test_support.h"
#include "bitmap_check.h"

namespace bitmap_test {

using namespace dynasoar;
using namespace dynasoar::test;

/// A bitmap with memory of its own, of which the first `set` bits are set.
template <int kBits>
class OwnedBitmap {
 public:
  using View = Bitmap<PlatformAtomics, kBits>;

  explicit OwnedBitmap(std::uint32_t size, std::uint32_t set = 0) : words_(View::words_needed(size)), size_(size) {
    std::vector<std::uint64_t> values(words_.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = View::filled_word(size, set, i);
    words_.upload(values);
  }

  View view() const { return View::over(reinterpret_cast<AtomicWord<std::uint64_t>*>(words_.data()), size_); }
  std::vector<std::uint64_t> words() const { return words_.download(); }
  void overwrite(const std::vector<std::uint64_t>& words) { words_.upload(words); }

  std::vector<std::vector<std::uint64_t>> levels() const {
    Executor executor;
    return dynasoar::test::download_levels(executor, view());
  }
  std::string errors() const { return dynasoar::test::level_errors(levels(), size_, kBits); }

  std::set<std::uint32_t> positions() const {
    const std::vector<std::uint64_t> containers = levels()[0];
    std::set<std::uint32_t> positions;
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (dynasoar::test::bit_of(containers, i, kBits)) positions.insert(i);
    }
    return positions;
  }

 private:
  DeviceArray<std::uint64_t> words_;
  std::uint32_t size_;
};

// ---- One thread against a reference model -------------------------------------------------------------------------

enum class Action : std::uint32_t { toggle, try_clear, get, find, find_exhaustively, clear_any, claim_all, set_many };
constexpr std::uint32_t kActions = 8;

struct Step {
  Action action;
  std::uint32_t position;
  std::uint64_t mask;
};

template <int kBits>
struct RunSteps {
  Bitmap<PlatformAtomics, kBits> bitmap;
  const Step* steps;
  std::uint64_t* results;
  std::size_t count;

  __device__ std::uint64_t run(const Step& step) const {
    switch (step.action) {
      case Action::toggle:
        if (bitmap.get(step.position)) {
          bitmap.clear(step.position);
          return 1;
        }
        bitmap.set(step.position);
        return 0;
      case Action::try_clear: return bitmap.try_clear(step.position) ? 1 : 0;
      case Action::get: return bitmap.get(step.position) ? 1 : 0;
      case Action::find: return bitmap.find(step.position);
      case Action::find_exhaustively: return bitmap.find_exhaustively(step.position);
      case Action::clear_any: return bitmap.clear_any(step.position, 4);
      case Action::claim_all: return bitmap.claim_all(step.position, step.mask) ? 1 : 0;
      case Action::set_many: {
        const std::uint64_t clear = step.mask & ~bitmap.container(0, step.position / kBits);
        if (clear != 0) bitmap.set_many(step.position, clear);
        return clear;
      }
    }
    return 0;
  }

  __device__ void operator()(std::size_t) const {
    for (std::size_t i = 0; i < count; ++i) results[i] = run(steps[i]);
  }
};

/// Steps that fill and empty small regions, where most changes between levels happen, and also go everywhere.
template <int kBits>
std::vector<Step> random_steps(std::uint32_t size, std::size_t count, std::uint64_t seed) {
  Random random{seed};
  std::vector<Step> steps;
  std::uint32_t region = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 256 == 0) region = random.below(size);
    Step step{static_cast<Action>(random.below(kActions)), random.below(size), 0};
    if (random.below(4) != 0) step.position = (region + random.below(2 * kBits)) % size;
    // A run of bits in the container of `position`, short or long, within the bitmap.
    const std::uint32_t first = step.position / kBits * kBits;
    const std::uint32_t width = size - first < kBits ? size - first : kBits;
    const std::uint32_t begin = random.below(width);
    const std::uint32_t length = 1 + random.below(random.below(2) == 0 ? 2 : width);
    for (std::uint32_t bit = begin; bit < width && bit < begin + length; ++bit) step.mask |= std::uint64_t{1} << bit;
    steps.push_back(step);
  }
  return steps;
}

/// What one step does to a set of positions. @return whether the result that was found is right
template <int kBits>
bool replay(std::set<std::uint32_t>& model, const Step& step, std::uint64_t found) {
  const bool present = model.count(step.position) != 0;
  const std::uint32_t first = step.position / kBits * kBits;
  switch (step.action) {
    case Action::toggle:
      if (present) {
        model.erase(step.position);
      } else {
        model.insert(step.position);
      }
      return found == (present ? 1 : 0);
    case Action::try_clear: model.erase(step.position); return found == (present ? 1 : 0);
    case Action::get: return found == (present ? 1 : 0);
    case Action::find:
    case Action::find_exhaustively:
      return model.empty() ? found == kNoPosition : model.count(static_cast<std::uint32_t>(found)) != 0;
    case Action::clear_any:
      if (model.empty()) return found == kNoPosition;
      return found < kStalePosition && model.erase(static_cast<std::uint32_t>(found)) == 1;
    case Action::claim_all:
    case Action::set_many: {
      bool all = true;
      std::uint64_t absent = 0;
      for (std::uint32_t bit = 0; bit < kBits; ++bit) {
        if ((step.mask >> bit & 1) == 0) continue;
        const bool set = model.count(first + bit) != 0;
        all = all && set;
        if (!set) absent |= std::uint64_t{1} << bit;
      }
      if (step.action == Action::set_many) {
        for (std::uint32_t bit = 0; bit < kBits; ++bit) {
          if ((absent >> bit & 1) != 0) model.insert(first + bit);
        }
        return found == absent;
      }
      for (std::uint32_t bit = 0; all && bit < kBits; ++bit) {
        if ((step.mask >> bit & 1) != 0) model.erase(first + bit);
      }
      return found == (all ? 1 : 0);
    }
  }
  return false;
}

template <int kBits>
void compare_with_model(std::uint32_t size, std::uint32_t filled, std::size_t count, std::uint64_t seed) {
  CAPTURE(kBits);
  CAPTURE(size);
  CAPTURE(filled);
  const std::vector<Step> steps = random_steps<kBits>(size, count, seed);
  const auto to_run = on_device(steps);
  DeviceArray<std::uint64_t> results(count);
  OwnedBitmap<kBits> bitmap(size, filled);
  run_loop(1, RunSteps<kBits>{bitmap.view(), to_run.data(), results.data(), count});

  std::set<std::uint32_t> model;
  for (std::uint32_t i = 0; i < filled; ++i) model.insert(model.end(), i);
  const std::vector<std::uint64_t> found = results.download();
  std::size_t first_wrong = count;
  for (std::size_t i = 0; i < count && first_wrong == count; ++i) {
    if (!replay<kBits>(model, steps[i], found[i])) first_wrong = i;
  }
  if (first_wrong < count) {
    CAPTURE(first_wrong);
    CAPTURE(static_cast<int>(steps[first_wrong].action));
    FAIL_CHECK("a step returned " << found[first_wrong] << " for position " << steps[first_wrong].position);
  }
  CHECK(bitmap.positions() == model);
  CHECK(bitmap.errors() == "");
}

TEST_CASE("a bitmap does what a set of positions does, and its levels agree afterwards") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::size_t kSteps = 40000 / dynasoar::test::kSlowdown;
  for (std::uint32_t size : {1, 63, 64, 65, 4096, 4097, 300000}) {
    compare_with_model<64>(size, 0, kSteps, seed);
    compare_with_model<64>(size, size - size / 3, kSteps, seed + 1);
  }
}

TEST_CASE("bitmaps with the small containers of model checking do what a set of positions does") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::size_t kSteps = 10000 / dynasoar::test::kSlowdown;
  for (std::uint32_t size : {1, 2, 3, 4, 5, 31, 33, 64}) {
    compare_with_model<2>(size, 0, kSteps, seed);
    compare_with_model<4>(size, size, kSteps, seed + 1);
  }
  compare_with_model<4>(4096, 1000, kSteps, seed + 2);
  compare_with_model<8>(4097, 4097, kSteps, seed + 3);
}

// ---- What the model does not cover ----------------------------------------------------------------------------------

std::vector<std::uint32_t> find_from_everywhere(const OwnedBitmap<64>& bitmap, std::size_t starts) {
  DeviceArray<std::uint32_t> found(starts);
  // Calls find(start) for every start.
  run_loop(starts, [bitmap = bitmap.view(), found = found.data()] __device__(std::size_t i) {
    found[i] = bitmap.find(static_cast<std::uint32_t>(i));
  });
  return found.download();
}

TEST_CASE("searches from different starts in a full bitmap find different bits") {
  constexpr std::uint32_t kSize = 5000;
  const OwnedBitmap<64> bitmap(kSize, kSize);
  const std::vector<std::uint32_t> found = find_from_everywhere(bitmap, kSize);
  for (std::uint32_t start = 0; start < kSize; ++start) REQUIRE(found[start] == start);
}

TEST_CASE("a search from any start, also past the end, finds the only bit") {
  constexpr std::uint32_t kSize = 5000;
  for (std::uint32_t position : {0u, 63u, 64u, 4095u, 4096u, kSize - 1}) {
    OwnedBitmap<64> bitmap(kSize);
    run_loop(1, [view = bitmap.view(), position] __device__(std::size_t) { view.set(position); });
    for (std::uint32_t found : find_from_everywhere(bitmap, 3 * kSize)) REQUIRE(found == position);
  }
}

TEST_CASE("a filled bitmap is what setting its bits one by one makes") {
  for (std::uint32_t size : {1, 63, 64, 65, 4096, 4097, 300000}) {
    for (std::uint32_t set : {0u, 1u, size / 2, size - 1, size}) {
      CAPTURE(size);
      CAPTURE(set);
      OwnedBitmap<64> one_by_one(size);
      run_loop(set, [view = one_by_one.view()] __device__(std::size_t i) { view.set(static_cast<std::uint32_t>(i)); });
      CHECK(OwnedBitmap<64>(size, set).words() == one_by_one.words());
    }
  }
}

struct Answers {
  std::uint32_t found, found_exhaustively, cleared;
  bool seems_empty;
};

Answers search(const OwnedBitmap<64>& bitmap) {
  auto answers = zeroed<Answers>(1);
  run_loop(1, [bitmap = bitmap.view(), answers = answers.data()] __device__(std::size_t) {
    answers->found = bitmap.find(7);
    answers->found_exhaustively = bitmap.find_exhaustively(7);
    answers->cleared = bitmap.clear_any(100, 5);  // begins in a container that is empty in both cases below
    answers->seems_empty = bitmap.seems_empty();
  });
  return answers.download()[0];
}

TEST_CASE("a stale upper level hides a bit from find, but not from an exhaustive search") {
  OwnedBitmap<64> bitmap(200);  // four containers and the top
  bitmap.overwrite({std::uint64_t{1} << 9, 0, 0, 0, 0});
  const Answers answers = search(bitmap);
  CHECK(answers.found == kNoPosition);
  CHECK(answers.found_exhaustively == 9);
  CHECK(answers.cleared == kNoPosition);
  CHECK(answers.seems_empty);
}

TEST_CASE("an upper level that promises too much makes a search stale, not endless") {
  OwnedBitmap<64> bitmap(200);
  bitmap.overwrite({0, 0, 0, 0, 0b0001});
  const Answers answers = search(bitmap);
  CHECK(answers.found == kStalePosition);
  CHECK(!is_position(answers.found));
  CHECK(answers.found_exhaustively == kNoPosition);
  CHECK(answers.cleared == kNoPosition);
  CHECK(!answers.seems_empty);
}

// ---- Many threads ---------------------------------------------------------------------------------------------------

/// Each worker switches bits of its own on and off; bits of different workers share containers.
template <int kBits>
struct ToggleOwnBits {
  Bitmap<PlatformAtomics, kBits> bitmap;
  std::uint32_t workers, operations;
  std::uint64_t seed;
  std::uint32_t* last;  // [size] what the owner left behind

  __device__ void operator()(std::size_t worker) const {
    Random random = Random::of(seed, worker);
    const auto me = static_cast<std::uint32_t>(worker);
    const std::uint32_t own = (bitmap.size() - me + workers - 1) / workers;  // positions me, me + workers, ...
    for (std::uint32_t i = 0; i < operations; ++i) {
      const std::uint32_t position = me + workers * random.below(own);
      if (last[position] == 0) {
        bitmap.set(position);
      } else {
        bitmap.clear(position);
      }
      last[position] ^= 1;
    }
  }
};

template <int kBits>
void toggle_own_bits(std::uint32_t size, std::uint64_t seed) {
  CAPTURE(kBits);
  CAPTURE(size);
  const std::uint32_t workers = std::min(dynasoar::test::kWorkers, size);
  OwnedBitmap<kBits> bitmap(size);
  auto last = zeroed<std::uint32_t>(size);
  run_loop(workers, ToggleOwnBits<kBits>{bitmap.view(), workers, dynasoar::test::operations_per_worker(800000), seed,
                                         last.data()});
  std::set<std::uint32_t> expected;
  const std::vector<std::uint32_t> on = last.download();
  for (std::uint32_t i = 0; i < size; ++i) {
    if (on[i] != 0) expected.insert(i);
  }
  CHECK(bitmap.positions() == expected);
  CHECK(bitmap.errors() == "");
}

TEST_CASE("many threads switching bits of their own leave each bit as its owner left it") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  for (std::uint32_t size : {40, 65, 130, 4097, 20000}) toggle_own_bits<64>(size, seed);
  toggle_own_bits<2>(32, seed);
  toggle_own_bits<4>(200, seed);
}

enum Tally { kTakenTwice, kNotMine, kTaken, kNothingFound, kTallies };

/// Workers take bits out of a pool and put them back; a table has the owner of each bit.
template <int kBits>
struct TakeAndReturn {
  static constexpr std::uint32_t kMost = 24;
  Bitmap<PlatformAtomics, kBits> pool;
  AtomicWord<std::uint32_t>* owner;  // [size] 1 + worker, or 0 while the bit is in the pool
  std::uint32_t operations;
  std::uint64_t seed;
  Counter* tally;

  __device__ void took(std::uint32_t position, std::uint32_t me) const {
    tally[kTaken].fetch_add(1, Order::relaxed);
    dynasoar::test::count_if(tally[kTakenTwice], owner[position].exchange(me, Order::relaxed) != 0);
  }

  __device__ void about_to_return(std::uint32_t position, std::uint32_t me) const {
    dynasoar::test::count_if(tally[kNotMine], owner[position].exchange(0, Order::relaxed) != me);
  }

  __device__ void operator()(std::size_t worker) const {
    Random random = Random::of(seed, worker);
    const auto me = static_cast<std::uint32_t>(worker) + 1;
    std::uint32_t held[kMost];
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < operations; ++i) {
      if (count < kMost && random.below(2) == 0) {
        const std::uint32_t start = random.below(pool.size());
        std::uint32_t position = kNoPosition;
        switch (random.below(3)) {
          case 0: position = pool.clear_any(start, 8); break;
          case 1: position = pool.try_clear(start) ? start : kNoPosition; break;
          default: {
            const std::uint64_t bit = std::uint64_t{1} << start % kBits;
            position = pool.claim_all(start, bit) ? start : kNoPosition;
          }
        }
        if (is_position(position)) {
          took(position, me);
          held[count++] = position;
        } else {
          tally[kNothingFound].fetch_add(1, Order::relaxed);
        }
      } else if (count > 0) {
        const std::uint32_t which = random.below(count);
        const std::uint32_t position = held[which];
        held[which] = held[--count];
        about_to_return(position, me);
        if (random.below(2) == 0) {
          pool.set(position);
        } else {
          pool.set_many(position, std::uint64_t{1} << position % kBits);
        }
      }
    }
    // What is left in `held` is kept: the table says so.
  }
};

template <int kBits>
void take_and_return(std::uint32_t size, std::uint64_t seed) {
  CAPTURE(kBits);
  CAPTURE(size);
  OwnedBitmap<kBits> pool(size, size);
  auto owner = zeroed<AtomicWord<std::uint32_t>>(size);
  Counters tally(kTallies);
  Executor executor(dynasoar::test::kHostThreads);
  executor.for_each_index(dynasoar::test::kWorkers,
                          TakeAndReturn<kBits>{pool.view(), owner.data(), dynasoar::test::operations_per_worker(800000),
                                               seed, tally.data()});
  executor.synchronize();
  CHECK(tally[kTakenTwice] == 0);
  CHECK(tally[kNotMine] == 0);
  CHECK(tally[kTaken] > 0);
  DeviceArray<std::uint32_t> owners(size);
  executor.for_each_index(size, [from = owner.data(), to = owners.data()] __device__(std::size_t i) {
    to[i] = from[i].load(Order::relaxed);
  });
  executor.synchronize();
  std::set<std::uint32_t> unowned;
  const std::vector<std::uint32_t> found = owners.download();
  for (std::uint32_t i = 0; i < size; ++i) {
    if (found[i] == 0) unowned.insert(i);
  }
  CHECK(pool.positions() == unowned);  // none lost: every bit without an owner is in the pool
  CHECK(pool.errors() == "");
}

TEST_CASE("many threads taking bits out of a pool and returning them never get one twice and lose none") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  for (std::uint32_t size : {1, 40, 64, 65, 130, 4097, 20000}) take_and_return<64>(size, seed);
  take_and_return<2>(32, seed);
  take_and_return<4>(200, seed);
}

/// Workers claim whole groups of bits, as the last empty block of a page does, and put them back one by one.
struct ClaimGroups {
  static constexpr std::uint32_t kGroup = 4;
  Bitmap<> bitmap;
  AtomicWord<std::uint32_t>* claims;  // [groups] claims in force
  std::uint32_t operations;
  std::uint64_t seed;
  Counter* tally;

  __device__ void operator()(std::size_t worker) const {
    Random random = Random::of(seed, worker);
    for (std::uint32_t i = 0; i < operations; ++i) {
      const std::uint32_t group = random.below(bitmap.size() / kGroup);
      const std::uint32_t first = group * kGroup;
      if (!bitmap.claim_all(first, std::uint64_t{0b1111} << first % 64)) continue;
      tally[kTaken].fetch_add(1, Order::relaxed);
      dynasoar::test::count_if(tally[kTakenTwice], claims[group].fetch_add(1, Order::relaxed) != 0);
      claims[group].fetch_add(~0u, Order::relaxed);
      for (std::uint32_t bit = 0; bit < kGroup; ++bit) bitmap.set(first + (bit + i) % kGroup);
    }
  }
};

TEST_CASE("a group of bits is claimed as a whole, by one thread at a time") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kSize = 256;
  OwnedBitmap<64> bitmap(kSize, kSize);
  auto claims = zeroed<AtomicWord<std::uint32_t>>(kSize / ClaimGroups::kGroup);
  Counters tally(kTallies);
  run_loop(dynasoar::test::kWorkers, ClaimGroups{bitmap.view(), claims.data(),
                                                 dynasoar::test::operations_per_worker(800000), seed, tally.data()});
  CHECK(tally[kTakenTwice] == 0);
  CHECK(tally[kTaken] > 0);
  CHECK(bitmap.positions().size() == kSize);
  CHECK(bitmap.errors() == "");
}

}  // namespace bitmap_test
