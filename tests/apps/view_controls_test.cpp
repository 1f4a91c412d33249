// What a window of a program shows: which part of the world, when, and what is said about a place of it.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <app/object_at.h>
#include <app/view_controls.h>

namespace {

TEST_CASE("a viewport of the whole world has it in its middle") {
  const app::Viewport cells = app::whole({-10, -20, 100, 50}, 400, 400);
  CHECK(cells.scale == 4);
  CHECK(cells.x_of(0) == -10);
  CHECK(cells.y_of(200) == 5);
  CHECK(cells.row_of(5) == 200);
  const app::Viewport points = app::whole({0, 8, 8, 8, true}, 160, 80);
  CHECK(points.scale == 10);
  CHECK(points.x_of(80) == 4);
  CHECK(points.y_of(0) == 8);
  CHECK(points.y_of(80) == 0);
}

TEST_CASE("zooming and dragging keep what is under the mouse there") {
  for (const bool y_up : {false, true}) {
    app::ViewControls controls({0, y_up ? 50.0 : 0.0, 100, 50, y_up}, 1000, 500);
    const app::Viewport start = controls.viewport();
    const double x = start.x_of(300), y = start.y_of(100);
    controls.zoom(2, 300, 100);
    CHECK(controls.viewport().scale == 20);
    CHECK(controls.viewport().column_of(x) == doctest::Approx(300));
    CHECK(controls.viewport().row_of(y) == doctest::Approx(100));
    controls.drag(40, -30);
    CHECK(controls.viewport().column_of(x) == doctest::Approx(340));
    CHECK(controls.viewport().row_of(y) == doctest::Approx(70));
    const double middle = controls.viewport().y_of(250);
    controls.resize(800, 600);
    CHECK(controls.viewport().y_of(300) == doctest::Approx(middle));
    controls.zoom(1e9, 0, 0);
    CHECK(controls.viewport().scale == 640);
    controls.zoom(1e-9, 0, 0);
    CHECK(controls.viewport().scale == start.scale / 16);
    controls.resize(1000, 500);
    controls.fit();
    CHECK(controls.viewport() == start);
  }
}

TEST_CASE("pause, single steps and speed decide when the next step is made") {
  using Clock = app::ViewControls::Clock;
  app::ViewControls controls({0, 0, 1, 1}, 10, 10);
  const Clock::time_point now = Clock::now();
  CHECK(controls.next_step() <= now);
  controls.toggle_pause();
  CHECK(controls.next_step() == std::nullopt);
  controls.single_step();
  CHECK(controls.next_step() <= now);
  controls.step_begins(now);
  CHECK(controls.is_paused());
  CHECK(controls.next_step() == std::nullopt);
  controls.toggle_pause();
  controls.slower();
  controls.slower();
  CHECK(controls.steps_per_second() == 512);
  controls.step_begins(now);
  CHECK(controls.next_step() == now + std::chrono::nanoseconds(1953125));
  controls.faster();
  CHECK(controls.steps_per_second() == 1024);
  controls.faster();
  CHECK(controls.steps_per_second() == std::nullopt);
  CHECK(controls.next_step() <= now);
  for (int i = 0; i < 20; ++i) controls.slower();
  CHECK(controls.steps_per_second() == 1);
}

TEST_CASE("what is at a place is described with all its fields") {
  dynasoar::Columns fish{"Fish", 3, {}};
  fish.columns.push_back(dynasoar::make_column<std::int64_t>("id", {7, 8, 9}));
  fish.columns.push_back(dynasoar::make_column<float>("energy_", {0.5f, 1, 2}));
  fish.columns.push_back(dynasoar::make_column<int>("x", {1, 2, 2}));
  fish.columns.push_back(dynasoar::make_column<int>("y", {5, 5, 5}));
  using Lines = std::vector<std::string>;
  const app::World cells{0, 0, 10, 10};
  CHECK(app::describe_objects_at(fish, cells, 1.9, 5.1, 0) ==
        Lines{"cell (1, 5)", "Fish", "  id = 7", "  energy_ = 0.5"});
  CHECK(app::describe_objects_at(fish, cells, 2.5, 5.5, 0).size() == 7);  // both that are there
  CHECK(app::describe_objects_at(fish, cells, 3.5, 5.5, 0) == Lines{"cell (3, 5)", "nothing here"});
  const app::World plane{0, 10, 10, 10, true};
  CHECK(app::describe_objects_at(fish, plane, 1.2, 5, 0.3) == Lines{"(1.2, 5)", "Fish", "  id = 7", "  energy_ = 0.5"});
  CHECK(app::describe_objects_at(fish, plane, 1.4, 5, 0.3) == Lines{"(1.4, 5)", "nothing here"});
  CHECK(app::describe_objects_at(fish, plane, 1, 4.5, 0.5)[1] == "Fish");    // as far away as one may be
  CHECK(app::describe_objects_at(fish, plane, 1.2, 5, 5)[2] == "  id = 7");  // of several, the nearest
  fish.columns.push_back(dynasoar::make_column<std::uint8_t>("class", {0, 1, 1}));
  fish.columns.back().labels = {"Fish", "Shark"};
  fish.columns.push_back(dynasoar::make_column<int>("bites_", {1, 2, 3, 4, 5, 6}));
  fish.columns.back().components = 2;
  CHECK(app::describe_objects_at(fish, plane, 2, 5, 0.3) ==
        Lines{"(2, 5)", "Shark", "  id = 9", "  energy_ = 2", "  bites_ = 5, 6"});
}

}  // namespace
