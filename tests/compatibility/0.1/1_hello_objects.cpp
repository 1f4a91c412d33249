/// @file
/// A class with two fields, a million objects of it, a loop over them, and questions about them all.
///
/// Prints:
///     1000000 balls, the highest at 9.9 m
///     after 0.5 s, the highest is at 8.6 m
#include <cstddef>
#include <cstdio>

#include <dynasoar/dynasoar.h>

class Ball;
using AllocatorT = dynasoar::SoaAllocator<Ball>;  // all classes that there will be objects of

class Ball : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Ball, (height_, float), (speed_, float));

  /// What parallel_new creates gets its number as its first argument.
  __device__ explicit Ball(std::size_t index) : height_(static_cast<float>(index % 100) * 0.1f), speed_(0) {}

  __device__ void fall(float seconds) {
    speed_ -= 9.81f * seconds;
    height_ += speed_ * seconds;
  }
};

int main() {
  dynasoar::AllocatorHandle<AllocatorT> handle;  // owns the objects' memory, which grows as it is needed
  handle.parallel_new<Ball>(1'000'000);
  std::printf("%d balls, the highest at %.1f m\n", static_cast<int>(handle.count<Ball>()),
              static_cast<double>(*handle.maximum<&Ball::height_>()));
  for (int step = 0; step < 50; ++step) handle.parallel_do<&Ball::fall>(0.01f);  // in parallel, for each ball
  std::printf("after 0.5 s, the highest is at %.1f m\n", static_cast<double>(*handle.maximum<&Ball::height_>()));
}
