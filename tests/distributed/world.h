// The Communicator of all ranks, which tests share.
#pragma once

#include <dynasoar/distributed.h>

dynasoar::Communicator& world();
