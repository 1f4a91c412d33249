#include <app/animation.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <app/cairo_png.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>
#include <program/option_values.h>

#if defined(DYNASOAR_APP_WEBP)
#include <webp/encode.h>
#include <webp/mux.h>
#endif

namespace app {

using namespace dynasoar::program;

#if defined(DYNASOAR_APP_WEBP)

namespace {

constexpr int kLongestSide = 640;
constexpr int kFrameMilliseconds = 100;
constexpr float kQuality = 80;

/// The picture in the middle of another of this size, as large as it fits.
Picture fitted(const Picture& picture, int width, int height) {
  if (picture.width() == width && picture.height() == height) return picture;
  const CairoSurface from = image_of(picture);
  const CairoSurface image = make_image(width, height);
  const CairoContext context(cairo_create(image.get()));
  const double scale =
      std::min(static_cast<double>(width) / picture.width(), static_cast<double>(height) / picture.height());
  cairo_translate(context.get(), (width - scale * picture.width()) / 2, (height - scale * picture.height()) / 2);
  cairo_scale(context.get(), scale, scale);
  cairo_set_source_surface(context.get(), from.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(context.get()), scale < 1 ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
  cairo_paint(context.get());
  return picture_of(image);
}

}  // namespace

class Animation::Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { WebPAnimEncoderDelete(encoder_); }

  void add(const Picture& picture) {
    if (encoder_ == nullptr) begin(picture);
    const Picture frame = fitted(picture, width_, height_);
    WebPConfig config;
    if (WebPConfigPreset(&config, WEBP_PRESET_DRAWING, kQuality) == 0) fail("set up");
    WebPPicture image;
    if (WebPPictureInit(&image) == 0) fail("set up");
    image.use_argb = 1;
    image.width = width_;
    image.height = height_;
    if (WebPPictureAlloc(&image) == 0) fail("have memory for a picture");
    for (int y = 0; y < height_; ++y) {
      const auto row = frame.words().begin() + static_cast<std::ptrdiff_t>(y) * width_;
      std::transform(row, row + width_, image.argb + static_cast<std::ptrdiff_t>(y) * image.argb_stride,
                     [](std::uint32_t word) { return word | 0xFF000000; });
    }
    const int is_added = WebPAnimEncoderAdd(encoder_, &image, time_, &config);
    WebPPictureFree(&image);
    if (is_added == 0) fail("encode a picture");
    time_ += kFrameMilliseconds;
  }

  void write(const std::string& path) {
    if (encoder_ == nullptr) return;
    WebPData data;
    WebPDataInit(&data);
    if (WebPAnimEncoderAdd(encoder_, nullptr, time_, nullptr) == 0 || WebPAnimEncoderAssemble(encoder_, &data) == 0) {
      fail("put pictures together");
    }
    const std::unique_ptr<WebPData, void (*)(WebPData*)> cleared(&data, WebPDataClear);
    dynasoar::write_file(path, {reinterpret_cast<const char*>(data.bytes), data.size});
  }

 private:
  void begin(const Picture& picture) {
    const double scale = std::min(1.0, static_cast<double>(kLongestSide) / std::max(picture.width(), picture.height()));
    width_ = std::max(1, static_cast<int>(std::lround(scale * picture.width())));
    height_ = std::max(1, static_cast<int>(std::lround(scale * picture.height())));
    encoder_ = WebPAnimEncoderNew(width_, height_, nullptr);
    if (encoder_ == nullptr) fail("set up");
  }

  [[noreturn]] void fail(const char* what) const {
    const char* const why = encoder_ != nullptr ? WebPAnimEncoderGetError(encoder_) : "";
    throw std::runtime_error(fmt::format("--animation: libwebp cannot {}: {}", what, why));
  }

  WebPAnimEncoder* encoder_ = nullptr;
  int width_ = 0;
  int height_ = 0;
  int time_ = 0;  // milliseconds
};

Animation::Animation(std::string path) : path_(std::move(path)), encoder_(std::make_unique<Encoder>()) {
  if (std::filesystem::path(path_).extension() != ".webp") {
    throw UsageError(fmt::format("--animation: '{}' must end in .webp (see --help)", path_));
  }
  require_writable_file(path_);
}

void Animation::add(const Picture& picture) {
  encoder_->add(picture);
}

void Animation::finish() {
  encoder_->write(path_);
}

#else

class Animation::Encoder {};

Animation::Animation(std::string path) : path_(std::move(path)) {
  throw UsageError(
      "--animation: this program was built without libwebp (libwebp-dev); --frames writes single pictures");
}
void Animation::add(const Picture&) {}
void Animation::finish() {}

#endif

Animation::~Animation() = default;

}  // namespace app
