/// @file
/// The whole library: `#include <dynasoar/dynasoar.h>`. See README.md for an example and docs/ for the guide.
#pragma once

#include <dynasoar/allocator_handle.h>
#include <dynasoar/checkpoint.h>
#include <dynasoar/columns.h>
#include <dynasoar/detail/field_functions.h>
#include <dynasoar/detail/field_names.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/objects.h>
#include <dynasoar/reduce.h>
#include <dynasoar/soa_base.h>
#include <dynasoar/soa_field.h>
#include <dynasoar/statistics.h>
#include <dynasoar/step_value.h>
#include <dynasoar/version.h>
