// Calls of a method that 1, 2, 4 or 8 classes define, each in its own way, of objects in an array: by dynasoar::call,
// by a loop over the base class, by virtual functions of objects made with `new` in device code, and by hand-written
// code with plain arrays and a switch over a number per object. The array's objects are sorted by class, or mixed at
// random.
//
// All do the same: read three floats and write two. The program compares the results.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "random_numbers.h"
#include "report.h"

namespace benchmarks {
namespace dispatch {

/// What objects of class number kClass do in a step. They differ in more than constants, for a compiler would make one
/// code of these; all cost about the same, stay bounded, and are exact in the first steps, in whatever order a compiler
/// adds and multiplies.
template <int kClass>
__device__ void step(float& x, float& y, float v) {
  const float old = x;
  if constexpr (kClass == 0) {
    x = 0.5f * x + v;
    y = 0.5f * y - v;
  } else if constexpr (kClass == 1) {
    x = 0.5f * y - v;
    y = 0.5f * old + v;
  } else if constexpr (kClass == 2) {
    x = 0.25f * (x + y) + v;
    y = 0.25f * (old - y);
  } else if constexpr (kClass == 3) {
    x = 0.5f * std::fmax(x, v);
    y = 0.5f * std::fmin(y, v) + old;
    y = 0.25f * y;
  } else if constexpr (kClass == 4) {
    x = 0.5f * std::fabs(x - v);
    y = 0.5f * std::fabs(y + v);
  } else if constexpr (kClass == 5) {
    x = x > v ? 0.5f * x : 0.25f * y;
    y = 0.5f * (y + v);
  } else if constexpr (kClass == 6) {
    x = 0.5f * (v - x);
    y = 0.25f * (v - y) + 1;
  } else {
    x = 0.25f * (x + 2 * v);
    y = 0.25f * (y + old) - 2;
  }
}

/// How objects begin.
struct Start {
  float x, y, v;
  __device__ explicit Start(std::size_t number)
      : x(static_cast<float>(number % 17)),
        y(static_cast<float>(number % 13)),
        v(static_cast<float>(number % 11) - 5) {}
};

/// Which class the object at a place of the array has: as many of each.
struct Order {
  bool is_mixed;
  int bits;  // the array has 2^bits objects
  __device__ int class_of(std::size_t place, int classes) const {
    const auto number = static_cast<std::uint32_t>(place);
    return static_cast<int>((std::uint64_t{is_mixed ? shuffled(number, bits) : number} * classes) >> bits);
  }
};

template <int kClasses>
class Agent;
template <int kClasses, int kClass>
class Kind;

template <class>
struct KindsOf;
template <int... kClass>
struct KindsOf<std::integer_sequence<int, kClass...>> {
  using Allocator = dynasoar::SoaAllocator<Kind<sizeof...(kClass), kClass>...>;
};
template <int kClasses>
using AllocatorT = typename KindsOf<std::make_integer_sequence<int, kClasses>>::Allocator;

DYNASOAR_METHOD(Step, step_as_object);

template <int kClasses>
class Agent : public dynasoar::SoaBase<AllocatorT<kClasses>> {
 public:
  DYNASOAR_FIELDS(Agent, (x_, float), (y_, float), (v_, float))
  __device__ explicit Agent(const Start& start) : x_(start.x), y_(start.y), v_(start.v) {}
};
template <int kClasses, int kClass>
class Kind : public Agent<kClasses> {
 public:
  using BaseClass = Agent<kClasses>;
  DYNASOAR_FIELDS(Kind)
  using BaseClass::BaseClass;
  __device__ void step_as_object() {
    float x = this->x_;
    float y = this->y_;
    step<kClass>(x, y, this->v_);
    this->x_ = x;
    this->y_ = y;
  }
};

class VirtualAgent {
 public:
  __device__ explicit VirtualAgent(const Start& start) : x_(start.x), y_(start.y), v_(start.v) {}
  __device__ virtual ~VirtualAgent() {}
  __device__ virtual void step_as_object() = 0;
  float x_, y_, v_;
};
template <int kClass>
class VirtualKind : public VirtualAgent {
 public:
  using VirtualAgent::VirtualAgent;
  __device__ void step_as_object() override {
    float x = x_;
    float y = y_;
    step<kClass>(x, y, v_);
    x_ = x;
    y_ = y;
  }
};

/// Calls `f(std::integral_constant<int, number>{})`. @pre number < kClasses, which is a power of two
template <int kClasses, class F>
__device__ decltype(auto) with_class(int number, const F& f) {
  switch (number & (kClasses - 1)) {  // so that no code is made for other classes
    case 0: return f(std::integral_constant<int, 0>{});
    case 1: return f(std::integral_constant<int, 1 & (kClasses - 1)>{});
    case 2: return f(std::integral_constant<int, 2 & (kClasses - 1)>{});
    case 3: return f(std::integral_constant<int, 3 & (kClasses - 1)>{});
    case 4: return f(std::integral_constant<int, 4 & (kClasses - 1)>{});
    case 5: return f(std::integral_constant<int, 5 & (kClasses - 1)>{});
    case 6: return f(std::integral_constant<int, 6 & (kClasses - 1)>{});
    default: return f(std::integral_constant<int, 7 & (kClasses - 1)>{});
  }
}

// Objects of the library.
template <int kClasses>
struct Create {
  Agent<kClasses>** agents;
  Order order;
  __device__ void operator()(std::size_t i) const {
    const Start start(i);
    Agent<kClasses>*& agent = agents[i];
    with_class<kClasses>(order.class_of(i, kClasses), [&]<int kClass>(std::integral_constant<int, kClass>) {
      agent = dynasoar::make_new<Kind<kClasses, kClass>>(start);
    });
  }
};
template <int kClasses>
struct Call {
  Agent<kClasses>** agents;
  __device__ void operator()(std::size_t i) const { dynasoar::call<Step>(agents[i]); }
};

// Objects made with `new`.
template <int kClasses>
struct CreateVirtual {
  VirtualAgent** agents;
  Order order;
  __device__ void operator()(std::size_t i) const {
    const Start start(i);
    VirtualAgent*& agent = agents[i];
    with_class<kClasses>(order.class_of(i, kClasses), [&]<int kClass>(std::integral_constant<int, kClass>) {
      agent = new VirtualKind<kClass>(start);  // on a GPU null if there is no memory
    });
  }
};
struct CallVirtual {
  VirtualAgent** agents;
  __device__ void operator()(std::size_t i) const { agents[i]->step_as_object(); }
};
struct DeleteVirtual {
  VirtualAgent** agents;
  __device__ void operator()(std::size_t i) const { delete agents[i]; }
};

// Hand-written arrays.
template <int kClasses>
struct HandCreate {
  std::uint8_t* classes;
  float *x, *y, *v;
  Order order;
  __device__ void operator()(std::size_t i) const {
    const Start start(i);
    classes[i] = static_cast<std::uint8_t>(order.class_of(i, kClasses));
    x[i] = start.x;
    y[i] = start.y;
    v[i] = start.v;
  }
};
template <int kClasses>
struct HandCall {
  const std::uint8_t* classes;
  float* x;
  float* y;
  const float* v;
  __device__ void operator()(std::size_t i) const {
    float new_x = x[i];
    float new_y = y[i];
    const float speed = v[i];
    with_class<kClasses>(classes[i],
                         [&]<int kClass>(std::integral_constant<int, kClass>) { step<kClass>(new_x, new_y, speed); });
    x[i] = new_x;
    y[i] = new_y;
  }
};

/// Where objects are, and whether there is one, in the order of the array.
template <class T>
struct Look {
  T* const* agents;
  float *x, *y;
  __device__ void operator()(std::size_t i) const {
    x[i] = agents[i] == nullptr ? NAN : static_cast<float>(agents[i]->x_);
    y[i] = agents[i] == nullptr ? NAN : static_cast<float>(agents[i]->y_);
  }
};

template <int kClasses>
class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings, bool is_mixed)
      : report_(report),
        settings_(settings),
        order_{is_mixed, settings.small ? 14 : 23},
        count_(std::size_t{1} << order_.bits),
        x_(count_),
        y_(count_) {}

  void run() {
    by_hand();
    objects();
    virtual_functions();
  }

 private:
  static constexpr int kComparedSteps = 3;
  using Base = Agent<kClasses>;

  /// Steps a few times for comparison of the results with those of the hand-written code, then for measurement.
  template <class Work, class Results>
  void add(dynasoar::Executor& executor, const std::string& how, Work work, Results results) {
    for (int i = 0; i < kComparedSteps; ++i) work();
    results();
    executor.synchronize();
    if (expected_x_.empty()) {
      expected_x_ = x_.download();
      expected_y_ = y_.download();
    } else if (x_.download() != expected_x_ || y_.download() != expected_y_) {
      throw std::runtime_error("dispatch: " + how + ", " + std::to_string(kClasses) +
                               " classes: the results are not those by hand");
    }
    const std::vector<double> seconds = measure(executor, settings_, work, [] {});
    report_.add({"dispatch",
                 how + (order_.is_mixed ? ", mixed" : ", sorted"),
                 {{"objects", static_cast<std::int64_t>(count_)}, {"classes", kClasses}},
                 "time per call",
                 "ps",
                 shares(seconds, static_cast<double>(count_), 1e12)});
  }

  void by_hand() {
    dynasoar::Executor executor;
    const auto classes = zeros<std::uint8_t>(count_);
    const auto v = zeros<float>(count_);
    const HandCreate<kClasses> create{classes.data(), x_.data(), y_.data(), v.data(), order_};
    executor.for_each_index(count_, create);
    const HandCall<kClasses> call{classes.data(), x_.data(), y_.data(), v.data()};
    add(
        executor, "switch by hand", [&] { executor.for_each_index(count_, call); }, [] {});
  }

  void objects() {
    objects("call", [this](auto& handle, Base** agents) { handle.parallel_for(count_, Call<kClasses>{agents}); });
    objects("parallel_do", [](auto& handle, Base**) { handle.template parallel_do<Base>(Step{}); });
  }
  template <class Run>
  void objects(const std::string& how, Run run) {
    using First = Kind<kClasses, 0>;
    dynasoar::AllocatorHandle<AllocatorT<kClasses>> handle({.heap_bytes = heap_bytes_with_room<First>(count_)});
    const dynasoar::DeviceArray<Base*> agents(count_);
    handle.parallel_for(count_, Create<kClasses>{agents.data(), order_});
    handle.synchronize();  // throws if an object could not be created
    add(
        handle.executor(), how, [&] { run(handle, agents.data()); },
        [&] {
          handle.parallel_for(count_, Look<Base>{agents.data(), x_.data(), y_.data()});
        });
  }

  void virtual_functions() {
    dynasoar::Executor executor;
    const auto agents = zeros<VirtualAgent*>(count_);
    executor.for_each_index(count_, CreateVirtual<kClasses>{agents.data(), order_});
    executor.synchronize();
    for (const VirtualAgent* agent : agents.download()) {
      if (agent == nullptr) throw std::runtime_error("dispatch: the toolkit's heap has no room for the objects");
    }
    const CallVirtual call{agents.data()};
    add(
        executor, "virtual functions", [&] { executor.for_each_index(count_, call); },
        [&] {
          executor.for_each_index(count_, Look<VirtualAgent>{agents.data(), x_.data(), y_.data()});
        });
    executor.for_each_index(count_, DeleteVirtual{agents.data()});
    executor.synchronize();
  }

  Report& report_;
  const Settings& settings_;
  Order order_;
  std::size_t count_;
  dynasoar::DeviceArray<float> x_, y_;  // results
  std::vector<float> expected_x_, expected_y_;
};

template <int kClasses>
void run(Report& report, const Settings& settings) {
  Benchmark<kClasses>(report, settings, false).run();
  if (kClasses > 1) Benchmark<kClasses>(report, settings, true).run();
}

}  // namespace dispatch

void run_dispatch(Report& report, const Settings& settings) {
  enlarge_toolkit_heap();
  dispatch::run<1>(report, settings);
  dispatch::run<2>(report, settings);
  dispatch::run<4>(report, settings);
  dispatch::run<8>(report, settings);
}

}  // namespace benchmarks
