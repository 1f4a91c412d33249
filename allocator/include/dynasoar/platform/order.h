/// @file
/// The memory orders of atomic operations.
#pragma once

namespace dynasoar {

/// Memory orders of AtomicWord's operations. At each use other than `relaxed`, a comment names the operation with which
/// it pairs.
enum class Order { relaxed, acquire, release, acq_rel };

}  // namespace dynasoar
