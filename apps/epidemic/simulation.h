/// @file
/// The interface of all implementations of the epidemic, and the functions that create them: the DSL variant, the
/// hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is plain
/// C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/simulation.h>

namespace epidemic {

enum class State : std::uint8_t { susceptible, infected, recovered };

/// A person as the host sees it.
struct PersonState {
  std::uint64_t number = 0;  ///< for life, a dynasoar::Identity
  float x = 0, y = 0;        ///< position
  State state = State::susceptible;

  bool operator==(const PersonState&) const = default;
};

/// The parameters of the model. Probabilities are those of a step. README.md defines the model.
///
/// @pre the probabilities are from 0 to 1, and so is births + deaths
struct Parameters : app::RunParameters {
  std::vector<PersonState> initial;  ///< numbers differ, and are not 0; positions in [0, side)^2
  float side = 0;                    ///< of the world, a torus; at least kLeastSide
  float stride = 0.25f;              ///< greatest distance of a walk along each axis in a step; at most side / 2
  double infection = 0.03;           ///< probability that an infected person infects a susceptible one in contact
  double recovery = 0.05;            ///< probability that an infection ends
  double fatality = 0;               ///< probability that the end of an infection is the person's death
  double births = 0.0005;            ///< probability that a person has a child
  double deaths = 0.0005;            ///< probability that a person dies, infected or not
  std::uint64_t room = 0;            ///< the greatest number of people; 0: room_for(people at the start)
  std::uint64_t seed = 42;
};

/// The least side of a world.
inline constexpr float kLeastSide = 5;

/// The default of the greatest number of people.
constexpr std::uint64_t room_for(std::uint64_t people) {
  return 2 * people + 4096;
}
std::uint64_t room_of(const Parameters& parameters);

/// The side of a world in which this number of people, at random places, have `contacts` others in contact on average.
float side_for(std::uint32_t people, double contacts);

/// People at random places, of whom the first `patients` are infected. README.md defines the random numbers.
/// @pre patients <= people
std::vector<PersonState> random_people(std::uint32_t people, std::uint32_t patients, float side, std::uint64_t seed);

/// Numbers of people.
struct Census {
  std::uint64_t susceptible = 0;
  std::uint64_t infected = 0;
  std::uint64_t recovered = 0;

  std::uint64_t people() const { return susceptible + infected + recovered; }
  bool operator==(const Census&) const = default;
};

/// The same as real numbers.
struct Population {
  double susceptible = 0;
  double infected = 0;
  double recovered = 0;
};

/// The solution of the well-mixed equations of README.md at the start and after every step.
///
/// @param parameters   all but `stride`; `initial` says how dense people are at the start
/// @param start        the numbers of people at the start
std::vector<Population> well_mixed(const Parameters& parameters, const Population& start, std::size_t steps);

/// A running simulation of an epidemic.
class Simulation : public app::Simulation {
 public:
  /// The numbers noted since the last call, oldest first.
  ///
  /// @throws std::runtime_error if there were more people than there is room for
  virtual std::vector<Census> take_history() = 0;

  /// All people, by number. Waits. @throws std::runtime_error as take_history()
  virtual std::vector<PersonState> people() = 0;
};

/// @throws std::runtime_error if there are more people than `room`
void check_room(std::uint64_t people, std::uint64_t room);

/// With the DSL: people are objects.
std::unique_ptr<Simulation> make_people(const Parameters& parameters);
/// Hand-written: people are in slots, with a list of free slots and an array for every member of a person.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// The same with a single array of people.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host: every susceptible person reads all infected ones. The definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace epidemic
