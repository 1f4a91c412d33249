// What two or three threads do with a bitmap of a few bits, and with a tally.
#include "relacy_atomics.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/tally.h>

#include "explore.h"

namespace dynasoar::test {

namespace {

constexpr Scheduler kRandom = Scheduler::random;
constexpr Scheduler kFull = Scheduler::full;

/// A bitmap, and a cell for each bit, which belongs to the thread that has cleared the bit.
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

/// Adds a scenario of containers of that many bits.
template <int kContainerBits>
void add(std::vector<Entry>& all, std::string name, std::string about,
         typename BitmapScenario<kContainerBits>::Setting setting, Scheduler scheduler = kFull,
         std::uint64_t schedules = 2000000) {
  all.push_back(entry_of<BitmapScenario<kContainerBits>>(std::move(name), std::move(about), std::move(setting),
                                                         scheduler, schedules));
}

using Pairs = BitmapScenario<2>;
using Fours = BitmapScenario<4>;

Pairs::Script set_and_clear(std::uint32_t position) {
  return [position](Pairs& map) { map.bits.set(position), map.bits.clear(position); };
}

/// As BlockHeap::open and close do.
Pairs::Script set_and_clear_in_parts(std::uint32_t position) {
  return [position](Pairs& map) {
    const std::uint64_t before_set = map.bits.begin_set(position, Order::release);
    const std::uint64_t above_set = map.bits.begin_set_above(position, before_set);
    map.bits.finish_set(position, before_set, above_set, Order::release);
    const std::uint64_t before = map.bits.begin_clear(position, Order::acquire);
    expect(Pairs::Bits::has(before, position), "a bit that was set is gone");
    map.bits.finish_clear(position, before, map.bits.begin_clear_above(position, before));
  };
}

void add_levels(std::vector<Entry>& all) {
  add<2>(all, "bitmap_set_clear", "two bits of a container are set and cleared, two levels",
         {4, 0, 0, {set_and_clear(0), set_and_clear_in_parts(1)}});
  add<2>(all, "bitmap_in_parts", "the same in parts, two levels",
         {4, 0, 0, {set_and_clear_in_parts(0), set_and_clear_in_parts(1)}});
  add<2>(all, "bitmap_set_clear_3", "three threads, three levels",
         {8, 0, 0, {set_and_clear_in_parts(0), set_and_clear_in_parts(1), set_and_clear(2)}}, kRandom, 300000);
  add<2>(all, "bitmap_same_bit", "one thread sets a bit twice, another clears it twice",
         {4,
          0,
          0,
          {[](Pairs& map) { map.bits.set(0), map.bits.set(0); },
           [](Pairs& map) { map.bits.clear(0), map.bits.clear(0); }}});
  add<2>(all, "bitmap_set_many", "a container is set at once while its bits are taken",
         {4,
          0,
          0,
          {[](Pairs& map) { map.use(0), map.use(1), map.bits.set_many(0, 3); },
           [](Pairs& map) { map.bits.clear(0), map.use(0); }, [](Pairs& map) { map.bits.clear(1), map.use(1); }}});
  add<2>(all, "bitmap_keep_one", "a bit of a container stays set while the other changes",
         {4, 1, 1, {set_and_clear(1), [](Pairs& map) { map.bits.clear(0), map.bits.set(0); }}});
}

void add_passing(std::vector<Entry>& all) {
  const auto take_any = [](Pairs& map) {
    const std::uint32_t position = map.bits.clear_any(0, 3);
    if (is_position(position)) map.use(position);
  };
  add<2>(all, "bitmap_pass", "a set bit passes on what lies behind it",
         {4,
          1,
          Pairs::kAny,
          {[](Pairs& map) { map.use(3), map.bits.set(3), map.use(2), map.bits.set(2); }, take_any, take_any}},
         kRandom, 300000);
  add<2>(all, "bitmap_try_clear", "the same for a thread that may be too early",
         {4,
          0,
          Pairs::kAny,
          {[](Pairs& map) { map.use(0), map.bits.set(0); },
           [](Pairs& map) {
             if (map.bits.try_clear(0)) map.use(0);
           }}});
  const auto set_and_claim = [](std::uint32_t position) {
    return [position](Fours& map) {
      map.use(position), map.bits.set(position);
      if (map.bits.claim_all(0, 3)) map.use(0), map.use(1), ++map.claims;
    };
  };
  add<4>(all, "bitmap_claim_all", "the thread that completes a group of bits claims it",
         {8, 0, 0, {set_and_claim(0), set_and_claim(1), [](Fours& map) { map.bits.set(2), map.bits.clear(2); }}});
  add<2>(all, "bitmap_claim_or_clear", "bits are claimed together, or one of them alone",
         {4,
          2,
          Pairs::kAny,
          {[](Pairs& map) {
             if (map.bits.claim_all(0, 3)) map.use(0), map.use(1);
           },
           [](Pairs& map) {
             if (map.bits.try_clear(1)) map.use(1);
           }}});
}

/// Something goes from one place to another and back, and is counted: how much came to each place, and how much left.
class TallyScenario : public Scenario {
 public:
  using Script = std::function<void(TallyScenario&)>;
  using TallyT = Tally<RelacyAtomics>;

  explicit TallyScenario(const std::vector<Script>& threads) : threads_(threads), words_(4 * TallyT::kWords) {
    for (auto& word : words_) word.store(0, Order::relaxed);
    words_[0].store(1, Order::relaxed);  // it is at the first place
    for (std::size_t i = 0; i < 4; ++i) tallies_[i] = TallyT::over(words_.data() + i * TallyT::kWords);
  }
  void thread(int index) override { threads_[static_cast<std::size_t>(index)](*this); }
  void after() override { expect(count() == 1, "the counts are wrong in the end"); }

  const TallyT& came(int place) const { return tallies_[static_cast<std::size_t>(place)]; }
  const TallyT& left(int place) const { return tallies_[static_cast<std::size_t>(2 + place)]; }

  /// As Fullness::search_exhaustively does.
  std::uint64_t count() const {
    const std::uint64_t gone = left(0).read() + left(1).read();
    return came(0).read() + came(1).read() - gone;
  }

  /// As BlockHeap::open and close do.
  void move(int from, int to) const {
    came(to).add(0, 1, Order::relaxed);
    RelacyAtomics::fence(Order::release);
    left(from).add(0, 1, Order::relaxed);
  }

 private:
  const std::vector<Script>& threads_;
  std::vector<RelacyAtomics::word<std::uint64_t>> words_;
  std::array<TallyT, 4> tallies_;
};

void add_tallies(std::vector<Entry>& all) {
  const auto threads = std::make_shared<const std::vector<TallyScenario::Script>>(std::vector<TallyScenario::Script>{
      [](TallyScenario& s) { s.move(0, 1), s.move(1, 0); },
      [](TallyScenario& s) { expect(s.count() >= 1, "what is on its way is not counted anywhere"); }});
  const auto make = [threads]() -> std::unique_ptr<Scenario> { return std::make_unique<TallyScenario>(*threads); };
  all.push_back({"tally_handover", "what goes from one place to another is counted at one of them at least", 2, kFull,
                 2000000, make});
}

}  // namespace

std::vector<Entry> bitmap_scenarios() {
  std::vector<Entry> all;
  add_levels(all);
  add_passing(all);
  add_tallies(all);
  return all;
}

}  // namespace dynasoar::test
