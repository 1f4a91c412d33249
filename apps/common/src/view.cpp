#include <app/view.h>

#include <dynasoar/program/options.h>

#if defined(DYNASOAR_APP_SDL)

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <SDL.h>
#include <cairo.h>
#include <fmt/format.h>

#include <app/cairo_png.h>
#include <app/object_at.h>
#include <app/view_controls.h>
#include <interrupt.h>

namespace app {
namespace {

using Clock = ViewControls::Clock;

constexpr int kLongSide = 1000;  // of a new window
constexpr std::chrono::milliseconds kPictureInterval{16};
constexpr std::chrono::milliseconds kSpeedInterval{500};
constexpr int kDragThreshold = 4;  // pixels; a shorter movement is a click
constexpr double kFontSize = 14;
constexpr double kLine = 19;
constexpr double kMargin = 8;

constexpr char kHelp[] =
    "space: pause   n: one step   + -: speed   wheel: zoom   drag: move   0: all   click: fields   s: save a picture   "
    "h: hide this   q: close";

[[noreturn]] void fail(const std::string& what) {
  throw UsageError(fmt::format("--view: cannot {}: {}. Without a display, --frames and --animation write pictures",
                               what, SDL_GetError()));
}

struct SdlDeleter {
  void operator()(SDL_Window* window) const { SDL_DestroyWindow(window); }
  void operator()(SDL_Renderer* renderer) const { SDL_DestroyRenderer(renderer); }
  void operator()(SDL_Texture* texture) const { SDL_DestroyTexture(texture); }
};
template <class T>
using SdlPointer = std::unique_ptr<T, SdlDeleter>;

/// Lines of text on a dark ground.
void draw_text(cairo_t* cr, double left, double top, const std::vector<std::string>& lines) {
  cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, kFontSize);
  double width = 0;
  for (const std::string& line : lines) {
    cairo_text_extents_t extents;
    cairo_text_extents(cr, line.c_str(), &extents);
    width = std::max(width, extents.x_advance);
  }
  cairo_set_source_rgba(cr, 0.04, 0.05, 0.08, 0.78);
  cairo_rectangle(cr, left, top, width + 2 * kMargin, kLine * static_cast<double>(lines.size()) + kMargin);
  cairo_fill(cr);
  cairo_set_source_rgb(cr, 0.93, 0.94, 0.96);
  double baseline = top + kLine;
  for (const std::string& line : lines) {
    cairo_move_to(cr, left + kMargin, baseline);
    cairo_show_text(cr, line.c_str());
    baseline += kLine;
  }
}

}  // namespace

class View::Window {
 public:
  Window() {
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // Ctrl-C ends the run after the current step, see interrupt.h
    if (SDL_Init(SDL_INIT_VIDEO) != 0) fail("open a window");
    const char* const driver = SDL_GetCurrentVideoDriver();
    const std::string name = driver != nullptr ? driver : "";
    if (name != "offscreen" && name != "dummy") return;
    SDL_Quit();
    SDL_SetError("there is no display that SDL can use (its driver '%s' shows nothing)", name.c_str());
    fail("open a window");
  }
  ~Window() {
    texture_.reset();
    renderer_.reset();
    window_.reset();
    SDL_Quit();
  }

  void open(Program& program, Simulation& simulation, int steps) {
    program_ = &program;
    simulation_ = &simulation;
    steps_ = steps;
    world_ = program.world();
    const double scale = kLongSide / std::max(world_.width, world_.height);
    const auto side = [scale](double length) { return std::max(320, static_cast<int>(std::lround(scale * length))); };
    controls_.emplace(world_, side(world_.width), side(world_.height));
    window_.reset(SDL_CreateWindow(program.description().name.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                   controls_->viewport().width, controls_->viewport().height,
                                   SDL_WINDOW_RESIZABLE | SDL_WINDOW_SHOWN));
    if (!window_) fail("open a window");
    renderer_.reset(SDL_CreateRenderer(window_.get(), -1, 0));
    if (!renderer_) fail("draw in a window");
  }

  bool wait(int step) {
    step_ = step;
    has_news_ = true;
    ++steps_since_;
    const bool is_last = step >= steps_;
    for (;;) {
      SDL_Event event;
      while (SDL_PollEvent(&event) != 0) handle(event);
      if (is_closed_ || dynasoar::detail::interrupted()) return false;
      const Clock::time_point now = Clock::now();
      measure_speed(now);
      if (has_news_ && now >= next_picture_) {
        draw();
        next_picture_ = now + kPictureInterval;
      }
      const std::optional<Clock::time_point> next = is_last ? std::nullopt : controls_->next_step();
      if (next && *next <= now) {
        controls_->step_begins(now);
        return true;
      }
      Clock::time_point until = now + std::chrono::milliseconds(100);
      if (next) until = std::min(until, *next);
      if (has_news_) until = std::min(until, next_picture_);
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(until - now).count();
      SDL_WaitEventTimeout(nullptr, std::max(1, static_cast<int>(rest)));
    }
  }

 private:
  void handle(const SDL_Event& event) {
    has_news_ = true;
    switch (event.type) {
      case SDL_QUIT: is_closed_ = true; break;
      case SDL_KEYDOWN: handle_key(event.key.keysym.sym); break;
      case SDL_WINDOWEVENT:
        if (event.window.event == SDL_WINDOWEVENT_SIZE_CHANGED) {
          controls_->resize(event.window.data1, event.window.data2);
        }
        break;
      case SDL_MOUSEWHEEL: {
        int x = 0, y = 0;
        SDL_GetMouseState(&x, &y);
        controls_->zoom(std::pow(1.25, event.wheel.y), x, y);
        break;
      }
      case SDL_MOUSEBUTTONDOWN:
        if (event.button.button != SDL_BUTTON_LEFT) break;
        pressed_at_ = {event.button.x, event.button.y};
        is_dragged_ = false;
        break;
      case SDL_MOUSEMOTION:
        if ((event.motion.state & SDL_BUTTON_LMASK) == 0) break;
        is_dragged_ = is_dragged_ || std::abs(event.motion.x - pressed_at_.x) > kDragThreshold ||
                      std::abs(event.motion.y - pressed_at_.y) > kDragThreshold;
        if (is_dragged_) controls_->drag(event.motion.xrel, event.motion.yrel);
        break;
      case SDL_MOUSEBUTTONUP:
        if (event.button.button == SDL_BUTTON_LEFT && !is_dragged_) select(event.button.x, event.button.y);
        if (event.button.button == SDL_BUTTON_RIGHT) selected_.clear();
        break;
      default: break;
    }
  }

  void handle_key(SDL_Keycode key) {
    const Viewport& viewport = controls_->viewport();
    switch (key) {
      case SDLK_SPACE: controls_->toggle_pause(); break;
      case SDLK_n: controls_->single_step(); break;
      case SDLK_PLUS:
      case SDLK_EQUALS:
      case SDLK_KP_PLUS: controls_->faster(); break;
      case SDLK_MINUS:
      case SDLK_KP_MINUS: controls_->slower(); break;
      case SDLK_PAGEUP: controls_->zoom(1.25, viewport.width / 2.0, viewport.height / 2.0); break;
      case SDLK_PAGEDOWN: controls_->zoom(0.8, viewport.width / 2.0, viewport.height / 2.0); break;
      case SDLK_LEFT: controls_->drag(viewport.width / 10.0, 0); break;
      case SDLK_RIGHT: controls_->drag(-viewport.width / 10.0, 0); break;
      case SDLK_UP: controls_->drag(0, viewport.height / 10.0); break;
      case SDLK_DOWN: controls_->drag(0, -viewport.height / 10.0); break;
      case SDLK_0:
      case SDLK_HOME: controls_->fit(); break;
      case SDLK_s: save_picture(); break;
      case SDLK_h: shows_help_ = !shows_help_; break;
      case SDLK_q: is_closed_ = true; break;
      case SDLK_ESCAPE: selected_.clear(); break;
      default: break;
    }
  }

  void select(int column, int row) {
    const Viewport& viewport = controls_->viewport();
    const double x = viewport.x_of(column + 0.5);
    const double y = viewport.y_of(row + 0.5);
    dynasoar::Columns objects = simulation_->columns();
    program_->place(objects);
    selected_ = describe_objects_at(objects, world_, x, y, 12 / viewport.scale);
    selected_.insert(selected_.begin(), fmt::format("after step {}", step_));
    selected_x_ = x;
    selected_y_ = y;
  }

  Picture picture() {
    simulation_->paint(controls_->viewport());
    return simulation_->painted();
  }

  void save_picture() {
    const std::string path = fmt::format("{}-{:06}.png", program_->description().name, step_);
    try {
      picture().save_png(path);
      message_ = "saved " + path;
    } catch (const std::exception& error) {
      message_ = error.what();
    }
  }

  void measure_speed(Clock::time_point now) {
    if (now - speed_since_ < kSpeedInterval) return;
    speed_ = steps_since_ / std::chrono::duration<double>(now - speed_since_).count();
    steps_since_ = 0;
    speed_since_ = now;
    has_news_ = true;
  }

  std::string status() const {
    std::string text = fmt::format("step {} of {}   seed {}   ", step_, steps_, program_->seed());
    if (step_ >= steps_) {
      text += "done";
    } else if (controls_->is_paused()) {
      text += "paused";
    } else {
      text += fmt::format("{:.0f} steps/s", speed_);
    }
    if (const std::optional<int> limit = controls_->steps_per_second()) text += fmt::format(", at most {}", *limit);
    if (!message_.empty()) text += "   " + message_;
    return text;
  }

  void draw() {
    has_news_ = false;
    const Viewport viewport = controls_->viewport();
    const CairoSurface image = image_of(picture());
    const CairoContext context(cairo_create(image.get()));
    draw_text(context.get(), 0, 0, {status()});
    if (shows_help_) draw_text(context.get(), 0, viewport.height - kLine - kMargin, {kHelp});
    if (!selected_.empty()) {
      draw_text(context.get(), 0, 2 * kLine, selected_);
      cairo_new_path(context.get());
      cairo_arc(context.get(), viewport.column_of(selected_x_), viewport.row_of(selected_y_), 12, 0, 2 * M_PI);
      cairo_set_source_rgb(context.get(), 1, 1, 1);
      cairo_set_line_width(context.get(), 2);
      cairo_stroke(context.get());
    }
    cairo_surface_flush(image.get());
    show(image, viewport.width, viewport.height);
  }

  void show(const CairoSurface& image, int width, int height) {
    if (!texture_ || texture_width_ != width || texture_height_ != height) {
      texture_.reset(
          SDL_CreateTexture(renderer_.get(), SDL_PIXELFORMAT_RGB888, SDL_TEXTUREACCESS_STREAMING, width, height));
      if (!texture_) fail("draw in a window");
      texture_width_ = width;
      texture_height_ = height;
    }
    SDL_UpdateTexture(texture_.get(), nullptr, cairo_image_surface_get_data(image.get()),
                      cairo_image_surface_get_stride(image.get()));
    SDL_RenderCopy(renderer_.get(), texture_.get(), nullptr, nullptr);
    SDL_RenderPresent(renderer_.get());
  }

  Program* program_ = nullptr;
  Simulation* simulation_ = nullptr;
  World world_{};
  int steps_ = 0;
  SdlPointer<SDL_Window> window_;
  SdlPointer<SDL_Renderer> renderer_;
  SdlPointer<SDL_Texture> texture_;
  int texture_width_ = 0;
  int texture_height_ = 0;

  std::optional<ViewControls> controls_;
  int step_ = 0;
  bool is_closed_ = false;
  bool has_news_ = false;
  bool shows_help_ = true;
  Clock::time_point next_picture_{};
  SDL_Point pressed_at_{};
  bool is_dragged_ = false;

  std::vector<std::string> selected_;  // the description of the object that was clicked on
  double selected_x_ = 0;
  double selected_y_ = 0;
  std::string message_;

  Clock::time_point speed_since_ = Clock::now();
  int steps_since_ = 0;
  double speed_ = 0;
};

View::View() : window_(std::make_unique<Window>()) {}

void View::open(Program& program, Simulation& simulation, int steps) {
  window_->open(program, simulation, steps);
}

bool View::wait(int step) {
  return window_->wait(step);
}

}  // namespace app

#else

namespace app {

class View::Window {};

View::View() {
  throw UsageError(
      "--view: this program was built without SDL2 (libsdl2-dev); --frames and --animation write pictures");
}
void View::open(Program&, Simulation&, int) {}
bool View::wait(int) {
  return false;
}

}  // namespace app

#endif

namespace app {

View::~View() = default;

}  // namespace app
