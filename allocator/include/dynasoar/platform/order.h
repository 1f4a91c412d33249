/// @file
/// The memory orders of atomic operations.
#pragma once

namespace dynasoar {

/// Memory orders of AtomicWord's operations. A comment at each use other than `relaxed` names its partner.
enum class Order { relaxed, acquire, release, acq_rel };

}  // namespace dynasoar
