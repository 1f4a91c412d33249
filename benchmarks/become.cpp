// Become: objects of 36 bytes become objects of another class with which they have 32 bytes in common, all of them or
// few. Compared with creating the other object, copying the fields and destroying the old one, in hand-written code;
// and with AllocatorHandle::become, which also updates the pointer that each object has to another one.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "random_numbers.h"
#include "report.h"

namespace benchmarks {
namespace become {

class Healthy;
class Sick;
using AllocatorT = dynasoar::SoaAllocator<Healthy, Sick>;

class Person : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Person, (friend_, Person*), (number_, std::uint32_t), (friend_number_, std::uint32_t), (x_, float),
                  (y_, float), (vx_, float), (vy_, float))
  __device__ Person() {}  // fields get their values from the object before
  __device__ Person(std::uint32_t number, Person** all)
      : friend_(nullptr), number_(number), friend_number_(0u), x_(0.0f), y_(0.0f), vx_(0.0f), vy_(1.0f) {
    all[number] = this;
  }
  __device__ void find_friend(Person** all, std::uint32_t count) {
    friend_number_ = hashed(number_, 1) % count;
    friend_ = all[friend_number_];
  }
  __device__ void check(dynasoar::AtomicWord<std::uint32_t>* wrong) {
    if (friend_->number_ != friend_number_ || vy_ != 1) wrong->fetch_add(1, dynasoar::Order::relaxed);
  }
};

class Healthy : public Person {
 public:
  using BaseClass = Person;
  DYNASOAR_FIELDS(Healthy, (immunity_, int))
  __device__ Healthy() : immunity_(1) {}
  __device__ Healthy(std::size_t i, Person** all) : Person(static_cast<std::uint32_t>(i), all), immunity_(0) {}
};

class Sick : public Person {
 public:
  using BaseClass = Person;
  DYNASOAR_FIELDS(Sick, (days_, int))
  __device__ explicit Sick(int days) : days_(days) {}
};

struct FallsIll {
  std::uint32_t per_thousand;
  __device__ bool operator()(Person* person) const { return happens(per_thousand, person->number_, 2); }
};

struct Become {
  FallsIll falls_ill;
  __device__ void operator()(Healthy* person) const {
    if (falls_ill(person)) dynasoar::become<Sick>(person, 3);
  }
};

struct BecomeByHand {
  FallsIll falls_ill;
  __device__ void operator()(Healthy* person) const {
    if (!falls_ill(person)) return;
    Sick* const sick = dynasoar::make_new<Sick>(3);
    if (sick == nullptr) return;
    sick->friend_ = person->friend_;
    sick->number_ = person->number_;
    sick->friend_number_ = person->friend_number_;
    sick->x_ = person->x_;
    sick->y_ = person->y_;
    sick->vx_ = person->vx_;
    sick->vy_ = person->vy_;
    dynasoar::destroy(person);
  }
};

struct Everybody {
  __device__ bool operator()(Person*) const { return true; }
};
struct Recover {
  __device__ void operator()(Sick* person) const { dynasoar::become<Healthy>(person); }
};

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings, std::size_t count)
      : report_(report), settings_(settings), count_(count) {}

  void run() {
    for (const std::uint32_t per_thousand : {1000u, 10u}) {
      const std::string variant = per_thousand == 1000 ? "all objects" : "1 % of the objects";
      const FallsIll falls_ill{per_thousand};
      dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = 2 * heap_bytes_with_room<Sick>(count_)});
      {
        const dynasoar::DeviceArray<Person*> all(count_);
        handle.parallel_new<Healthy>(count_, all.data());
        handle.parallel_do<Person, &Person::find_friend>(all.data(), static_cast<std::uint32_t>(count_));
        handle.synchronize();
      }
      const auto update = [&] { handle.become<Healthy, Sick>(falls_ill, std::tuple(3)); };
      const auto restore = [&] { handle.become<Sick, Healthy>(Everybody{}); };
      add(variant, "become of the handle, with pointers", measure(handle.executor(), settings_, update, restore));
      check(handle);
      restore();
      // From here on, pointers to objects that fall ill are stale.
      const auto become = [&] { handle.parallel_do<Healthy>(Become{falls_ill}); };
      const auto by_hand = [&] { handle.parallel_do<Healthy>(BecomeByHand{falls_ill}); };
      const auto recover = [&] { handle.parallel_do<Sick>(Recover{}); };
      add(variant, "become", measure(handle.executor(), settings_, become, recover));
      add(variant, "create, copy, destroy", measure(handle.executor(), settings_, by_hand, recover));
      if (handle.count<Person>() != count_) throw std::runtime_error("become: objects are missing");
    }
  }

 private:
  void add(const std::string& variant, const std::string& metric, std::vector<double> seconds) {
    report_.add({"become",
                 variant,
                 {{"objects", static_cast<std::int64_t>(count_)}, {"bytes", 36}},
                 metric,
                 "ms",
                 shares(std::move(seconds), 1, 1e3)});
  }

  void check(dynasoar::AllocatorHandle<AllocatorT>& handle) {
    const auto wrong = zeros<std::uint32_t>(1);
    handle.parallel_do<Person, &Person::check>(reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(wrong.data()));
    handle.synchronize();
    if (wrong.download()[0] != 0) throw std::runtime_error("become: pointers do not point to their objects");
  }

  Report& report_;
  const Settings& settings_;
  std::size_t count_;
};

}  // namespace become

void run_become(Report& report, const Settings& settings) {
  become::Benchmark(report, settings, settings.small ? 200'000 : std::size_t{1} << 24).run();
}

}  // namespace benchmarks
