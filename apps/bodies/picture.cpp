#include "program.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <app/picture.h>

namespace bodies {
namespace {

constexpr int kSize = 1024;
constexpr float kView = 1.02f;  // slightly larger than the bodies' space

struct Light {
  float red = 0, green = 0, blue = 0;
};

// From slow to fast, as amounts of light; they add up where bodies are close.
constexpr Light kSlow = {0.12f, 0.30f, 1.00f};
constexpr Light kMedium = {0.80f, 0.85f, 1.00f};
constexpr Light kFast = {1.00f, 0.62f, 0.22f};

Light between(Light a, Light b, float position) {
  return {a.red + position * (b.red - a.red), a.green + position * (b.green - a.green),
          a.blue + position * (b.blue - a.blue)};
}

Light light_of_speed(float share) {
  return share < 0.5f ? between(kSlow, kMedium, 2 * share) : between(kMedium, kFast, 2 * share - 1);
}

class Sky {
 public:
  Sky() : pixels_(std::size_t{kSize} * kSize) {}

  /// Adds a round spot. @param radius   in pixels, at which it has faded to a third
  void add(float x, float y, float radius, float brightness, Light light) {
    const int reach = static_cast<int>(std::ceil(2.5f * radius));
    const int center_x = static_cast<int>(x);
    const int center_y = static_cast<int>(y);
    for (int py = std::max(0, center_y - reach); py <= std::min(kSize - 1, center_y + reach); ++py) {
      for (int px = std::max(0, center_x - reach); px <= std::min(kSize - 1, center_x + reach); ++px) {
        const float dx = static_cast<float>(px) + 0.5f - x;
        const float dy = static_cast<float>(py) + 0.5f - y;
        const float amount = brightness * std::exp(-(dx * dx + dy * dy) / (radius * radius));
        Light& pixel = pixels_[static_cast<std::size_t>(py) * kSize + static_cast<std::size_t>(px)];
        pixel.red += amount * light.red;
        pixel.green += amount * light.green;
        pixel.blue += amount * light.blue;
      }
    }
  }

  app::Picture exposed() const {
    const auto channel = [](float light, float dark) {
      return static_cast<std::uint8_t>(std::lround(255 * (1 - (1 - dark) * std::exp(-light))));
    };
    app::Picture picture(kSize, kSize);
    for (int y = 0; y < kSize; ++y) {
      for (int x = 0; x < kSize; ++x) {
        const Light& light = pixels_[static_cast<std::size_t>(y) * kSize + static_cast<std::size_t>(x)];
        picture.set(x, y, {channel(light.red, 0.02f), channel(light.green, 0.03f), channel(light.blue, 0.07f)});
      }
    }
    return picture;
  }

 private:
  std::vector<Light> pixels_;
};

float speed(const BodyState& body) {
  return std::hypot(body.vx, body.vy);
}

// A speed that only a few bodies exceed. With the greatest speed, a single fast body would make all others look slow.
float high_speed(const std::vector<BodyState>& bodies) {
  std::vector<float> speeds;
  for (const BodyState& body : bodies) speeds.push_back(speed(body));
  const auto rank = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() * 98 / 100);
  if (rank == speeds.end()) return 1;
  std::nth_element(speeds.begin(), rank, speeds.end());
  return *rank > 0 ? *rank : 1;
}

float pixel_of(float coordinate) {
  return (coordinate + kView) / (2 * kView) * kSize;
}

}  // namespace

app::Picture bodies_picture(const std::vector<BodyState>& bodies) {
  float heaviest = 0;
  for (const BodyState& body : bodies) heaviest = std::max(heaviest, body.mass);
  const float fast = high_speed(bodies);
  // Many bodies are small and faint, few large and bright.
  const float spacing = kSize / std::sqrt(static_cast<float>(std::max<std::size_t>(1, bodies.size())));
  const float largest = std::clamp(spacing / 5, 1.1f, 14.0f);
  Sky sky;
  for (const BodyState& body : bodies) {
    const float radius = std::max(0.8f, largest * std::sqrt(body.mass / heaviest));
    sky.add(pixel_of(body.x), kSize - pixel_of(body.y), radius, 1.4f,
            light_of_speed(std::min(1.0f, speed(body) / fast)));
  }
  return sky.exposed();
}

}  // namespace bodies
