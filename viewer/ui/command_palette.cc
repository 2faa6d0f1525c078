// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/command_palette.h"

#include <imgui.h>

#include <algorithm>
#include <string>
#include <utility>

namespace traceinject {
namespace {

constexpr float kWidthEms = 32, kKeysAtEms = 20, kListLines = 14;

void PutText(std::string_view text) {
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

}  // namespace

std::optional<CommandId> CommandPalette::Draw(const std::vector<KeyPress>& keys, ShownIn place) {
  const ImGuiIO& io = ImGui::GetIO();
  const float em = ImGui::GetFontSize();
  const float width = std::min(kWidthEms * em, io.DisplaySize.x - 2 * em);
  ImGui::SetNextWindowPos({(io.DisplaySize.x - width) / 2, 3 * em});
  ImGui::SetNextWindowSize({width, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  ImGui::Begin(
      "palette", nullptr,
      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  if (!std::exchange(open_, true)) {
    text_.fill(0);
    chosen_ = 0;
    ImGui::SetKeyboardFocusHere();
    ImGui::SetWindowFocus();
  }
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##command", "type a command", text_.data(), text_.size())) {
    chosen_ = 0;
  }
  const std::vector<const Command*> commands = CommandsMatching(text_.data(), place);
  std::optional<CommandId> run;
  bool moved = false;
  for (const KeyPress& press : keys) {
    if (press.key == Key::kDown && chosen_ + 1 < commands.size()) ++chosen_;
    if (press.key == Key::kUp && chosen_ > 0) --chosen_;
    moved |= press.key == Key::kDown || press.key == Key::kUp;
    if (press.key == Key::kEnter && chosen_ < commands.size()) run = commands[chosen_]->id;
  }
  ImGui::BeginChild("commands", {0, kListLines * ImGui::GetTextLineHeightWithSpacing()});
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Command& command = *commands[i];
    if (ImGui::Selectable(("##" + std::string(command.name)).c_str(), i == chosen_)) {
      run = command.id;
    }
    if (i == chosen_ && moved) ImGui::SetScrollHereY();
    DrawLine(command);
  }
  ImGui::EndChild();
  ImGui::Separator();
  ImGui::PushTextWrapPos(0);
  PutText(chosen_ < commands.size() ? commands[chosen_]->help : "no matching command");
  ImGui::PopTextWrapPos();
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (run) Close();
  return run;
}

// Title and keys, over the selectable of the same line.
void CommandPalette::DrawLine(const Command& command) {
  const float em = ImGui::GetFontSize();
  ImGui::SameLine(em / 2);
  PutText(command.title);
  ImGui::SameLine(kKeysAtEms * em);
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
  PutText(KeysOf(command));
  ImGui::PopStyleColor();
}

}  // namespace traceinject
