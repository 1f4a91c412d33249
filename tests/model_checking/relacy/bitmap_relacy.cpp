// What two or three threads do with a bitmap of a few bits, and with a tally.
#include "relacy_atomics.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/allocator/bitmap.h>
#include <dynasoar/allocator/tally.h>

#include "explore.h"

namespace dynasoar::test {

namespace {

constexpr Scheduler kRandom = Scheduler::random;
constexpr Scheduler kFull = Scheduler::full;

/// A bitmap, and a cell for each bit that belongs to whoever has cleared the bit.
template <int kContainerBits>
class BitmapScenario : public Scenario {
 public:
  using Bits = Bitmap<RelacyAtomics, kContainerBits>;
  using Script = std::function<void(BitmapScenario&)>;
  struct Setting {
    std::uint32_t size;
    std::uint32_t set;       ///< bits set at first
    std::uint64_t expected;  ///< bits set in the end, or kAny
    std::vector<Script> threads;
  };
  static constexpr std::uint64_t kAny = ~std::uint64_t{0};

  explicit BitmapScenario(const Setting& setting)
      : setting_(setting), words_(Bits::words_needed(setting.size)), cells_(setting.size) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i].store(Bits::filled_word(setting.size, setting.set, i), Order::relaxed);
    }
    for (rl::var<int>& cell : cells_) cell(Place::here()) = 1;
    bits = Bits::over(words_.data(), setting.size);
    flag.store(0, Order::relaxed);
  }

  void thread(int index) override { setting_.threads[static_cast<std::size_t>(index)](*this); }

  /// Each level agrees with the one below.
  void after() override {
    for (int level = 1; level < bits.levels(); ++level) {
      for (std::uint32_t i = 0; i < bits.level_size(level - 1); ++i) {
        const std::uint64_t above = bits.container(level, i / kContainerBits);
        expect((above >> i % kContainerBits & 1) == (bits.container(level - 1, i) != 0),
               "a bit disagrees with the container below");
      }
    }
    if (setting_.expected != kAny) expect(level_0() == setting_.expected, "the wrong bits are set");
    expect(claims <= 1, "bits are claimed twice");
  }

  /// What only the owner of a cell may do.
  void use(std::uint32_t position) { cells_[position](Place::here()) += 1; }

  Bits bits;
  RelacyAtomics::word<std::uint32_t> flag;
  int claims = 0;

 private:
  std::uint64_t level_0() const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < bits.level_size(0); ++i) all |= bits.container(0, i) << i * kContainerBits;
    return all;
  }

  const Setting& setting_;
  std::vector<RelacyAtomics::word<std::uint64_t>> words_;
  std::vector<rl::var<int>> cells_;
};

template <int kContainerBits>
Entry bitmap_entry(std::string name, std::string about, Scheduler scheduler, std::uint64_t schedules,
                   typename BitmapScenario<kContainerBits>::Setting setting) {
  const auto threads = static_cast<int>(setting.threads.size());
  const auto shared = std::make_shared<const typename BitmapScenario<kContainerBits>::Setting>(std::move(setting));
  return {std::move(name), std::move(about), threads, scheduler, schedules, [shared]() -> std::unique_ptr<Scenario> {
            return std::make_unique<BitmapScenario<kContainerBits>>(*shared);
          }};
}

using Pairs = BitmapScenario<2>;
using Fours = BitmapScenario<4>;

Pairs::Script set_and_clear(std::uint32_t position) {
  return [position](Pairs& map) { map.bits.set(position), map.bits.clear(position); };
}

void add_levels(std::vector<Entry>& all) {
  all.push_back(bitmap_entry<2>("bitmap_set_clear", "two bits of a container are set and cleared, two levels", kFull,
                                2000000, {4, 0, 0, {set_and_clear(0), set_and_clear(1)}}));
  all.push_back(bitmap_entry<2>("bitmap_set_clear_3", "three threads, three levels", kRandom, 300000,
                                {8, 0, 0, {set_and_clear(0), set_and_clear(1), set_and_clear(2)}}));
  all.push_back(bitmap_entry<2>("bitmap_same_bit", "one thread sets a bit twice, another clears it twice", kFull,
                                2000000,
                                {4,
                                 0,
                                 0,
                                 {[](Pairs& map) { map.bits.set(0), map.bits.set(0); },
                                  [](Pairs& map) { map.bits.clear(0), map.bits.clear(0); }}}));
  all.push_back(bitmap_entry<2>(
      "bitmap_set_many", "a container is set at once while its bits are taken", kFull, 2000000,
      {4,
       0,
       0,
       {[](Pairs& map) { map.use(0), map.use(1), map.bits.set_many(0, 3); },
        [](Pairs& map) { map.bits.clear(0), map.use(0); }, [](Pairs& map) { map.bits.clear(1), map.use(1); }}}));
  all.push_back(bitmap_entry<2>("bitmap_keep_one", "a bit of a container stays set while the other changes", kFull,
                                2000000,
                                {4, 1, 1, {set_and_clear(1), [](Pairs& map) { map.bits.clear(0), map.bits.set(0); }}}));
}

void add_passing(std::vector<Entry>& all) {
  const auto take_any = [](Pairs& map) {
    const std::uint32_t position = map.bits.clear_any(0, 3);
    if (is_position(position)) map.use(position);
  };
  all.push_back(bitmap_entry<2>(
      "bitmap_pass", "a set bit passes on what lies behind it", kRandom, 300000,
      {4,
       1,
       Pairs::kAny,
       {[](Pairs& map) { map.use(3), map.bits.set(3), map.use(2), map.bits.set(2); }, take_any, take_any}}));
  all.push_back(bitmap_entry<2>("bitmap_try_clear", "the same for one who may be too early", kFull, 2000000,
                                {4,
                                 0,
                                 Pairs::kAny,
                                 {[](Pairs& map) { map.use(0), map.bits.set(0); },
                                  [](Pairs& map) {
                                    if (map.bits.try_clear(0)) map.use(0);
                                  }}}));
  const auto set_and_claim = [](std::uint32_t position) {
    return [position](Fours& map) {
      map.use(position), map.bits.set(position);
      if (map.bits.claim_all(0, 3)) map.use(0), map.use(1), ++map.claims;
    };
  };
  all.push_back(bitmap_entry<4>(
      "bitmap_claim_all", "who completes a group of bits claims it", kFull, 2000000,
      {8, 0, 0, {set_and_claim(0), set_and_claim(1), [](Fours& map) { map.bits.set(2), map.bits.clear(2); }}}));
  all.push_back(bitmap_entry<2>("bitmap_claim_or_clear", "bits are claimed together, or one of them alone", kFull,
                                2000000,
                                {4,
                                 2,
                                 Pairs::kAny,
                                 {[](Pairs& map) {
                                    if (map.bits.claim_all(0, 3)) map.use(0), map.use(1);
                                  },
                                  [](Pairs& map) {
                                    if (map.bits.try_clear(1)) map.use(1);
                                  }}}));
}

void add_announcements(std::vector<Entry>& all) {
  const auto announce_and_clear = [](Pairs& map) {
    map.flag.store(1, Order::relaxed);
    map.bits.clear(0, Order::release);
  };
  const auto announced = [](Pairs& map) {
    expect(map.flag.load(Order::relaxed) == 1, "a bit is missed and its taker's announcement too");
  };
  all.push_back(bitmap_entry<2>("bitmap_find_announced", "who misses a bit sees the announcement of its taker", kFull,
                                2000000, {4, 1, 0, {announce_and_clear, [=](Pairs& map) {
                                                      if (!is_position(map.bits.find_exhaustively(0))) announced(map);
                                                    }}}));
  all.push_back(bitmap_entry<2>("bitmap_take_announced", "the same for a taker that takes any bit", kFull, 2000000,
                                {4,
                                 1,
                                 0,
                                 {[](Pairs& map) { map.flag.store(1, Order::relaxed), map.bits.clear_any(0, 1); },
                                  [=](Pairs& map) {
                                    if (!is_position(map.bits.find_exhaustively(0))) announced(map);
                                  }}}));
}

/// A tally and what it counts.
class TallyScenario : public Scenario {
 public:
  using Script = std::function<void(TallyScenario&)>;

  explicit TallyScenario(const std::vector<Script>& threads) : threads_(threads), words_(Tally<RelacyAtomics>::kWords) {
    for (auto& word : words_) word.store(0, Order::relaxed);
    flag.store(0, Order::relaxed);
    cell(Place::here()) = 1;
    tally = Tally<RelacyAtomics>::over(words_.data());
  }
  void thread(int index) override { threads_[static_cast<std::size_t>(index)](*this); }
  void after() override { expect(tally.read().in_progress == 0, "changes are still in progress"); }

  Tally<RelacyAtomics> tally;
  RelacyAtomics::word<std::uint32_t> flag;
  rl::var<int> cell;

 private:
  const std::vector<Script>& threads_;
  std::vector<RelacyAtomics::word<std::uint64_t>> words_;
};

void add_tally(std::vector<Entry>& all, std::string name, std::string about,
               std::vector<TallyScenario::Script> threads) {
  const auto shared = std::make_shared<const std::vector<TallyScenario::Script>>(std::move(threads));
  const auto make = [shared]() -> std::unique_ptr<Scenario> { return std::make_unique<TallyScenario>(*shared); };
  all.push_back({std::move(name), std::move(about), static_cast<int>(shared->size()), kFull, 2000000, make});
}

void add_tallies(std::vector<Entry>& all) {
  add_tally(all, "tally_end", "who sees a change counted sees the change",
            {[](TallyScenario& s) {
               s.tally.begin(0);
               s.cell(Place::here()) = 2;
               s.tally.end(0, 1);
             },
             [](TallyScenario& s) {
               if (s.tally.read().count == 1)
                 expect(static_cast<int>(s.cell(Place::here())) == 2, "a change is missed");
             }});
  add_tally(all, "tally_quiet", "between two readings without a change there is none",
            {[](TallyScenario& s) {
               s.tally.begin(0);
               s.flag.store(1, Order::release);
               s.flag.store(2, Order::release);
               s.tally.end(0, 1);
               s.tally.begin(0);
               s.tally.cancel(0);
             },
             [](TallyScenario& s) {
               const auto before = s.tally.read();
               const std::uint32_t seen = s.flag.load(Order::acquire);
               if (s.tally.read().quiet_since(before)) expect(seen == 2 * before.count, "a change is missed");
             }});
}

}  // namespace

std::vector<Entry> bitmap_scenarios() {
  std::vector<Entry> all;
  add_levels(all);
  add_passing(all);
  add_announcements(all);
  add_tallies(all);
  return all;
}

}  // namespace dynasoar::test
