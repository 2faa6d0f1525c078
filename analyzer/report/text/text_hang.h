// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/report/text/text.h"
#include "schemas/report.pb.h"

namespace traceinject {

// Where the threads of each process were last seen, those of equal stacks together: of each process
// its main thread, of that the program's own code; or `full`, all threads with all frames. Then
// what stalled. The message has last_stacks.
std::string WriteHangText(const proto::Report& report, const TextOptions& options, bool full);

}  // namespace traceinject
