// SPDX-License-Identifier: Apache-2.0
// What holds of every report, whatever the recording is like. Nonsense is as much of a fault as a
// crash.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "schemas/report.pb.h"

namespace traceinject {

// What does not hold, a line each: shares of 0 to 1, percentages of 0 to 100, lengths and counts
// that are not negative, numbers that are numbers, text that a terminal and JSON can show.
std::string WrongFigures(const google::protobuf::Message& message);

// That, and what adds up: partitions of time, steps with their idle time, the waterfall.
std::string WrongReport(const proto::Report& report);

// Text for people: no control characters but line ends, and no figure that is no number. Where
// `names`, which is all that was read, has such a word, it may be a name.
std::string WrongText(std::string_view text, std::string_view names = {});

}  // namespace traceinject
