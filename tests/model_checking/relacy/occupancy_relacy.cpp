// What two or three threads of a loop do with objects at a few places of a lattice.
#include "relacy_atomics.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/classes/occupancy.h>

#include "explore.h"

namespace dynasoar::test {

namespace {

constexpr int kPlaces = 4;
constexpr int kClasses = 2;
constexpr int kMine = -1;  ///< the object that the thread has created or moved last

enum class Result { any, yes, no };

/// What a thread does. Plain data: what a thread allocates would be Relacy's memory.
struct Act {
  enum Kind { kCreate, kCreateTwo, kDestroy, kMove, kRead } kind;
  int type;       ///< of what is created
  int object;     ///< of the others: the number of an object that the first loop has made, or kMine
  int place;      ///< where to; of kCreateTwo, also the next one
  Result result;  ///< that it must have
};
using Acts = std::vector<Act>;

Act create(int type, int place, Result result = Result::any) {
  return {Act::kCreate, type, kMine, place, result};
}
/// At two places at once, as create_where does: at both, one or none.
Act create_two(int type, int place) {
  return {Act::kCreateTwo, type, kMine, place, Result::any};
}
Act destroy(int object, Result result = Result::any) {
  return {Act::kDestroy, 0, object, 0, result};
}
Act move(int object, int place, Result result = Result::any) {
  return {Act::kMove, 0, object, place, result};
}
Act read(int object) {
  return {Act::kRead, 0, object, 0, Result::any};
}

/// A lattice, and what is to be there: noted in the order of the schedule. Fields are cells, which Relacy watches for
/// data races.
class OccupancyScenario : public Scenario {
 public:
  struct Setting {
    bool one_per_place;  ///< over both classes
    Acts first;          ///< a loop of one thread, which makes the objects 0, 1, ...
    std::vector<Acts> threads;
  };

  explicit OccupancyScenario(const Setting& setting) : setting_(setting) {
    for (std::array<Word, kClasses>* const words : {&arrived_, &departed_, &claims_}) {
      for (Word& word : *words) word.store(0, Order::relaxed);
    }
    for (const Act& act : setting.first) play(act, 0);
    next_loop();
    first_ = objects_;
  }

  void thread(int index) override {
    for (const Act& act : setting_.threads[static_cast<std::size_t>(index)]) play(act, index);
  }

  /// All objects are in order, and when they have died all places are free.
  void after() override {
    next_loop();
    for (int number = 0; number < made_; ++number) {
      if (!object(number).is_there) continue;
      mine_[0] = number;
      play(destroy(kMine, Result::yes), 0);
    }
    next_loop();
    for (int place = 0; place < kPlaces; ++place) play(create(place % kClasses, place, Result::yes), 0);
  }

 private:
  using Word = RelacyAtomics::word<std::uint64_t>;

  struct Object {
    int type = 0;
    int place = 0;
    bool is_there = false;
  };
  using Objects = std::array<Object, 16>;

  /// What is known of a place and a class.
  struct Slot {
    bool is_seen = false, has_arrival = false, has_departure = false;
  };

  Object& object(int number) { return objects_[static_cast<std::size_t>(number)]; }
  Slot& slot(int type, int place) { return slots_[static_cast<std::size_t>(type * kPlaces + place)]; }
  rl::var<int>& cell(const Object& at) { return cells_[static_cast<std::size_t>(at.type * kPlaces + at.place)]; }
  int& mine(int thread) { return mine_[static_cast<std::size_t>(thread)]; }

  detail::Occupancy<RelacyAtomics> occupancy(int type) {
    const auto i = static_cast<std::size_t>(type);
    return {&seen_[i], &arrived_[i], &departed_[i], setting_.one_per_place ? claims_.data() : &arrived_[i]};
  }
  static detail::PlaceBits bit(int place) { return detail::PlaceBits::of(static_cast<std::uint64_t>(place)); }

  void play(const Act& act, int thread) {
    const int number = act.object == kMine ? mine(thread) : act.object;
    // A pointer leads to where the object was when the loop began.
    const Object at = act.object == kMine ? object(number) : first_[static_cast<std::size_t>(number)];
    bool is_done = true;
    switch (act.kind) {
      case Act::kCreate: is_done = make(act.type, act.place, 1, thread); break;
      case Act::kCreateTwo: is_done = make(act.type, act.place, 3, thread); break;
      case Act::kDestroy: is_done = remove(number, at); break;
      case Act::kMove: is_done = send(number, at, act.place, thread); break;
      case Act::kRead: check_fields(number, at); break;
    }
    expect(act.result != Result::yes || is_done, "a request is refused although nothing stands in its way");
    expect(act.result != Result::no || !is_done, "a request is granted that the rules forbid");
  }

  /// @param places   a set of them, counted from the first
  bool make(int type, int first, std::uint64_t places, int thread) {
    const std::uint64_t got = occupancy(type).create({0, places << first});
    for (int place = 0; place < kPlaces; ++place) {
      if ((got & bit(place).mask) == 0) continue;
      const int number = made_++;
      object(number) = {type, place, true};
      arrives(object(number));
      mine(thread) = number;
      cell(object(number))(Here::here()) = number;
    }
    return got != 0;
  }

  bool remove(int number, const Object& at) {
    if (occupancy(at.type).depart(bit(at.place)) == 0) return false;
    departs(number, at);
    object(number).is_there = false;
    check_fields(number, at);  // as a destructor does
    return true;
  }

  bool send(int number, const Object& at, int place, int thread) {
    if (!occupancy(at.type).move(bit(at.place), bit(place))) return false;
    departs(number, at);
    object(number).place = place;
    arrives(object(number));
    mine(thread) = number;
    const int fields = cell(at)(Here::here());
    cell(object(number))(Here::here()) = fields;
    return true;
  }

  void check_fields(int number, const Object& at) {
    expect(static_cast<int>(cell(at)(Here::here())) == number, "an object that threads may read is overwritten");
  }

  void arrives(const Object& at) {
    for (int type = 0; type < kClasses; ++type) {
      if (type != at.type && !setting_.one_per_place) continue;
      expect(!slot(type, at.place).is_seen, "an object arrives where another one is seen");
      expect(!slot(type, at.place).has_arrival, "two objects arrive at a place");
    }
    slot(at.type, at.place).has_arrival = true;
  }

  void departs(int number, const Object& at) {
    expect(object(number).is_there && !slot(at.type, at.place).has_departure, "an object departs twice");
    slot(at.type, at.place).has_departure = true;
  }

  /// The next loop sees all objects that there are, and nothing else.
  void next_loop() {
    for (int type = 0; type < kClasses; ++type) occupancy(type).refresh(0);
    slots_ = {};
    std::array<std::uint64_t, kClasses> expected{};
    for (int number = 0; number < made_; ++number) {
      const Object& known = object(number);
      if (!known.is_there) continue;
      slot(known.type, known.place).is_seen = true;
      expected[static_cast<std::size_t>(known.type)] |= bit(known.place).mask;
      check_fields(number, known);
    }
    expect(seen_ == expected, "the next loop sees other objects than there are");
    for (std::size_t i = 0; i < kClasses; ++i) {
      expect((arrived_[i].load(Order::relaxed) | departed_[i].load(Order::relaxed)) == 0, "a change is left over");
    }
    expect(claims_[0].load(Order::relaxed) == (setting_.one_per_place ? expected[0] | expected[1] : 0),
           "claims are not those of the objects that there are");
  }

  using Here = dynasoar::test::Place;

  const Setting& setting_;
  std::array<std::uint64_t, kClasses> seen_{};
  std::array<Word, kClasses> arrived_, departed_, claims_;
  std::array<rl::var<int>, kClasses * kPlaces> cells_;
  std::array<Slot, kClasses * kPlaces> slots_;
  Objects objects_, first_;
  int made_ = 0;
  std::array<int, 3> mine_{};
};

void add(std::vector<Entry>& all, std::string name, std::string about, OccupancyScenario::Setting setting,
         Scheduler scheduler = Scheduler::full, std::uint64_t schedules = 2000000) {
  all.push_back(
      entry_of<OccupancyScenario>(std::move(name), std::move(about), std::move(setting), scheduler, schedules));
}

constexpr Result kYes = Result::yes;
constexpr Result kNo = Result::no;

/// One class.
void add_rules(std::vector<Entry>& all) {
  add(all, "place_taken_twice", "three threads want the same place, one of them for an object that moves",
      {false, {create(0, 0)}, {{create(0, 1)}, {create(0, 1)}, {move(0, 1)}}});
  add(all, "place_moved_twice", "an object is moved to two places, and another thread wants one of them",
      {false, {create(0, 0)}, {{move(0, 1)}, {move(0, 2)}, {create(0, 2), read(0)}}});
  add(all, "place_eaten", "an object is moved, destroyed and read, and its place is wanted",
      {false, {create(0, 0)}, {{destroy(0), create(0, 0, kNo)}, {move(0, 1)}, {create(0, 0, kNo), read(0)}}});
  add(all, "place_eaten_twice", "an object is destroyed by two threads, and moved",
      {false, {create(0, 0)}, {{destroy(0)}, {destroy(0)}, {move(0, 1), create(0, 2, kYes)}}});
  add(all, "place_chase", "an object follows another one that moves on, and both are read",
      {false,
       {create(0, 0), create(0, 1)},
       {{move(0, 1, kNo), destroy(0, kYes)}, {move(1, 2, kYes), read(0)}, {move(1, 1, kNo), read(1)}}});
  add(all, "place_one_word", "changes of different places of a word do not disturb each other",
      {false, {create(0, 0), create(0, 1)}, {{create(0, 2, kYes)}, {move(0, 3, kYes)}, {destroy(1, kYes)}}});
  add(all, "place_hopeless_move", "a thread that has destroyed an object does not move it, not even for a moment",
      {false, {create(0, 0)}, {{destroy(0, kYes), move(0, 1, kNo)}, {create(0, 1, kYes)}}});
  add(all, "place_made_and_gone", "an object is created, moved on and destroyed, while others want both places",
      {false,
       {},
       {{create(0, 1, kYes), move(kMine, 2, kYes), destroy(kMine, kYes), create(0, 1, kNo), create(0, 2, kNo)},
        {create(0, 0, kYes), move(kMine, 3, kYes)}}});
  add(all, "place_sets", "a thread creates objects at two places at once, and others want one of them each",
      {false, {create(0, 0)}, {{create_two(0, 1)}, {create(0, 1)}, {move(0, 2)}}});
  add(all, "place_set_of_seen", "a thread creates objects at two places at once, at one of which one is seen",
      {false, {create(0, 1)}, {{create_two(0, 1), create(0, 2, kNo)}, {create_two(0, 0)}, {destroy(0, kYes)}}});
  add(all, "place_of_two_classes", "objects of two classes are at one place",
      {false,
       {create(0, 0), create(1, 1)},
       {{create(1, 0, kYes)}, {move(0, 1, kYes)}, {destroy(1, kYes), create(1, 1, kNo)}}});
}

/// Longer loops.
void add_mixed(std::vector<Entry>& all) {
  const Acts first{create(0, 0), create(1, 1), create(0, 2)};
  const std::vector<Acts> threads{{move(0, 3), create(1, 3), read(1), move(2, 1), destroy(0)},
                                  {destroy(1), create(0, 1), move(kMine, 3), move(0, 3), read(2)},
                                  {move(2, 3), move(1, 3), read(0), destroy(2), create(1, 0)}};
  add(all, "place_mixed", "three threads create, move, destroy and read what they can", {false, first, threads},
      Scheduler::random, 200000);
  add(all, "place_exclusive_mixed", "the same, with one object per place", {true, first, threads}, Scheduler::random,
      200000);
}

/// Two classes of which one object may be at a place.
void add_exclusive(std::vector<Entry>& all) {
  add(all, "place_either_class", "objects of two classes want a place that has room for one",
      {true, {create(1, 0)}, {{create(0, 1)}, {create(1, 1)}, {move(0, 1)}}});
  add(all, "place_of_prey", "an object goes to the place of one that is destroyed, which is free in the next loop",
      {true,
       {create(0, 0), create(1, 1)},
       {{destroy(1, kYes)}, {move(0, 1, kNo), create(0, 1, kNo)}, {create(1, 0, kNo), read(1)}}});
  add(all, "place_kept_apart",
      "an object of two classes is moved twice, and a thread of the other class wants the place",
      {true, {create(0, 0)}, {{move(0, 1)}, {move(0, 2)}, {create(1, 2)}}});
  add(all, "place_exclusive_sets", "threads of two classes create objects at two places at once",
      {true, {create(1, 0)}, {{create_two(0, 1)}, {create_two(1, 2)}, {create_two(0, 0), destroy(0, kYes)}}});
  add(all, "place_exclusive_word", "changes of different places do not disturb each other",
      {true, {create(0, 0), create(1, 1)}, {{create(1, 2, kYes)}, {move(0, 3, kYes)}, {destroy(1, kYes)}}});
  add(all, "place_exclusive_gone", "an object is created, moved on and destroyed, and both places stay blocked",
      {true,
       {create(1, 0)},
       {{create(0, 1, kYes), move(kMine, 2, kYes), destroy(kMine, kYes), create(1, 1, kNo), create(1, 2, kNo)},
        {move(0, 3, kYes), create(0, 0, kNo)}}});
}

}  // namespace

std::vector<Entry> occupancy_scenarios() {
  std::vector<Entry> all;
  add_rules(all);
  add_exclusive(all);
  add_mixed(all);
  return all;
}

}  // namespace dynasoar::test
