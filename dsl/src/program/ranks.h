/// @file
/// What has gone wrong, as ranks tell each other, and what ranks add up. Used by run_program and Run.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include <dynasoar/program/simulation.h>

namespace dynasoar::program {

/// What an exception says to the user.
std::string text_of(const std::exception& error);

/// Replaces what a rank uses by what all ranks use.
void add_up(Ranks& ranks, std::optional<Usage>& usage);

}  // namespace dynasoar::program
