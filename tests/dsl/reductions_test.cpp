/// @file
/// Reductions: over all objects from the host, and over all others from every object.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace reductions_test {

class Body;
class Heavy;
class Probe;
using AllocatorT = dynasoar::SoaAllocator<Body, Heavy, Probe>;
using Handle = dynasoar::AllocatorHandle<AllocatorT>;

struct Seen {
  std::uint64_t sum;
  std::uint32_t count;
  std::uint32_t largest;
};

struct Combine {
  __host__ __device__ Seen operator()(const Seen& a, const Seen& b) const {
    return {a.sum + b.sum, a.count + b.count, a.largest < b.largest ? b.largest : a.largest};
  }
};

class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (id_, std::uint32_t), (weight_, float), (shift_, std::int8_t), (sum_, std::uint64_t),
                  (count_, std::uint32_t), (largest_, std::uint32_t), (hits_, dynasoar::AtomicWord<std::uint64_t>));

  __device__ explicit Body(std::size_t id)
      : id_(static_cast<std::uint32_t>(id)),
        weight_(0.5f * static_cast<float>(id)),
        shift_(static_cast<std::int8_t>(id % 200 < 100 ? id % 100 : -static_cast<int>(id % 100))),
        sum_(0),
        count_(0),
        largest_(0) {
    hits_->store((std::uint64_t{1} << 40) + id, dynasoar::Order::relaxed);
  }

  struct Loaded {
    std::uint32_t id;
  };

  // How often id is larger than those of others, in two ways.
  __device__ auto look_around(std::uint32_t factor) {
    return dynasoar::device_reduce<Body>(
               Seen{0, 0, 0}, Combine{}, [](Body* other) { return Loaded{other->id_}; },
               [mine = id_.get(), factor](const Loaded& other) {
                 return Seen{std::uint64_t{other.id} * factor, mine > other.id ? 1u : 0u, other.id};
               })
        .then([this](const Seen& seen) { remember(seen); });
  }
  __device__ auto look_around_by_pointer(std::uint32_t factor) {
    return dynasoar::device_reduce<Body>(
               Seen{0, 0, 0}, Combine{},
               [this, factor](Body* other) {
                 return Seen{std::uint64_t{other->id_} * factor, id_ > other->id_ ? 1u : 0u, other->id_};
               })
        .then([this](const Seen& seen) { remember(seen); });
  }

  __device__ bool is_even() const { return id_ % 2 == 0; }
  __device__ void leave_if_odd() {
    if (!is_even()) dynasoar::destroy(this);
  }

  __device__ void remember(const Seen& seen) {
    sum_ = seen.sum;
    count_ = seen.count;
    largest_ = seen.largest;
  }
};

class Heavy : public Body {
 public:
  using BaseClass = Body;
  DYNASOAR_FIELDS(Heavy, (ballast_, double));
  __device__ explicit Heavy(std::size_t id) : Body(id), ballast_(1e6) {}
};

/// The most that may be loaded of an object.
struct Wide {
  std::uint32_t words[16];
};

/// Looks into both bodies, so that it does not take what is none.
struct Lower {
  __device__ Body* operator()(Body* a, Body* b) const {
    if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
    return a->id_ < b->id_ ? a : b;
  }
};

// A class that looks at another one.
class Probe : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Probe, (at_, float), (field_, double), (heaviest_, std::uint32_t), (number_, std::uint32_t),
                  (sum_, std::uint64_t), (count_, std::uint32_t), (visits_, std::uint32_t));
  __device__ explicit Probe(std::size_t i)
      : at_(0.01f * static_cast<float>(i)),
        field_(0),
        heaviest_(0),
        number_(static_cast<std::uint32_t>(i)),
        sum_(0),
        count_(0),
        visits_(0) {}

  __device__ auto measure() {
    return dynasoar::device_reduce<Body>(
               0.0, dynasoar::Plus{}, [](Body* body) { return body->weight_.get(); },
               [at = at_.get()](float weight) { return double{weight} / (1.0 + at); })
        .then([this](double field) { field_ = field; });
  }
  __device__ auto survey() {
    return dynasoar::device_reduce<Body>(
               Seen{0, 0, 0}, Combine{},
               [](Body* body) {
                 Wide wide{};
                 wide.words[15] = body->id_;
                 return wide;
               },
               [factor = std::uint64_t{number_.get()} + 1](const Wide& wide) {
                 return Seen{wide.words[15] * factor, 1, 0};
               })
        .then([this](const Seen& seen) {
          sum_ = seen.sum;
          count_ = seen.count;
          ++visits_;
        });
  }
  __device__ auto find_lowest() {
    return dynasoar::device_reduce<Body>(static_cast<Body*>(nullptr), Lower{}, [](Body* body) { return body; })
        .then([this](Body* lowest) { heaviest_ = lowest == nullptr ? 0 : lowest->id_ + 1; });
  }
  __device__ void leave_unless_multiple_of(std::uint32_t step) {
    if (number_ % step != 0) dynasoar::destroy(this);
  }
  /// From an initial value that is no id.
  __device__ auto find_least() {
    return dynasoar::device_reduce<Body>(
               std::numeric_limits<std::uint32_t>::max(), dynasoar::Least{},
               [](Body* body) { return Body::Loaded{body->id_}; }, [](const Body::Loaded& seen) { return seen.id + 5; })
        .then([this](std::uint32_t id) { heaviest_ = id; });
  }
  __device__ auto find_heaviest() {
    return dynasoar::device_reduce<Heavy>(
               std::uint32_t{0}, dynasoar::Greatest{}, [](Heavy* heavy) { return heavy->id_.get(); },
               [](std::uint32_t id) { return id; })
        .then([this](std::uint32_t id) { heaviest_ = id; });
  }
};

struct IdOf {
  __device__ std::uint64_t operator()(Body* body) const { return body->id_; }
};
struct IsEven {
  __device__ bool operator()(Body* body) const { return body->is_even(); }
};

struct WrongSeen {
  std::uint64_t expected_sum;
  std::uint32_t largest;
  __device__ bool operator()(Body* body) const {
    return body->sum_ != expected_sum || body->count_ != body->id_ || body->largest_ != largest;
  }
};

struct WrongHeaviest {
  std::uint32_t id;
  __device__ bool operator()(Probe* probe) const { return probe->heaviest_ != id; }
};

// Bodies 0 to count - 1, the first half of them plain, the others heavy.
void make_bodies(Handle& handle, std::size_t count) {
  handle.parallel_for(count, [count] __device__(std::size_t i) {
    if (i < count / 2) {
      dynasoar::make_new<Body>(i);
    } else {
      dynasoar::make_new<Heavy>(i);
    }
  });
}

constexpr std::uint64_t sum_of_ids(std::uint64_t count) {
  return count * (count - 1) / 2;
}

void check_all_pairs(std::size_t count, int threads) {
  CAPTURE(count);
  CAPTURE(threads);
  Handle handle({.heap_bytes = 8 << 20, .threads = threads});
  make_bodies(handle, count);
  const auto largest = static_cast<std::uint32_t>(count - 1);
  handle.parallel_do<Body, &Body::look_around>(3u);
  CHECK(handle.count_if<Body>(WrongSeen{3 * sum_of_ids(count), largest}) == 0);
  handle.parallel_do<Body, &Body::look_around_by_pointer>(5u);
  CHECK(handle.count_if<Body>(WrongSeen{5 * sum_of_ids(count), largest}) == 0);
  handle.parallel_do<Body, &Body::leave_if_odd>();
  handle.parallel_do<Body, &Body::look_around>(1u);
  std::uint64_t even = 0;
  for (std::size_t i = 0; i < count; i += 2) even += i;
  CHECK(handle.count_if<Body>([expected_sum = even] __device__(Body * body) -> bool {
    return body->sum_ != expected_sum || body->count_ != body->id_ / 2;
  }) == 0);
  CHECK(handle.count<Body>() == (count + 1) / 2);
}

TEST_CASE("reduce, sum, minimum, maximum and count_if see every object of a class and its subclasses once") {
  Handle handle({.heap_bytes = 8 << 20});
  constexpr std::size_t kCount = 5000;
  make_bodies(handle, kCount);
  CHECK(handle.reduce<Body>(std::uint64_t{0}, dynasoar::Plus{}, IdOf{}) == sum_of_ids(kCount));
  CHECK(handle.reduce<Heavy>(std::uint64_t{0}, dynasoar::Plus{}, IdOf{}) ==
        sum_of_ids(kCount) - sum_of_ids(kCount / 2));
  CHECK(handle.reduce<Body>(std::uint64_t{0}, dynasoar::Greatest{}, IdOf{}) == kCount - 1);
  CHECK(handle.sum<&Body::id_>() == sum_of_ids(kCount));
  CHECK(handle.sum<&Body::weight_>() == 0.5 * sum_of_ids(kCount));
  CHECK(handle.minimum<&Body::id_>() == std::uint32_t{0});
  CHECK(handle.maximum<&Body::id_>() == static_cast<std::uint32_t>(kCount - 1));
  CHECK(handle.minimum<&Body::shift_>() == std::int8_t{-99});
  CHECK(handle.maximum<&Body::shift_>() == std::int8_t{99});
  CHECK(handle.maximum<&Heavy::ballast_>() == 1e6);
  CHECK(handle.count_if<Body>(IsEven{}) == kCount / 2);
  CHECK(handle.count_if<Heavy>(IsEven{}) == kCount / 4);
}

TEST_CASE("numbers in atomic words are added and compared as others are") {
  Handle handle({.heap_bytes = 8 << 20});
  constexpr std::uint64_t kBase = std::uint64_t{1} << 40;
  CHECK_FALSE(handle.minimum<&Body::hits_>().has_value());
  make_bodies(handle, 1000);
  CHECK(handle.sum<&Body::hits_>() == 1000 * kBase + sum_of_ids(1000));
  CHECK(handle.minimum<&Body::hits_>() == kBase);
  CHECK(handle.maximum<&Body::hits_>() == kBase + 999);
}

TEST_CASE("a reduction begins with its initial value, also where that is the greatest") {
  Handle handle({.heap_bytes = 8 << 20, .threads = 3});
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  handle.parallel_new<Probe>(3);
  handle.parallel_do<&Probe::find_least>();
  CHECK(handle.count_if<Probe>(WrongHeaviest{kNone}) == 0);
  CHECK(handle.reduce<Body>(std::uint64_t{kNone}, dynasoar::Least{}, IdOf{}) == kNone);
  make_bodies(handle, 700);
  handle.parallel_do<Body>([] __device__(Body * body) { body->id_ += 10; });
  handle.parallel_do<&Probe::find_least>();
  CHECK(handle.count_if<Probe>(WrongHeaviest{15}) == 0);
  CHECK(handle.reduce<Body>(std::uint64_t{kNone}, dynasoar::Least{}, IdOf{}) == 10);
  CHECK(handle.reduce<Body>(std::uint64_t{5}, dynasoar::Least{}, IdOf{}) == 5);
}

TEST_CASE("sums of small integers do not overflow") {
  Handle handle({.heap_bytes = 8 << 20});
  handle.parallel_new<Body>(20050);
  std::int64_t expected = 0;
  for (int i = 0; i < 20050; ++i) expected += i % 200 < 100 ? i % 100 : -(i % 100);
  CHECK(handle.sum<&Body::shift_>() == expected);
  handle.parallel_do<Body>([] __device__(Body * body) { body->shift_ = static_cast<std::int8_t>(100); });
  CHECK(handle.sum<&Body::shift_>() == std::int64_t{20050} * 100);
}

TEST_CASE("a reduction over no objects is its initial value, and there is no least of nothing") {
  Handle handle({.heap_bytes = 1 << 20});
  CHECK(handle.reduce<Body>(std::uint64_t{7}, dynasoar::Greatest{}, IdOf{}) == 7);
  CHECK(handle.sum<&Body::id_>() == 0);
  CHECK_FALSE(handle.minimum<&Body::id_>().has_value());
  CHECK_FALSE(handle.maximum<&Body::weight_>().has_value());
  CHECK(handle.count_if<Body>(IsEven{}) == 0);
  handle.parallel_do<Body, &Body::look_around>(1u);  // no body looks around
  handle.parallel_new<Probe>(3);
  handle.parallel_do<&Probe::find_heaviest>();  // there is nothing to see
  CHECK(handle.count_if<Probe>(WrongHeaviest{0}) == 0);
}

TEST_CASE("every object sees all others once, whatever their number, their classes and the threads") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{63}, std::size_t{65}, std::size_t{700}}) {
    check_all_pairs(count, 0);
  }
  if (dynasoar::test::kSlowdown == 1 && dynasoar::kCudaBackend) {  // with fewer threads per object
    check_all_pairs(20000, 0);
    check_all_pairs(100000, 0);
  }
  if (!dynasoar::kCudaBackend) {
    for (const int threads : {1, 2, 5}) check_all_pairs(1000, threads);
  }
}

// Probes survey bodies: all of them, again, and at last those few that are left, at most two in a block.
void check_surveys(std::size_t probes, std::size_t bodies, bool some_heavy) {
  CAPTURE(probes);
  CAPTURE(bodies);
  Handle handle({.heap_bytes = 64 << 20});
  if (some_heavy) {
    make_bodies(handle, bodies);
  } else {
    handle.parallel_new<Body>(bodies);
  }
  handle.parallel_new<Probe>(probes);
  std::uint32_t visits = 0;
  for (const std::uint32_t step : {1u, 2u, 122u}) {
    handle.parallel_do<&Probe::leave_unless_multiple_of>(step);
    handle.parallel_do<&Probe::survey>();
    CHECK(handle.count_if<Probe>([sum = sum_of_ids(bodies), count = static_cast<std::uint32_t>(bodies),
                                  visits = ++visits] __device__(Probe * probe) -> bool {
      return probe->sum_ != sum * (probe->number_ + 1) || probe->count_ != count || probe->visits_ != visits;
    }) == 0);
    handle.parallel_do<&Probe::find_lowest>();
    CHECK(handle.count_if<Probe>(WrongHeaviest{bodies > 0 ? 1u : 0u}) == 0);
    CHECK(handle.count<Probe>() == (probes + step - 1) / step);
  }
}

TEST_CASE("every object looks once, however many threads help it") {
  for (const std::size_t bodies : {std::size_t{0}, std::size_t{1}, std::size_t{70}}) {
    check_surveys(5, bodies, true);
    check_surveys(700, bodies, false);
  }
  if (!dynasoar::kCudaBackend) return;
  // An H200 holds 660 to 1056 thread blocks: 8 threads per probe from 13200 to 21120 probes on, one from 105600 to
  // 168960. Numbers that leave groups without a probe.
  for (const std::size_t probes : {std::size_t{21123}, std::size_t{168991}}) check_surveys(probes, 70, true);
  if (dynasoar::test::kSlowdown != 1) return;
  // More than a thread block can do at a time, for each number of threads.
  for (const std::size_t probes : {std::size_t{10561}, std::size_t{39601}, std::size_t{554402}}) {
    check_surveys(probes, 3000, true);
  }
}

TEST_CASE("objects of one class see those of another and its subclasses") {
  Handle handle({.heap_bytes = 8 << 20});
  constexpr std::size_t kBodies = 1500;
  make_bodies(handle, kBodies);
  handle.parallel_new<Probe>(200);
  handle.parallel_do<&Probe::measure>();
  CHECK(handle.count_if<Probe>([weights = 0.5 * sum_of_ids(kBodies)] __device__(Probe * probe) -> bool {
    const double expected = weights / (1.0 + probe->at_);
    return !(probe->field_ > expected * (1 - 1e-6) && probe->field_ < expected * (1 + 1e-6));
  }) == 0);
  handle.parallel_do<&Probe::find_heaviest>();
  CHECK(handle.count_if<Probe>(WrongHeaviest{static_cast<std::uint32_t>(kBodies - 1)}) == 0);
}

}  // namespace reductions_test
