// Loops that compilers ought to vectorize (7 and 8: g++ alone), one for each value of LOOP; check.cmake looks for
// it in their reports.
#include <cstdint>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/random.h>

class Point;
class Mixed;
class Small;
class Large;
class Ground;
using AllocatorT = dynasoar::SoaAllocator<Point, Mixed, Small, Large, Ground>;

class Point : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Point, (x_, float), (y_, float), (vx_, float), (vy_, float), (ax_, float), (ay_, float), (fx_, float),
                  (fy_, float));
  __device__ void one_field() { y_ += 1; }
  __device__ void three_fields() {
    vx_ += ax_ * 0.1f;
    x_ += vx_ * 0.1f;
  }
  __device__ void eight_fields(float dt) {
    ax_ = ax_ * dt + fx_;
    ay_ = ay_ * dt + fy_;
    vx_ += ax_ * dt;
    vy_ += ay_ * dt;
    x_ += vx_ * dt;
    y_ += vy_ * dt;
  }
};

class Mixed : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Mixed, (flags_, std::uint8_t), (x_, float), (energy_, double), (vx_, float), (power_, double));
  __device__ void mixed_sizes(float dt) {
    flags_ ^= std::uint8_t{1};
    x_ += vx_ * dt;
    energy_ += power_ * dt;
  }
};

class Base : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Base, (x_, float), (vx_, float));
  __device__ void move(float dt) { x_ += vx_ * dt; }
};
class Small : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Small, (a_, float));
};
class Large : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Large, (a_, float), (b_, double));
};

/// Everywhere on a lattice.
class Ground : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Ground, (sugar_, float), (rate_, float));
  __device__ void grow(float dt) { sugar_ += rate_ * dt; }
};

std::uint64_t found[64];

/// Random numbers for 64 places.
struct Draw {
  __device__ void operator()(std::size_t i) const {
    const auto happens = [step = static_cast<std::uint32_t>(i)](std::uint32_t place, bool is_taken) {
      return dynasoar::random::words({42}, is_taken ? 1 : 2, place, step)[0] < (is_taken ? 5u : 1000u);
    };
    found[i] = dynasoar::map_places(i, happens);
  }
};

void run(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if LOOP == 1
  handle.parallel_do<&Point::one_field>();
#elif LOOP == 2
  handle.parallel_do<&Point::three_fields>();
#elif LOOP == 3
  handle.parallel_do<&Point::eight_fields>(0.1f);
#elif LOOP == 4
  handle.parallel_do<&Mixed::mixed_sizes>(0.1f);
#elif LOOP == 5
  handle.parallel_do<Base, &Base::move>(0.1f);
#elif LOOP == 6
  handle.parallel_do<Point>([](Point* point) { point->x_ = point->y_ + 1; });
#elif LOOP == 7
  handle.parallel_for(64, Draw{});
#elif LOOP == 8
  handle.parallel_do<&Ground::grow>(0.1f);
#endif
}
