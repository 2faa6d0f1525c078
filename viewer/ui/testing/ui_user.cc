// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/testing/ui_user.h"

#include <algorithm>

namespace traceinject {

std::string UiUser::SelectedRow() const {
  return timeline().selection() ? timeline().model().rows[timeline().selection()->row].label : "";
}

std::uint32_t UiUser::RowOf(const std::string& label) const {
  const std::vector<Row>& rows = timeline().model().rows;
  const auto found = std::ranges::find(rows, label, &Row::label);
  if (found != rows.end()) return static_cast<std::uint32_t>(found - rows.begin());
  ADD_FAILURE() << "no row " << label;
  return 0;
}

MousePlace UiUser::Origin() const {
  return {ui().timeline_origin().first, ui().timeline_origin().second};
}

MousePlace UiUser::Place(const std::string& label, TimeNs time, std::size_t lane) const {
  const auto [x, y] = Origin();
  return {x + timeline().Plot().left + timeline().view().X(time),
          y + timeline().LaneTop(RowOf(label), lane) + 4};
}

void UiUser::Click(const MousePlace& at, int button) {
  MoveTo(at);
  SetButton(true, button);
  SetButton(false, button);
  Rest();
}

void UiUser::Drag(const MousePlace& from, const MousePlace& to, int button) {
  MoveTo(from);
  SetButton(true, button);
  MoveTo({(from.x + to.x) / 2, (from.y + to.y) / 2});
  MoveTo(to);
  SetButton(false, button);
  Rest();
}

}  // namespace traceinject
