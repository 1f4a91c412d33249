/// @file
/// VirtualObjects: objects with virtual functions, made with `new` in device code, as an array of pointers to their
/// base class. Used by the variants with virtual functions.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

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

}  // namespace benchmarks::polymorphism
