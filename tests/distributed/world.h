// The Communicator of all ranks, which tests share.
#pragma once

#include <dynasoar/detail/communicator.h>

dynasoar::Communicator& world();
