/// @file
/// The version of the library, for `#if`. CMakeLists.txt reads it from here.
///
/// Semantic versioning (semver.org); before 1.0.0, programs may have to change with every minor version.
#pragma once

#define DYNASOAR_VERSION_MAJOR 0
#define DYNASOAR_VERSION_MINOR 2
#define DYNASOAR_VERSION_PATCH 0
