// Makes a mistake that newcomers make, and prints what the library says of it:
//
//   mistakes NAME
//
// docs/how-to/mistakes-at-run-time.md quotes the messages, and mistakes_test.py compares them. Built with checks.
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include <dynasoar/dynasoar.h>

class Agent;
class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;
using Handle = dynasoar::AllocatorHandle<AllocatorT>;

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Legs = std::array<int, 4>;
  DYNASOAR_FIELDS(Agent, (age_, int), (friend_, Agent*), (legs_, Legs))
  __device__ explicit Agent(std::size_t number) : age_(static_cast<int>(number)), friend_(nullptr) {}

  __device__ void remember(Agent** place) { *place = this; }
  __device__ void meet(Agent** place) { friend_ = *place; }
  __device__ void greet();
  __device__ void die() { dynasoar::destroy(this); }
  __device__ void die_twice() {
    dynasoar::destroy(this);
    dynasoar::destroy(this);
  }
  __device__ void kill_friend() {
    if (friend_ != this) dynasoar::destroy(friend_.get());
  }
  __device__ void count_legs() { age_ = legs_[4]; }
  __device__ void bite_as_shark();
};

class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish, (weight_, int))
  using Agent::Agent;  // which do not set weight_
  __device__ void grow() { weight_ += 1; }
  __device__ void dream() { const Fish other(std::size_t{1}); }
  __device__ void dream_of_a_school() { [[maybe_unused]] const Fish school[3] = {Fish(1), Fish(2), Fish(3)}; }
};

class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (teeth_, int))
  __device__ explicit Shark(std::size_t number) : Agent(number), teeth_(300) {}
};

// What a null pointer makes of it is one of the mistakes: the sanitizer must not have the first word.
#if defined(__GNUC__) && !defined(__CUDACC__)
__attribute__((no_sanitize("undefined")))
#endif
__device__ void
Agent::greet() {
  age_ = friend_->age_ + 1;
}

__device__ void Agent::bite_as_shark() {
  static_cast<Shark*>(this)->teeth_ = 299;
}

namespace {

/// One thread, so that the first offender is always the same.
dynasoar::HandleOptions options() {
  return {.heap_bytes = std::size_t{1} << 20, .threads = 1};
}

/// A fish, and a place that has its pointer.
struct OneFish {
  Handle handle{options()};
  dynasoar::DeviceArray<Agent*> place{1};
  OneFish() {
    handle.parallel_new<Fish>(1);
    handle.parallel_do<Fish, &Agent::remember>(place.data());
  }
};

struct SetAge {
  Fish* fish;
  __device__ void operator()(std::size_t) const { fish->age_ = 1; }
};

template <class F>
std::function<void()> with_one_fish(F mistake) {
  return [mistake] {
    OneFish one;
    mistake(one);
    one.handle.synchronize();
  };
}

const std::map<std::string, std::function<void()>> kMistakes = {
    {"destroyed_twice", with_one_fish([](OneFish& one) { one.handle.parallel_do<Fish, &Agent::die_twice>(); })},
    {"stale_pointer", with_one_fish([](OneFish& one) {
       one.handle.parallel_new<Shark>(1);
       one.handle.parallel_do<Shark, &Agent::meet>(one.place.data());
       one.handle.parallel_do<Fish, &Agent::die>();
       one.handle.parallel_do<Shark, &Agent::greet>();
     })},
    {"null_pointer", with_one_fish([](OneFish& one) { one.handle.parallel_do<Fish, &Agent::greet>(); })},
    {"destroyed_by_another", with_one_fish([](OneFish& one) {
       one.handle.parallel_new<Fish>(1);
       one.handle.parallel_do<Fish, &Agent::meet>(one.place.data());
       one.handle.parallel_do<Fish, &Agent::kill_friend>();
     })},
    {"array_too_short", with_one_fish([](OneFish& one) { one.handle.parallel_do<Fish, &Agent::count_legs>(); })},
    {"wrong_class", with_one_fish([](OneFish& one) { one.handle.parallel_do<Fish, &Agent::bite_as_shark>(); })},
    {"field_never_set", with_one_fish([](OneFish& one) { one.handle.parallel_do<&Fish::grow>(); })},
    {"object_as_variable", with_one_fish([](OneFish& one) { one.handle.parallel_do<&Fish::dream>(); })},
    {"array_of_objects", with_one_fish([](OneFish& one) { one.handle.parallel_do<&Fish::dream_of_a_school>(); })},
    {"heap_full",
     [] {
       Handle handle(options());
       handle.parallel_new<Fish>(100'000);
       handle.synchronize();
     }},
    {"heap_too_small", [] { const Handle handle({.heap_bytes = 1000}); }},
    {"two_handles",
     [] {
       const Handle first(options());
       const Handle second(options());
     }},
    {"created_while_lists_are_kept",
     [] {
       OneFish one;
       const auto kept = one.handle.keep_lists();
       one.handle.parallel_new<Fish>(1);
       one.handle.parallel_do<Fish, &Agent::die>();
     }},
    {"waits_in_a_step",
     [] {
       OneFish one;
       auto step = one.handle.record([&] {
         one.handle.parallel_do<Fish, &Agent::die>();
         one.handle.synchronize();
       });
       step();
     }},
#if !DYNASOAR_CUDA_BACKEND
    {"made_on_the_host",
     [] {
       Handle handle(options());
       dynasoar::make_new<Fish>(std::size_t{1});
       handle.synchronize();
     }},
    // A variable outside of all functions is constructed like this one, but in every run of this program.
    {"global_object", [] { static const Fish boss(std::size_t{1}); }},
#endif
    {"no_handle",
     [] {
       Fish* fish = nullptr;
       {
         OneFish one;
         one.handle.synchronize();
         fish = static_cast<Fish*>(one.place.download()[0]);
       }
       dynasoar::Executor executor;
       executor.for_each_index(1, SetAge{fish});
       executor.synchronize();
     }},
    {"nobody_asks",
     [] {
       OneFish one;
       one.handle.parallel_do<Fish, &Agent::die_twice>();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (!dynasoar::Executor::device_available()) {
    std::fputs("skipped: this is a CUDA build and there is no usable GPU\n", stderr);
    return 77;
  }
  const auto found = argc == 2 ? kMistakes.find(argv[1]) : kMistakes.end();
  if (found == kMistakes.end()) {
    std::fprintf(stderr, "usage: mistakes NAME; names:");
    for (const auto& [name, mistake] : kMistakes) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  try {
    found->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
