// SPDX-License-Identifier: Apache-2.0
// The way back from a GPU of a report to the run that the report is about.
#pragma once

#include "analyzer/model/run.h"
#include "schemas/report.pb.h"

namespace traceinject {

// Null: the process has no operations on such a GPU. O(devices of the process).
const Device* DeviceOf(const Run& run, const proto::DeviceReport& reported);

}  // namespace traceinject
