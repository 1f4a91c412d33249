/// @file
/// The implementations of collision. Plain C++.
#pragma once

#include <memory>

#include "bodies/simulation.h"

namespace collision {

using bodies::Parameters;
using bodies::Simulation;

/// In seconds.
inline constexpr float kTimeStep = 0.05f;
/// Bodies that are closer merge.
inline constexpr float kMergeDistance = 0.005f;
/// Masses of random bodies, in kg.
inline constexpr float kLeastMass = 37.5f;
inline constexpr float kMostMass = 75;

/// With the DSL: bodies are objects.
std::unique_ptr<Simulation> make_objects(const Parameters& parameters);
/// Hand-written, an array for every member of a body.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// Hand-written, an array of bodies.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host, in double precision: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace collision
