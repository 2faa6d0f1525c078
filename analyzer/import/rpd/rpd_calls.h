// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/rpd/rpd_reader.h"

namespace traceinject {

// Calls, markers and ranges of a rocmProfileData trace: all of them are rows of rocpd_api.
Status ReadRpdCalls(RpdReader& reader);

}  // namespace traceinject
