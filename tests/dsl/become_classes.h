/// @file
/// What the tests of `become` share: classes, objects that point to each other, and checks that nothing has been lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "numbered_objects.h"

namespace become_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Stone;
class Cell;
class StemCell;
class Tumour;
class Watcher;
class Post;
using AllocatorT = dynasoar::SoaAllocator<Stone, Cell, StemCell, Tumour, Watcher, Post>;
using HandleT = AllocatorHandle<AllocatorT>;

/// What the fields of an object hold follows from its number, and whether it was created with it.
__host__ __device__ inline std::uint32_t value_of(std::uint32_t id, std::uint32_t field) {
  return static_cast<std::uint32_t>(mixed(id, field));
}

constexpr std::uint32_t kNobody = 0xffffffff;  // the number that constructors give to objects which are to get another

/// A base class that is not listed. Objects have numbers, and store the numbers of the objects that they point to.
class Thing : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Links = std::array<Thing*, 2>;
  using ShortLinks = std::array<CompressedPointer<Thing>, 2>;
  using Sizes = std::array<std::uint16_t, 3>;
  DYNASOAR_FIELDS(Thing, (tag_, std::uint8_t), (id_, std::uint32_t), (other_, Thing*), (other_id_, std::uint32_t),
                  (short_other_, CompressedPointer<Thing>), (links_, Links), (link_ids_, std::array<std::uint32_t, 2>),
                  (short_links_, ShortLinks), (sizes_, Sizes), (self_, Thing*))
  __device__ explicit Thing(std::uint32_t id)
      : tag_(static_cast<std::uint8_t>(value_of(id, 1))),
        id_(id),
        other_(nullptr),
        other_id_(0u),
        short_other_(nullptr),
        self_(this) {
    links_.fill(nullptr);
    short_links_.fill(nullptr);
    link_ids_.fill(0);
    for (std::uint32_t i = 0; i < 3; ++i) sizes_[i] = static_cast<std::uint16_t>(value_of(id, 2 + i));
  }
  __device__ bool is_intact() const {
    bool intact = tag_ == static_cast<std::uint8_t>(value_of(id_, 1));
    for (std::uint32_t i = 0; i < 3; ++i) {
      intact = intact && sizes_[i] == static_cast<std::uint16_t>(value_of(id_, 2 + i));
    }
    return intact;
  }
};

class Stone : public Thing {
 public:
  using BaseClass = Thing;
  DYNASOAR_FIELDS(Stone, (mass_, double))
  __device__ explicit Stone(std::uint32_t id) : Thing(id), mass_(id + 0.5) {}
  __device__ Stone(std::size_t index, std::uint32_t first) : Stone(static_cast<std::uint32_t>(index) + first) {}
};

class Cell : public Thing {
 public:
  using BaseClass = Thing;
  using Speeds = std::array<float, 3>;
  DYNASOAR_FIELDS(Cell, (age_, std::uint32_t), (speeds_, Speeds), (died_, Counter*), (note_, int))
  __device__ explicit Cell(std::uint32_t id, Counter* died = nullptr) : Thing(id), age_(value_of(id, 9)), died_(died) {
    for (std::uint32_t i = 0; i < 3; ++i) speeds_[i] = static_cast<float>(value_of(id, 10 + i) % 1000);
  }
  __device__ Cell(std::size_t index, std::uint32_t first, Counter* died = nullptr)
      : Cell(static_cast<std::uint32_t>(index) + first, died) {}
  __device__ ~Cell() {
    if (died_ != nullptr) died_[0].fetch_add(1, Order::relaxed);
  }

  /// @param id   with which the fields that Cell declares were set
  __device__ bool has_fields_of(std::uint32_t id) const {
    bool intact = age_ == value_of(id, 9);
    for (std::uint32_t i = 0; i < 3; ++i) {
      intact = intact && speeds_[i] == static_cast<float>(value_of(id, 10 + i) % 1000);
    }
    return intact;
  }
  __device__ bool is_even() { return id_ % 2 == 0; }
};

class StemCell : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(StemCell, (potency_, std::uint8_t))
  __device__ explicit StemCell(std::uint32_t id, Counter* died = nullptr)
      : Cell(id, died), potency_(static_cast<std::uint8_t>(value_of(id, 20))) {}
  __device__ StemCell(std::size_t index, std::uint32_t first, Counter* died = nullptr)
      : StemCell(static_cast<std::uint32_t>(index) + first, died) {}
};

class Tumour : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Tumour, (grade_, int), (marks_, std::array<double, 5>))
  __device__ explicit Tumour(int grade, std::uint32_t id = kNobody) : Cell(id), grade_(grade) {
    marks_.fill(0.25 * grade);
    note_ = grade;  // other cells leave it unset
  }
  __device__ Tumour(std::size_t index, std::uint32_t first) : Tumour(0, static_cast<std::uint32_t>(index) + first) {}
  __device__ bool has_grade(int grade) const {
    bool holds = grade_ == grade;
    for (std::size_t i = 0; i < marks_.size(); ++i) holds = holds && marks_[i] == 0.25 * grade;
    return holds;
  }
};

/// Points to cells, also with pointers that cannot point to a stone.
class Watcher : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Watcher, (thing_, const Thing*), (thing_id_, std::uint32_t), (cell_, Cell*),
                  (cell_id_, std::uint32_t), (short_cell_, CompressedPointer<Cell>), (self_, Watcher*))
  __device__ explicit Watcher(std::size_t) : thing_(nullptr), thing_id_(0u), cell_(nullptr), cell_id_(0u) {
    short_cell_ = nullptr;
    self_ = this;
  }
};

class Post : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Post, (guard_, Thing*), (guard_id_, std::uint32_t), (short_guard_, CompressedPointer<Thing>))
  __device__ Post() : guard_(nullptr), guard_id_(0u), short_guard_(nullptr) {}
};

/// Lets objects point to others.
struct Point {
  Register<Thing> all;
  __device__ void operator()(Thing* thing) const {
    set_pointers(thing, all.some(thing->id_), all.some(thing->id_ + 1));
  }
  __device__ void operator()(Watcher* watcher) const {
    const auto number = reinterpret_cast<std::uint64_t>(watcher);
    watcher->thing_ = all.some(number);
    watcher->thing_id_ = id_of(watcher->thing_.get());
    watcher->cell_ = all.some<Cell>(number + 1);
    watcher->cell_id_ = id_of(watcher->cell_.get());
    watcher->short_cell_ = watcher->cell_.get();
  }
  __device__ void operator()(Post* post) const { set_guard(post, all.some(reinterpret_cast<std::uint64_t>(post))); }
};

/// Counts what is not as `Point` has left it.
struct Check : Expectations<Thing> {
  __device__ void operator()(Thing* thing) const {
    expect(kFirstOwn, thing->is_intact() && thing->self_ == thing);
    expect_pointers(thing);
  }
  __device__ void operator()(Watcher* watcher) const {
    expect(kFirstOwn + 1, leads_to(watcher->thing_.get(), watcher->thing_id_));
    expect(kFirstOwn + 2, leads_to(watcher->cell_.get(), watcher->cell_id_));
    expect(kFirstOwn + 3, watcher->short_cell_ == watcher->cell_);
    expect(kFirstOwn + 4, watcher->self_ == watcher);
  }
  __device__ void operator()(Post* post) const { expect_guard(post); }
};

struct EverySecond {
  __device__ bool operator()(Thing* thing) const { return thing->id_ % 2 == 0; }
};
struct Chosen {
  std::uint64_t seed;
  std::uint32_t percent;
  __device__ bool operator()(Thing* thing) const { return mixed(thing->id_, seed) % 100 < percent; }
};

inline dynasoar::HandleOptions small_heap(int threads = 4) {
  return {.heap_bytes = std::size_t{16} << 20, .threads = threads};
}

/// Whether objects have the fields that they were created with; those of Cell are checked for cells.
inline std::uint64_t count_wrong(HandleT& handle, int grade) {
  Counters wrong(1);
  handle.parallel_do<Thing>([words = wrong.data(), grade] __device__(Thing * thing) {
    bool right = thing->is_intact() && thing->id_ != kNobody;
    if (const Cell* const cell = dynasoar::cast<Cell>(thing)) right = right && cell->has_fields_of(cell->id_);
    if (const Tumour* const tumour = dynasoar::cast<Tumour>(thing)) right = right && tumour->has_grade(grade);
    dynasoar::test::count_if(words[0], !right);
  });
  handle.synchronize();
  return wrong[0];
}

}  // namespace become_test
