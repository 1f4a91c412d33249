/// @file
/// Functions for several ranks of a program: the texts of errors that they send each other, and sums over all ranks.
/// Used by run_program and Run.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include <dynasoar/program/simulation.h>

namespace dynasoar::program {

/// The text of an exception, for the user.
std::string text_of(const std::exception& error);

/// Replaces the usage of one rank by the sum over all ranks.
void add_up(Ranks& ranks, std::optional<Usage>& usage);

}  // namespace dynasoar::program
