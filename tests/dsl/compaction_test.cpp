// Compaction: objects move, and everything else stays as it was.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"

namespace compaction_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Animal;
class Dog;
class Cat;
class Owner;
using AllocatorT = dynasoar::SoaAllocator<Dog, Cat, Owner>;
using HandleT = AllocatorHandle<AllocatorT>;

constexpr std::uint64_t kGroupBlocks = 128;  // of which fewer than 64 slots stay free

/// Whether number `id` is among the `percent` that die in a round.
__host__ __device__ inline bool dies(std::uint64_t id, std::uint64_t round, std::uint32_t percent) {
  return mixed(id, round) % 100 < percent;
}

/// The living: pointers by number, null for the dead.
struct Register {
  Animal** animals;
  std::uint32_t size;
};

/// Numbered from 1. Every pointer has the number of whom it points to beside it, or 0.
class Animal : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Animal, (tag_, std::uint8_t), (id_, std::uint32_t), (friend_id_, std::uint32_t), (friend_, Animal*),
                  (self_, Animal*), (short_friend_, CompressedPointer<Animal>),
                  (short_self_, CompressedPointer<Animal>));

  __device__ explicit Animal(std::uint32_t id)
      : id_(id), friend_id_(0), friend_(nullptr), self_(this), short_friend_(nullptr), short_self_(this) {
    tag_ = static_cast<std::uint8_t>(mixed(id, 1));
  }

  /// Chooses a friend of those in the register, possibly itself or none.
  __device__ void befriend(Register all, std::uint64_t round) {
    Animal* const found = all.animals[mixed(id_, round) % all.size];
    friend_ = found;
    short_friend_ = found;
    friend_id_ = found == nullptr ? 0 : found->id_.get();
  }

  __device__ bool is_doomed(std::uint64_t round, std::uint32_t percent) const { return dies(id_, round, percent); }

  /// Forgets friends that are about to die.
  __device__ void forget(std::uint64_t round, std::uint32_t percent) {
    if (friend_id_ == 0 || !dies(friend_id_, round, percent)) return;
    friend_ = nullptr;
    short_friend_ = nullptr;
    friend_id_ = 0;
  }

  __device__ void die(Register all, std::uint64_t round, std::uint32_t percent) {
    if (!is_doomed(round, percent)) return;
    all.animals[id_] = nullptr;
    dynasoar::destroy(this);
  }

  __device__ static bool is(const Animal* animal, std::uint32_t id) {
    return id == 0 ? animal == nullptr : animal != nullptr && animal->id_ == id;
  }

  /// Marks its number as there, and counts what is wrong.
  __device__ void inspect(Register all, Counter* present, Counter* wrong) {
    present[id_].fetch_add(1, dynasoar::Order::relaxed);
    dynasoar::test::count_if(wrong[0], tag_ != static_cast<std::uint8_t>(mixed(id_, 1)));
    dynasoar::test::count_if(wrong[1], self_.get() != this || short_self_ != this);
    dynasoar::test::count_if(wrong[2], !is(friend_, friend_id_) || short_friend_ != friend_);
    dynasoar::test::count_if(wrong[3], all.animals[id_] != this);
  }
};

class Dog : public Animal {
 public:
  using BaseClass = Animal;
  using Pack = std::array<Dog*, 3>;
  using ShortPack = std::array<CompressedPointer<Dog>, 3>;
  DYNASOAR_FIELDS(Dog, (ages_, std::array<std::uint16_t, 5>), (pack_, Pack), (pack_ids_, std::array<std::uint32_t, 3>),
                  (short_pack_, ShortPack))

  __device__ Dog(std::size_t index, std::uint32_t first, Register all)
      : Animal(first + static_cast<std::uint32_t>(index)) {
    all.animals[id_] = this;
    pack_.fill(nullptr);
    short_pack_.fill(nullptr);
    pack_ids_.fill(0);
    for (std::uint32_t i = 0; i < 5; ++i) ages_[i] = static_cast<std::uint16_t>(mixed(id_, 10 + i));
  }

  __device__ void join(Register all, std::uint64_t round) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      Animal* const found = all.animals[mixed(id_, round * 3 + i) % all.size];
      Dog* const dog = found == nullptr ? nullptr : dynasoar::cast<Dog>(found);
      pack_[i] = dog;
      short_pack_[i] = dog;
      pack_ids_[i] = dog == nullptr ? 0 : dog->id_.get();
    }
  }

  __device__ void leave(std::uint64_t round, std::uint32_t percent) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (pack_ids_[i] == 0 || !dies(pack_ids_[i], round, percent)) continue;
      pack_[i] = nullptr;
      short_pack_[i] = nullptr;
      pack_ids_[i] = 0;
    }
  }

  __device__ void inspect_dog(Counter* wrong) {
    for (std::uint32_t i = 0; i < 5; ++i) {
      dynasoar::test::count_if(wrong[4], ages_[i] != static_cast<std::uint16_t>(mixed(id_, 10 + i)));
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
      dynasoar::test::count_if(wrong[5], !is(pack_[i], pack_ids_[i]) || short_pack_[i] != pack_[i]);
    }
  }
};

class Cat : public Animal {
 public:
  using BaseClass = Animal;
  struct Whiskers {
    float length[3];
    std::uint32_t count;  // no gap behind it, whose copying would be a read of uninitialized memory
  };
  DYNASOAR_FIELDS(Cat, (weight_, double), (whiskers_, Whiskers))

  __device__ Cat(std::size_t index, std::uint32_t first, Register all)
      : Animal(first + static_cast<std::uint32_t>(index)) {
    all.animals[id_] = this;
    weight_ = static_cast<double>(mixed(id_, 20) % 1000);
    whiskers_ = Whiskers{{static_cast<float>(id_), 1, 2}, id_ % 7};
  }

  __device__ void inspect_cat(Counter* wrong) {
    dynasoar::test::count_if(wrong[6], weight_ != static_cast<double>(mixed(id_, 20) % 1000));
    dynasoar::test::count_if(wrong[7], whiskers_->length[0] != static_cast<float>(id_) || whiskers_->count != id_ % 7);
  }
};

/// Has animals, but is none.
class Owner : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Boxes = std::array<std::array<Animal*, 2>, 3>;
  DYNASOAR_FIELDS(Owner, (id_, std::uint32_t), (watched_, const Animal*), (boxes_, Boxes), (next_, Owner*))

  __device__ Owner(std::size_t index, Owner** owners) : id_(static_cast<std::uint32_t>(index)), next_(nullptr) {
    owners[index] = this;
    watched_ = nullptr;
    boxes_.fill(std::array<Animal*, 2>{nullptr, nullptr});
  }

  __device__ Animal* chosen(Register all, std::uint64_t round, std::uint32_t which) const {
    return all.animals[mixed(id_ + 1000000, round * 7 + which) % all.size];
  }

  __device__ void choose(Register all, std::uint64_t round) {
    watched_ = chosen(all, round, 6);
    for (std::uint32_t i = 0; i < 6; ++i) boxes_[i / 2][i % 2] = chosen(all, round, i);
  }

  __device__ void inspect(Register all, std::uint64_t round, Owner** owners, Counter* wrong) {
    dynasoar::test::count_if(wrong[8], watched_.get() != chosen(all, round, 6));
    for (std::uint32_t i = 0; i < 6; ++i) {
      dynasoar::test::count_if(wrong[9], boxes_[i / 2][i % 2] != chosen(all, round, i));
    }
    dynasoar::test::count_if(wrong[10], owners[id_] != this);
  }
};

constexpr std::size_t kWrongs = 11;

/// A handle, a register, and what ought to be there.
class World {
 public:
  explicit World(std::uint32_t most, int threads = 4, std::size_t heap_bytes = 64 << 20)
      : handle({.heap_bytes = heap_bytes, .on_refusal = dynasoar::OnRefusal::record, .threads = threads}),
        register_(most + 1),
        owners_(kOwners),
        expected_(most + 1) {
    register_.fill_bytes(0);
  }

  Register everybody() const { return {register_.data(), static_cast<std::uint32_t>(register_.size())}; }

  template <class T>
  void create(std::uint32_t count) {
    handle.parallel_new<T>(count, next_, everybody());
    for (std::uint32_t i = 0; i < count; ++i) expected_[next_ + i] = 1;
    next_ += count;
  }

  void create_owners() { handle.parallel_new<Owner>(kOwners, owners_.data()); }

  /// Dogs, cats and owners who know each other, of which so many percent die.
  void populate(std::uint32_t dogs, std::uint32_t cats, std::uint32_t percent) {
    create<Dog>(dogs);
    create<Cat>(cats);
    create_owners();
    make_friends();
    kill(percent);
  }

  void make_friends() {
    ++round_;
    handle.parallel_do<Animal, &Animal::befriend>(everybody(), round_);
    handle.parallel_do<&Dog::join>(everybody(), round_);
  }

  void kill(std::uint32_t percent) {
    ++round_;
    handle.parallel_do<Animal, &Animal::forget>(round_, percent);
    handle.parallel_do<&Dog::leave>(round_, percent);
    handle.parallel_do<Animal, &Animal::die>(everybody(), round_, percent);
    for (std::uint32_t id = 1; id < expected_.size(); ++id) {
      if (expected_[id] != 0 && dies(id, round_, percent)) expected_[id] = 0;
    }
    handle.parallel_do<&Owner::choose>(everybody(), round_);
  }

  template <class T>
  void compact(double above = 0) {
    handle.compact<T>({.above = above}, dynasoar::pointers(register_.data(), register_.size()));
  }

  /// Everybody is there, once, and as they were; the heap keeps its rules.
  void check() {
    Counters present(expected_.size());
    Counters wrong(kWrongs);
    handle.parallel_do<Animal, &Animal::inspect>(everybody(), present.data(), wrong.data());
    handle.parallel_do<&Dog::inspect_dog>(wrong.data());
    handle.parallel_do<&Cat::inspect_cat>(wrong.data());
    handle.parallel_do<&Owner::inspect>(everybody(), round_, owners_.data(), wrong.data());
    handle.synchronize();
    CHECK(wrong.values() == std::vector<std::uint64_t>(kWrongs));
    CHECK(present.values() == expected_);
    CHECK(heap_errors(handle) == "");
  }

  std::vector<Animal*> pointers() const { return register_.download(); }

  /// Numbers of class number `type`.
  dynasoar::TypeStatistics of(std::size_t type) { return handle.statistics().types[type]; }

  HandleT handle;

 private:
  static constexpr std::size_t kOwners = 300;

  DeviceArray<Animal*> register_;
  DeviceArray<Owner*> owners_;
  std::vector<std::uint64_t> expected_;
  std::uint32_t next_ = 1;
  std::uint64_t round_ = 0;
};

constexpr std::size_t kDog = 0, kCat = 1, kOwner = 2;

/// At most so many slots may be free after so many blocks were compacted.
std::uint64_t most_free(std::uint64_t blocks) {
  return (blocks + kGroupBlocks - 1) / kGroupBlocks * 63;
}

TEST_CASE("objects keep their contents, pointers follow them, and few slots stay free") {
  constexpr std::uint32_t kMost = 40000 / dynasoar::test::kSlowdown;
  for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 2, 3, 8}) {
    for (const std::uint32_t percent : {3, 50, 90, 99}) {
      CAPTURE(threads);
      CAPTURE(percent);
      World world(2 * kMost, threads);
      world.populate(kMost, kMost, percent);
      const Statistics before = world.handle.statistics();
      world.compact<Animal>();
      world.check();
      const Statistics after = world.handle.statistics();
      for (const std::size_t type : {kDog, kCat}) {
        CHECK(after.types[type].objects == before.types[type].objects);
        CHECK(after.types[type].created == before.types[type].created);
        CHECK(after.types[type].blocks <= before.types[type].blocks);
        if (percent >= 50) CHECK(after.types[type].blocks < before.types[type].blocks);
        CHECK(after.types[type].slots - after.types[type].objects <= most_free(before.types[type].blocks));
      }
      CHECK(after.types[kOwner].blocks == before.types[kOwner].blocks);
      CHECK(after.free_pages >= before.free_pages);
      if (percent >= 50 && dynasoar::test::kSlowdown == 1) CHECK(after.free_pages > before.free_pages);
    }
  }
}

TEST_CASE("the next loop does not visit blocks that are gone") {
  World world(10000);
  world.populate(10000, 0, 70);
  world.compact<Animal>();
  world.handle.parallel_do<&Dog::join>(world.everybody(), std::uint64_t{1});
  Counters listed(1);
  const dynasoar::detail::BlockList list = world.handle.state().lists[kDog];
  world.handle.parallel_for(1, [list, count = listed.data()] __device__(std::size_t) {
    count->fetch_add(list.size->blocks, dynasoar::Order::relaxed);
  });
  world.handle.synchronize();
  CHECK(listed[0] == world.of(kDog).blocks);
}

TEST_CASE("only the class that is named moves, and its subclasses") {
  constexpr std::uint32_t kMost = 5000;
  World world(2 * kMost);
  world.populate(kMost, kMost, 50);
  const Statistics before = world.handle.statistics();
  const std::vector<Animal*> animals = world.pointers();
  world.compact<Cat>();
  world.check();
  const Statistics after = world.handle.statistics();
  CHECK(after.types[kDog].blocks == before.types[kDog].blocks);
  CHECK(after.types[kCat].blocks < before.types[kCat].blocks);
  const std::vector<Animal*> now = world.pointers();
  CHECK(std::equal(animals.begin(), animals.begin() + kMost + 1, now.begin()));
}

TEST_CASE("nothing moves where there is nothing to gain") {
  World world(1000);
  world.compact<Animal>();  // no objects
  world.check();
  world.populate(1, 128, 0);
  world.compact<Animal>();  // several threads had begun a block each
  CHECK(world.of(kDog).blocks == 1);
  CHECK(world.of(kCat).blocks == 2);
  world.check();
  const std::vector<Animal*> before = world.pointers();
  world.compact<Animal>();
  world.check();
  CHECK(world.pointers() == before);
  world.kill(100);
  world.compact<Animal>();
  CHECK(world.of(kDog).blocks + world.of(kCat).blocks == 0);
  world.check();
}

TEST_CASE("values that are no pointers to objects of the class stay as they are") {
  World world(5000);
  world.populate(5000, 0, 60);
  std::vector<Animal*> garbage;
  for (Animal* const animal : world.pointers()) {
    const auto bits = reinterpret_cast<std::uint64_t>(animal);
    if (bits == 0) continue;
    const std::uint64_t type = bits >> 56;
    for (const std::uint64_t forged :
         {bits + 64, bits | 0xFFFF'FFFF'F000, (bits ^ type << 56) | std::uint64_t{255} << 56,
          (bits ^ type << 56) | std::uint64_t{3} << 56, bits ^ type << 56, (bits & 63) | type << 56 | 0x7FFF'FF80}) {
      garbage.push_back(reinterpret_cast<Animal*>(forged));
    }
  }
  const auto array = dynasoar::test::on_device(garbage);
  world.handle.compact<Animal>({}, dynasoar::pointers(world.everybody().animals, world.everybody().size),
                               dynasoar::pointers(array.data(), array.size()));
  world.check();
  CHECK(array.download() == garbage);
}

TEST_CASE("any number of arrays is updated, each up to its size") {
  World world(5000);
  world.populate(5000, 0, 60);
  const std::vector<Animal*> before = world.pointers();
  std::vector<DeviceArray<Animal*>> copies;
  for (int i = 0; i < 19; ++i) copies.emplace_back(before.size()).upload(before);
  const auto array = [&](std::size_t i) { return dynasoar::pointers(copies[i].data(), before.size() - 1 - i); };
  world.handle.compact<Animal>({}, array(0), array(1), array(2), array(3), array(4), array(5), array(6), array(7),
                               array(8), array(9), array(10), array(11), array(12), array(13), array(14), array(15),
                               array(16), array(17), array(18),
                               dynasoar::pointers(world.everybody().animals, world.everybody().size));
  world.check();
  CHECK(world.pointers() != before);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const auto size = static_cast<std::ptrdiff_t>(before.size() - 1 - i);
    std::vector<Animal*> expected = world.pointers();
    std::copy(before.begin() + size, before.end(), expected.begin() + size);
    CHECK(copies[i].download() == expected);
  }
}

TEST_CASE("up to a threshold, nothing moves") {
  World world(8000);
  world.create<Dog>(8000);
  world.create_owners();
  world.make_friends();
  world.compact<Animal>();
  world.kill(30);
  const double fragmentation = world.of(kDog).fragmentation();
  CHECK(fragmentation > 0.2);
  const std::vector<Animal*> before = world.pointers();
  world.compact<Animal>(fragmentation + 0.01);
  world.check();
  CHECK(world.pointers() == before);
  world.compact<Animal>(1);
  CHECK(world.pointers() == before);
  world.compact<Animal>(fragmentation - 0.01);
  world.check();
  CHECK(world.pointers() != before);
  CHECK(world.of(kDog).fragmentation() < 0.02);
  CHECK_THROWS_WITH_AS(world.compact<Animal>(-0.1), doctest::Contains("from 0 to 1, and not -0.1"), Error);
  CHECK_THROWS_WITH_AS(world.compact<Animal>(1.5), doctest::Contains("1.5"), Error);
  CHECK_THROWS_AS(world.compact<Animal>(std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST_CASE("objects come, go and move, round after round") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kRounds = dynasoar::test::kSlowdown > 1 ? 8 : 40;
  constexpr std::uint32_t kPerRound = 4000 / dynasoar::test::kSlowdown;
  dynasoar::test::Random random{seed};
  for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 5, 8}) {
    CAPTURE(threads);
    World world(kRounds * 2 * kPerRound, threads);
    world.create_owners();
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      CAPTURE(round);
      world.create<Dog>(random.below(kPerRound));
      world.create<Cat>(random.below(kPerRound));
      world.make_friends();
      world.kill(random.below(80));
      if (random.below(4) == 0) {
        world.compact<Dog>(random.below(50) / 100.0);
      } else {
        world.compact<Animal>(random.below(50) / 100.0);
      }
      world.check();
    }
    CHECK(world.of(kDog).created > 0);
  }
}

TEST_CASE("a second compaction does what extreme fragmentation leaves to it") {
  constexpr std::uint32_t kMost = 100000 / dynasoar::test::kSlowdown;
  World world(kMost);
  world.populate(kMost, 0, 98);
  world.compact<Animal>();
  world.compact<Animal>();
  world.check();
  const dynasoar::TypeStatistics dogs = world.of(kDog);
  CHECK(dogs.blocks == (dogs.objects + 63) / 64);
}

TEST_CASE("compaction may be a part of a recorded step, and decides each time anew") {
  World world(20000);
  world.create_owners();
  const auto everybody = world.everybody();
  auto step = world.handle.record(
      [&] { world.handle.compact<Animal>({.above = 0.1}, dynasoar::pointers(everybody.animals, everybody.size)); });
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    world.create<Dog>(1500);
    world.create<Cat>(1500);
    world.make_friends();
    world.kill(round % 2 == 0 ? 40 : 0);
    step();
    CHECK(world.of(kDog).fragmentation() <= 0.1);
    world.check();
  }
}

TEST_CASE("lists that are kept stay right when objects move") {
  World world(6000);
  world.populate(3000, 3000, 60);
  const auto kept = world.handle.keep_lists();
  world.check();
  const auto blocks = world.of(kDog).blocks;
  world.compact<Animal>();
  world.check();
  CHECK(world.of(kDog).blocks < blocks);
  world.compact<Animal>();
  world.check();
}

class Link;
using PiecesT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Link>;
class Link : public dynasoar::SoaBase<PiecesT> {
 public:
  DYNASOAR_FIELDS(Link, (number_, std::uint32_t))
  __device__ Link(std::size_t index, Link** links) : number_(static_cast<std::uint32_t>(index)) { links[index] = this; }
  __device__ void vanish_if_odd() {
    if (number_ % 2 != 0) dynasoar::destroy(this);
  }
};

TEST_CASE("objects of an AosAllocator stay where they are") {
  AllocatorHandle<PiecesT> handle({.heap_bytes = 16 << 20, .threads = 2});
  DeviceArray<Link*> links(1000);
  handle.parallel_new<Link>(1000, links.data());
  handle.parallel_do<&Link::vanish_if_odd>();
  const std::vector<Link*> before = links.download();
  handle.compact<Link>({.above = 0.1}, dynasoar::pointers(links.data(), links.size()));
  CHECK(links.download() == before);
  CHECK(handle.count<Link>() == 500);
  CHECK_THROWS_AS(handle.compact<Link>({.above = 2}), Error);
}

}  // namespace compaction_test
