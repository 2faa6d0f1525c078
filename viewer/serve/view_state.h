// SPDX-License-Identifier: Apache-2.0
// What a viewer shows beyond the link: how it looks, which panels are open, the measured range,
// rows, the filter, marks. A page gives it back after its connection broke.
//   theme=dark&colors=class&panels=details,help&tab=Verdict&filter=nccl&measure=1s..2s&kept={...}
// `kept` is what would be in the file beside the recording.
#pragma once

#include <string>
#include <string_view>

#include "viewer/ui/viewer_ui.h"

namespace traceinject {

// Empty until something is shown. O(rows log rows + marks).
std::string ViewState(const ViewerUi& ui);

// As far as it is understood. `keeps`: marks and rows too.
void RestoreViewState(std::string_view state, bool keeps, ViewerUi& ui);

}  // namespace traceinject
