// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/tooltip.h"

#include "analyzer/common/units.h"
#include "analyzer/view/rows/code_text.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

void DrawTooltip(const Timeline& timeline, const EventRef& ref) {
  const auto [start, end] = EventTimes(timeline.run(), timeline.model(), ref);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(40 * ImGui::GetFontSize());
  const std::string_view label = EventLabel(timeline.run(), timeline.model(), ref);
  Put(label.empty() ? "without name" : OneLine(label, 300));
  ImGui::PopTextWrapPos();
  PutColored(DimColor(),
             FormatTime(end - start) + " from " + FormatMoment(timeline.model(), start));
  if (IsOfCode(timeline.model().rows[ref.row].kind)) {
    for (const std::string& line : CodeTooltip(timeline.run(), timeline.model(), ref)) {
      PutColored(DimColor(), OneLine(line));
    }
  }
  ImGui::EndTooltip();
}

}  // namespace traceinject
