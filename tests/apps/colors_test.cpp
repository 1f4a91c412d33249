// The colours of the models. The other tests compare pictures with the constants of colors.h; these say what the
// constants are, so that no slip changes how the pictures look.

#include <doctest/doctest.h>

#include "bodies/colors.h"
#include "flocking/colors.h"
#include "forest_fire/colors.h"
#include "life/colors.h"
#include "schelling/colors.h"
#include "structure/colors.h"
#include "sugarscape/colors.h"
#include "traffic/colors.h"
#include "wa_tor/colors.h"

namespace {

using app::Rgb;

TEST_CASE("grounds have the colours of the models' pictures") {
  CHECK(bodies::kSpace == Rgb{5, 8, 18});
  CHECK(flocking::kSky == Rgb{13, 18, 32});
  CHECK(forest_fire::kSoil == Rgb{41, 33, 28});
  CHECK(life::kDeadColor == Rgb{9, 12, 28});
  CHECK(schelling::kGround == Rgb{240, 236, 228});
  CHECK(structure::kPaper == Rgb{255, 255, 255});
  CHECK(traffic::kNight == Rgb{15, 20, 32});
  CHECK(traffic::kAsphalt == Rgb{71, 83, 107});
  CHECK(wa_tor::kWater == Rgb{9, 30, 66});
}

TEST_CASE("agents have the colours of the models' pictures") {
  CHECK(forest_fire::kTree == Rgb{52, 128, 62});
  CHECK(forest_fire::kFire == Rgb{255, 149, 40});
  CHECK(life::kAliveColor == Rgb{255, 247, 214});
  CHECK(schelling::kRedRoof == Rgb{205, 72, 54});
  CHECK(schelling::kBlueRoof == Rgb{38, 92, 158});
  CHECK(structure::kAnchor == Rgb{17, 24, 39});
  CHECK(structure::kPulled == Rgb{124, 58, 237});
  CHECK(sugarscape::kMaleColor == Rgb{56, 214, 255});
  CHECK(sugarscape::kFemaleColor == Rgb{255, 84, 196});
}

TEST_CASE("shades have the colours of the models' pictures at their ends, and between") {
  CHECK(bodies::kSpeeds == bodies::SpeedColors{{{60, 110, 255}, {225, 235, 255}, {255, 170, 70}}});
  CHECK(life::kDying ==
        life::DyingColors{{{255, 183, 77}, {236, 84, 70}, {158, 42, 116}, {74, 32, 122}, {26, 24, 68}}});
  CHECK(structure::kTensions ==
        structure::TensionColors{{{200, 208, 219}, {80, 160, 210}, {238, 190, 60}, {235, 115, 35}, {200, 20, 40}}});
  CHECK(traffic::kSpeeds == traffic::SpeedColors{{{255, 70, 70}, {255, 170, 50}, {250, 235, 90}, {120, 255, 150}}});
  CHECK(flocking::kDirections == flocking::DirectionColors{{{255, 99, 99},
                                                            {255, 190, 80},
                                                            {150, 230, 110},
                                                            {70, 210, 220},
                                                            {110, 140, 255},
                                                            {225, 120, 235},
                                                            {255, 99, 99}}});
  CHECK(sugarscape::color_of(0, 0) == Rgb{24, 16, 14});
  CHECK(sugarscape::color_of(0, 0.5) == Rgb{122, 66, 18});
  CHECK(sugarscape::color_of(0, 1) == Rgb{255, 196, 84});
}

TEST_CASE("fish pale with age, and sharks brighten with energy, each up to a limit") {
  const auto fish = [](std::uint32_t age) { return wa_tor::color_of({.kind = 1, .age = age, .energy = 0}); };
  const auto shark = [](std::uint32_t energy) { return wa_tor::color_of({.kind = 2, .age = 0, .energy = energy}); };
  CHECK(fish(0) == Rgb{134, 239, 215});
  CHECK(fish(7) != fish(8));
  CHECK(fish(8) == Rgb{45, 160, 150});
  CHECK(fish(9) == fish(8));
  CHECK(shark(0) == Rgb{214, 52, 84});
  CHECK(shark(9) != shark(10));
  CHECK(shark(10) == Rgb{255, 159, 67});
  CHECK(shark(11) == shark(10));
}

}  // namespace
