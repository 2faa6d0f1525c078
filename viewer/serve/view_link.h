// SPDX-License-Identifier: Apache-2.0
// What a timeline shows, as the end of an address:
//   t=7.947s..7.988s&row=rank%200/GPU%200/stream%207%20of%20context%201&event=7.9512s
// Times as on the ruler; the row of the selected event, else the first one below the ruler if that
// is not the first of all.
#pragma once

#include <string>
#include <string_view>

#include "viewer/core/timeline/timeline.h"

namespace traceinject {

// Empty: all that there is, from the top. `names_all`: that is "t=all", since without a link
// something else is shown.
std::string ViewLink(const Timeline& timeline, bool names_all);

// What happens to a row that a link leads to and that is not shown: folded, hidden or filtered out.
enum class HiddenRow { kShow, kKeep };

// Shows what the link says, as far as it is there. What is not understood is passed over.
void FollowViewLink(std::string_view link, HiddenRow hidden, Timeline& timeline);

}  // namespace traceinject
