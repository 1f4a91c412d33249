/// @file
/// What the variants with virtual functions have in common. VirtualObjects: objects that are made with `new` in device
/// code, as an array of pointers to their base class. ObjectList: some of them. RecordedLoops: the loops of a step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/recording.h>
#include <dynasoar/platform/warp.h>

namespace benchmarks::polymorphism {

/// Makes an object with `new`, which returns null if there is no memory, or at a place where there is one of its class.
template <class T, class... Args>
__device__ T* make_at(void* place, const Args&... args) {
  return place == nullptr ? new T(args...) : new (place) T(args...);
}

// What loops call. Outside the class, because nvcc does not take private types in kernels.
template <class Base, class Make>
struct MakeObject {
  Base** objects;
  Make make;
  __device__ void operator()(std::size_t i) const { objects[i] = make(objects[i], i); }
};
template <class Base, class Visit>
struct VisitObject {
  Base* const* objects;
  Visit visit;
  __device__ void operator()(std::size_t i) const { visit(objects[i]); }
};
template <class Base>
struct DeleteObject {
  Base* const* objects;
  __device__ void operator()(std::size_t i) const { delete objects[i]; }
};

/// Owns the objects. @tparam Base   their base class, with a virtual destructor, or their class
template <class Base>
class VirtualObjects {
 public:
  /// Makes `count` objects.
  ///
  /// @param make   device callable: `make(place, i)` makes object i with make_at and returns it; restart() calls it
  /// again
  /// @throws std::runtime_error if an object could not be made
  template <class Make>
  VirtualObjects(dynasoar::Executor& executor, std::size_t count, Make make) : executor_(executor), objects_(count) {
    objects_.fill_bytes(0);
    const MakeObject<Base, Make> fill{objects_.data(), make};
    restart_ = [this, fill] { executor_.for_each_index(objects_.size(), fill); };
    restart();
    executor_.synchronize();
    for (const Base* object : objects_.download()) {
      if (object == nullptr) throw std::runtime_error("polymorphism: the toolkit's heap has no room for the objects");
    }
  }
  VirtualObjects(const VirtualObjects&) = delete;
  VirtualObjects& operator=(const VirtualObjects&) = delete;
  ~VirtualObjects() {
    try {
      executor_.for_each_index(objects_.size(), DeleteObject<Base>{objects_.data()});
      executor_.synchronize();
    } catch (const std::exception&) {  // the device is lost, and with it the objects
    }
  }

  /// Makes all objects again where they are, because `new` is slow.
  void restart() { restart_(); }

  std::size_t size() const { return objects_.size(); }
  Base* const* data() const { return objects_.data(); }

  /// Submits `visit(object)` for each object, a thread each.
  template <class Visit>
  void for_each(Visit visit) const {
    executor_.for_each_index(objects_.size(), VisitObject<Base, Visit>{objects_.data(), visit});
  }

 private:
  dynasoar::Executor& executor_;
  dynasoar::DeviceArray<Base*> objects_;
  std::function<void()> restart_;
};

using Counter = dynasoar::AtomicWord<std::uint32_t>;

/// An ObjectList as the device sees it.
template <class T>
struct ListView {
  T** objects;
  Counter* counter;

  __device__ std::uint32_t size() const { return counter->load(dynasoar::Order::relaxed); }
  __device__ T* operator[](std::uint32_t i) const { return objects[i]; }

  /// The lanes of a warp that come together add their objects with one atomic operation.
  __device__ void add(T* object) const {
    const auto group = dynasoar::PlatformWarp().coalesce();
    std::uint32_t first = 0;
    if (group.rank() == 0) {
      first = counter->fetch_add(static_cast<std::uint32_t>(group.size()), dynasoar::Order::relaxed);
    }
    objects[group.broadcast(first) + static_cast<std::uint32_t>(group.rank())] = object;
  }
};

// What loops over lists call.
template <class T, class Visit>
struct VisitListed {
  ListView<T> list;
  Visit visit;
  __device__ void operator()(std::size_t i) const {
    if (i < list.size()) visit(list[static_cast<std::uint32_t>(i)]);
  }
};
template <class T, class Keep>
struct CopyIf {
  ListView<T> to;
  Keep keep;
  __device__ void operator()(T* object) const {
    if (keep(object)) to.add(object);
  }
};
struct SetCounter {
  Counter* counter;
  std::uint32_t value;
  __device__ void operator()(std::size_t) const { counter->store(value, dynasoar::Order::relaxed); }
};

/// Objects of which the device decides which ones they are. Two arrays take turns.
template <class T>
class ObjectList {
 public:
  ObjectList(dynasoar::Executor& executor, std::size_t capacity)
      : executor_(executor),
        capacity_(capacity),
        objects_{dynasoar::DeviceArray<T*>(capacity), dynasoar::DeviceArray<T*>(capacity)},
        counters_(2) {}

  ListView<T> view() const { return view(turn_); }

  /// Which array it is, 0 or 1: the kind of loops that are recorded.
  std::size_t turn() const { return turn_; }

  void clear() { clear(turn_); }

  /// Submits `visit(object)` for each object, a thread each.
  template <class Visit>
  void for_each(Visit visit) const {
    executor_.for_each_index(capacity_, VisitListed<T, Visit>{view(), visit});
  }

  /// Submits copying those objects to the other array for which `keep(object)` is true.
  template <class Keep>
  void copy_if(Keep keep) {
    clear(1 - turn_);
    for_each(CopyIf<T, Keep>{view(1 - turn_), keep});
  }

  /// From now on, the list is the other array. Not recorded: call it after the loops of the step.
  void take_turns() { turn_ = 1 - turn_; }

 private:
  ListView<T> view(std::size_t turn) const { return {objects_[turn].data(), counters_.data() + turn}; }
  void clear(std::size_t turn) { executor_.for_each_index(1, SetCounter{counters_.data() + turn, 0}); }

  dynasoar::Executor& executor_;
  std::size_t capacity_;
  std::size_t turn_ = 0;
  std::array<dynasoar::DeviceArray<T*>, 2> objects_;
  dynasoar::DeviceArray<Counter> counters_;
};

/// Loops that are recorded when they are first submitted, as those of the models in apps/ are.
class RecordedLoops {
 public:
  explicit RecordedLoops(dynasoar::Executor& executor) : executor_(executor) {}

  /// Runs what `submit()` submits.
  ///
  /// @param kind   0 or 1. The first `submit` of each kind is recorded and replaces the later ones
  void run(std::size_t kind, std::function<void()> submit) {
    Recorded& recorded = recorded_.at(kind);
    if (!recorded.recording) {
      recorded.submit = std::move(submit);
      recorded.recording.emplace(executor_, recorded.submit);
    }
    recorded.recording->replay();
  }

 private:
  struct Recorded {
    std::function<void()> submit;
    std::optional<dynasoar::detail::Recording> recording;
  };

  dynasoar::Executor& executor_;
  std::array<Recorded, 2> recorded_;
};

}  // namespace benchmarks::polymorphism
