// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "schemas/report.pb.h"

namespace traceinject {

// What to change about the lines of Verdict.code, by what stands there: what is called of which
// library, and the text of the line where its file is there and was not changed since the recording
// began (ns since the epoch). Of host_code all lines; of other labels those that do what is known
// to be slow, before all other levers. O(bytes of the files).
void AddCodeLevers(std::int64_t recorded_at_ns, proto::Verdict& to);

}  // namespace traceinject
