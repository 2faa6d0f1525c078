// SPDX-License-Identifier: Apache-2.0
// Named values as one text, as at the end of an address: a=b&c=d.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/model/run.h"

namespace traceinject {

// Appends one; `value` as it is to stand there.
void AddToLink(std::string_view name, std::string_view value, std::string& link);
// Values with %20 and the like decoded; what is not such a part is left out.
std::map<std::string, std::string> LinkParts(std::string_view link);

// "1s..2s". Empty: not two times of which the first one is earlier; neither is farther away than
// any recording reaches.
std::optional<std::pair<TimeNs, TimeNs>> TimesOfLink(std::string_view text);
// Empty: none.
std::optional<TimeNs> TimeOfLink(std::string_view text);

}  // namespace traceinject
