// What a loop over objects costs when some of them were deleted at random, so that blocks have holes; against arrays by
// hand with a bitmap of which elements are there.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "random_numbers.h"
#include "report.h"

namespace benchmarks {
namespace sparse_loop {

constexpr float kDt = 0.1f;
constexpr int kOrbitSteps = 32;

/// A body falls round the origin for some steps, which takes computing instead of memory.
__host__ __device__ inline void orbit(float& x, float& y, float& vx, float& vy) {
  for (int i = 0; i < kOrbitSteps; ++i) {
    const float square = x * x + y * y + 0.01f;
    const float pull = 1.0f / sqrtf(square * square * square);
    vx -= pull * x * kDt;
    vy -= pull * y * kDt;
    x += vx * kDt;
    y += vy * kDt;
  }
}

class Body;
using AllocatorT = dynasoar::SoaAllocator<Body>;
class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (x_, float), (y_, float), (vx_, float), (vy_, float), (number_, std::uint32_t));
  __device__ explicit Body(std::size_t i) : x_(0), y_(0), vx_(1), vy_(2), number_(static_cast<std::uint32_t>(i)) {}
  __device__ void move(float dt) {
    x_ += vx_ * dt;
    y_ += vy_ * dt;
  }
  __device__ void fall() {
    float x = x_, y = y_, vx = vx_, vy = vy_;
    orbit(x, y, vx, vy);
    x_ = x;
    y_ = y;
    vx_ = vx;
    vy_ = vy;
  }
  __device__ void keep_some(std::uint32_t per_thousand) {
    if (!happens(per_thousand, number_, per_thousand)) dynasoar::destroy(this);
  }
};

struct HandMove {
  float *x, *y, *vx, *vy;
  const std::uint64_t* present;  // a bit per element
  __device__ void operator()(std::size_t i) const {
    if ((present[i / 64] >> (i % 64) & 1) == 0) return;
    x[i] += vx[i] * kDt;
    y[i] += vy[i] * kDt;
  }
};

struct HandFall {
  float *x, *y, *vx, *vy;
  const std::uint64_t* present;
  __device__ void operator()(std::size_t i) const {
    if ((present[i / 64] >> (i % 64) & 1) == 0) return;
    float own_x = x[i], own_y = y[i], own_vx = vx[i], own_vy = vy[i];
    orbit(own_x, own_y, own_vx, own_vy);
    x[i] = own_x;
    y[i] = own_y;
    vx[i] = own_vx;
    vy[i] = own_vy;
  }
};

/// Bits of which the given share is set, at random.
std::vector<std::uint64_t> random_bits(std::size_t words, std::uint32_t percent) {
  std::vector<std::uint64_t> bits(words, 0);
  for (std::size_t i = 0; i < words * 64; ++i) {
    bits[i / 64] |= std::uint64_t{happens(percent * 10, i, percent)} << (i % 64);
  }
  return bits;
}

}  // namespace sparse_loop

void run_sparse_loop(Report& report, const Settings& settings) {
  using sparse_loop::Body;
  const std::size_t slots = std::size_t{1} << (settings.small ? 16 : 26);
  const std::vector<std::uint32_t> percents = {100, 75, 50, 25};
  const auto add = [&](const char* variant, std::uint32_t percent, const std::vector<double>& seconds) {
    const double objects = static_cast<double>(slots) * percent / 100;
    report.add({"sparse_loop",
                variant,
                {{"slots", static_cast<std::int64_t>(slots)}, {"percent taken", percent}},
                "time per object",
                "ps",
                shares(seconds, objects, 1e12)});
  };
  {
    dynasoar::AllocatorHandle<sparse_loop::AllocatorT> handle({.heap_bytes = heap_bytes_with_room<Body>(slots)});
    handle.parallel_new<Body>(slots);
    std::uint32_t before = 100;
    for (const std::uint32_t percent : percents) {
      if (percent < before) handle.parallel_do<&Body::keep_some>(1000 * percent / before);
      before = percent;
      const double expected = static_cast<double>(slots) * percent / 100;
      if (const auto left = static_cast<double>(handle.count<Body>());
          left < 0.98 * expected || left > 1.02 * expected) {
        throw std::runtime_error("sparse_loop: not as many objects are left as there should be");
      }
      add("objects", percent,
          measure(
              handle.executor(), settings, [&] { handle.parallel_do<&Body::move>(sparse_loop::kDt); }, [] {}));
      add("objects, computing", percent,
          measure(
              handle.executor(), settings, [&] { handle.parallel_do<&Body::fall>(); }, [] {}));
    }
  }
  dynasoar::Executor executor;
  const auto x = zeros<float>(slots), y = zeros<float>(slots), vx = zeros<float>(slots), vy = zeros<float>(slots);
  dynasoar::DeviceArray<std::uint64_t> present(slots / 64);
  for (const std::uint32_t percent : percents) {
    present.upload(sparse_loop::random_bits(slots / 64, percent));
    const sparse_loop::HandMove move{x.data(), y.data(), vx.data(), vy.data(), present.data()};
    add("by hand", percent,
        measure(
            executor, settings, [&] { executor.for_each_index(slots, move); }, [] {}));
    const sparse_loop::HandFall fall{x.data(), y.data(), vx.data(), vy.data(), present.data()};
    add("by hand, computing", percent,
        measure(
            executor, settings, [&] { executor.for_each_index(slots, fall); }, [] {}));
  }
}

}  // namespace benchmarks
