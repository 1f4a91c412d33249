/// @file
/// The ranks that run a test, for the tests of this folder.
#pragma once

#include <dynasoar/distributed.h>

/// All processes of the test.
dynasoar::Communicator& test_communicator();
