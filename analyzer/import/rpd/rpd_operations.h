// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyzer/import/rpd/rpd_reader.h"

namespace traceinject {

// Kernels, copies and memsets of a rocmProfileData trace, after its calls. Counts the copies of
// which no size is told.
Status ReadRpdOperations(RpdReader& reader, std::int64_t& unsized_copies);

}  // namespace traceinject
