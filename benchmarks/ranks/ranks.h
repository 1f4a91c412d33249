/// @file
/// The benchmarks of dynasoar-benchmark-ranks, whose ranks run one model together.
#pragma once

#include <string>
#include <vector>

#include "../report.h"

namespace benchmarks {

/// What all ranks measure together: by name, "exchange" and "wa_tor", with each transport of ghosts that is possible.
/// @return   the records, on rank 0; nothing on the others. Rank 0 prints why a transport is impossible
std::vector<Record> run_on_ranks(const std::vector<std::string>& names, const Settings& settings);

}  // namespace benchmarks
