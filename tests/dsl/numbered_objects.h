/// @file
/// Objects that have numbers, and store the numbers of the objects that they point to. The tests of operations that
/// move or replace objects use them to check that pointers still lead to the same objects.
///
/// The tests have classes of their own; functions of this header expect these fields in them:
/// - all: `id_`
/// - objects with pointers: `other_`, `other_id_`, `short_other_`, `links_[2]`, `link_ids_[2]`, `short_links_[2]`
/// - placed objects: `guard_`, `guard_id_`, `short_guard_`
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "placing_allocator.h"

namespace dynasoar::test {

/// The number of an object; 0 for null.
template <class T>
__device__ std::uint32_t id_of(const T* object) {
  return object == nullptr ? 0 : object->id_.get();
}

/// Whether a pointer leads to an intact object with this number. Number 0 stands for null.
template <class T>
__device__ bool leads_to(const T* object, std::uint32_t id) {
  return id_of(object) == id && (object == nullptr || object->is_intact());
}

/// Pointers to all objects, by number, from 1. The pointer is null if there is no object with this number.
template <class Thing>
struct Register {
  Thing** things;
  std::uint32_t size;

  /// Any of the objects, or null.
  __device__ Thing* some(std::uint64_t chooser) const { return things[mixed(chooser, 7) % size]; }

  /// Any of the objects, if it is a T, or null.
  template <class T>
  __device__ T* some(std::uint64_t chooser) const {
    Thing* const found = some(chooser);
    return found == nullptr ? nullptr : dynasoar::cast<T>(found);
  }
};

/// Sets the pointers of an object, and the numbers beside them.
template <class T, class Other, class Linked>
__device__ void set_pointers(T* object, Other* other, Linked* linked) {
  object->other_ = other;
  object->other_id_ = id_of(other);
  object->short_other_ = other;
  Linked* const links[2] = {object, linked};
  for (std::uint32_t i = 0; i < 2; ++i) {
    object->links_[i] = links[i];
    object->link_ids_[i] = id_of(links[i]);
    object->short_links_[i] = links[i];
  }
}

/// The same for a placed object.
template <class Post, class Guard>
__device__ void set_guard(Post* post, Guard* guard) {
  post->guard_ = guard;
  post->guard_id_ = id_of(guard);
  post->short_guard_ = guard;
}

/// Counts objects that are not as they should be.
template <class Thing>
struct Expectations {
  Register<Thing> all;
  Counter* wrong;

  /// The first of the counters that tests have for themselves. Those before it count what follows here.
  static constexpr std::uint32_t kFirstOwn = 8;

  __device__ void expect(std::uint32_t which, bool holds) const { count_if(wrong[which], !holds); }

  template <class T>
  __device__ void expect_pointers(T* object) const {
    expect(0, all.things[object->id_] == object);
    expect(1, leads_to(object->other_.get(), object->other_id_));
    expect(2, leads_to(object->links_[0], object->link_ids_[0]) && leads_to(object->links_[1], object->link_ids_[1]));
    expect(3, object->links_[0] == object);
    expect(4, object->short_other_ == object->other_);
    expect(5, object->short_links_[0] == object->links_[0] && object->short_links_[1] == object->links_[1]);
  }
  template <class Post>
  __device__ void expect_guard(Post* post) const {
    expect(6, leads_to(post->guard_.get(), post->guard_id_));
    expect(7, post->short_guard_ == post->guard_);
  }
};

/// Enters objects into the register.
template <class Thing>
struct Enter {
  Thing** things;
  __device__ void operator()(Thing* thing) const { things[thing->id_] = thing; }
};

/// A heap of numbered objects, a lattice of placed ones, and a register.
template <class A, class Thing, class Post>
class NumberedWorld {
 public:
  /// @param most   the largest number
  NumberedWorld(std::uint32_t most, const HandleOptions& options)
      : handle(options), posts(handle, {20, 10}), register_(zeroed<Thing*>(std::size_t{most} + 1)) {}

  Register<Thing> everybody() const { return {register_.data(), static_cast<std::uint32_t>(register_.size())}; }
  std::vector<Thing*> pointers() const { return register_.download(); }

  /// The register, for functions that update pointers.
  auto registered() const { return dynasoar::pointers(register_.data(), register_.size()); }

  void register_anew() {
    register_.fill_bytes(0);
    handle.template parallel_do<Thing>(Enter<Thing>{register_.data()});
  }

  void create_posts() { posts.template parallel_new<Post>(Everywhere{}); }

  AllocatorHandle<A> handle;
  Lattice<Post> posts;

 protected:
  /// The first of `count` numbers that no object has.
  std::uint32_t take_numbers(std::uint32_t count) {
    next_ += count;
    return next_ - count;
  }

  /// Runs `Check{everybody(), counters}` for all objects of these classes, and expects that all counters stay 0.
  template <class Check, class... Ts>
  void check_all() {
    constexpr std::size_t kCounters = 16;
    Counters wrong(kCounters);
    const Check check{{everybody(), wrong.data()}};
    (handle.template parallel_do<Ts>(check), ...);
    handle.synchronize();
    CHECK(wrong.values() == std::vector<std::uint64_t>(kCounters));
    CHECK(heap_errors(handle) == "");
  }

  DeviceArray<Thing*> register_;

 private:
  std::uint32_t next_ = 1;
};

}  // namespace dynasoar::test
