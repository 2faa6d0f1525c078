// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/menu_bar.h"

#include <imgui.h>

#include <string>

namespace traceinject {
namespace {

// A tick for what is shown or hidden by its command.
bool IsTicked(const Workspace& workspace, CommandId command) {
  switch (command) {
    case CommandId::kDetails:
      return workspace.IsShown(Panel::kDetails);
    case CommandId::kHelp:
      return workspace.IsShown(Panel::kHelp);
    default:
      return false;
  }
}

}  // namespace

void DrawMenus(Workspace& workspace) {
  for (const CommandGroup group :
       {CommandGroup::kFile, CommandGroup::kView, CommandGroup::kEvent, CommandGroup::kMarks,
        CommandGroup::kRows, CommandGroup::kWindow}) {
    if (!ImGui::BeginMenu(std::string(GroupTitle(group)).c_str())) continue;
    for (const Command& command : Commands()) {
      if (command.group != group || !IsOffered(command.id, workspace.place())) continue;
      const std::string title(command.title), keys = KeysOf(command);
      if (ImGui::MenuItem(title.c_str(), keys.c_str(), IsTicked(workspace, command.id))) {
        workspace.Do(command.id);
      }
    }
    ImGui::EndMenu();
  }
}

}  // namespace traceinject
