// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/legend.h"

#include <string>

#include "analyzer/model/kernel_class.h"
#include "viewer/ui/imgui_canvas.h"
#include "viewer/ui/widgets.h"

namespace traceinject {

void DrawLegend(const RowModel& model) {
  const float size = ImGui::GetFontSize();
  for (const KernelClass kernel_class : model.kernel_classes) {
    const std::string title(KernelClassTitle(kernel_class));
    const float width = size + ImGui::CalcTextSize(title.c_str()).x + 2 * size;
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + 2}, {at.x + size - 4, at.y + size - 2},
                                              ToImGui(FillColour(InkOf(kernel_class))));
    ImGui::Dummy({size - 4, size});
    ImGui::SameLine(0, 5);
    PutColoured(kDim, title);
    ImGui::SameLine(0, size);
  }
  ImGui::NewLine();
}

}  // namespace traceinject
