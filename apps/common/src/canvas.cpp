#include <app/canvas.h>

#include <vector>

namespace app {

namespace {

/// Makes all pixels the same.
struct ClearPixels {
  Canvas::Word* pixels;
  std::uint32_t word;
  __device__ void operator()(std::size_t i) const { pixels[i].store(word, dynasoar::Order::relaxed); }
};

}  // namespace

Canvas Easel::canvas(dynasoar::Executor& executor, const Viewport& viewport, Rgb background) {
  width_ = viewport.width;
  height_ = viewport.height;
  const std::size_t pixels = static_cast<std::size_t>(viewport.width) * static_cast<std::size_t>(viewport.height);
  if (pixels_.size() != pixels) pixels_ = dynasoar::DeviceArray<Canvas::Word>(pixels);
  executor.for_each_index(pixels, ClearPixels{pixels_.data(), 255u << 24 | word_of(background)});
  return {viewport, pixels_.data()};
}

Picture Easel::picture() const {
  Picture picture(width_, height_);
  const std::vector<Canvas::Word> words = pixels_.download();
  for (std::size_t i = 0; i < words.size(); ++i) {
    picture.words()[i] = words[i].load(dynasoar::Order::relaxed) & 0xFFFFFF;  // without its depth
  }
  return picture;
}

}  // namespace app
