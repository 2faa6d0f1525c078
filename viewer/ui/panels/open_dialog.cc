// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/open_dialog.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/common/units.h"
#include "viewer/core/session/environment_variable.h"

namespace traceinject {
namespace {

constexpr float kWidthEms = 44, kListLines = 14;
constexpr float kBytesEms = 7;  // of the column at the right

std::string DetailOf(const FolderEntry& entry) {
  if (entry.is_folder) return "folder";
  const std::string bytes = FormatBytes(static_cast<std::int64_t>(entry.bytes));
  return entry.ranks == 1 ? bytes : fmt::format("{} ranks, {}", entry.ranks, bytes);
}

// A line that can be clicked, with a dim text at the right edge.
bool PutChoice(const std::string& id, const std::string& text, const std::string& detail,
               bool chosen, Controls& controls) {
  const float detail_px = std::max(kBytesEms * ImGui::GetFontSize(),
                                   ImGui::CalcTextSize(detail.c_str()).x + ImGui::GetFontSize());
  const float detail_left = ImGui::GetContentRegionMax().x - detail_px;
  const bool clicked = ImGui::Selectable(("##" + id).c_str(), chosen);
  controls.NoteItem(id);
  ImGui::SameLine(ImGui::GetFontSize());
  const float room =
      detail.empty() ? ImGui::GetContentRegionAvail().x : detail_left - ImGui::GetCursorPosX();
  PutCut(ImGui::GetStyleColorVec4(ImGuiCol_Text), OneLine(text, 500), room);
  if (!detail.empty()) {
    ImGui::SameLine(detail_left);
    PutColored(DimColor(), detail);
  }
  return clicked;
}

}  // namespace

OpenDialog::OpenDialog()
    : home_(EnvironmentVariable("HOME")),
      task_([](const std::string& folder, const std::atomic<bool>&) {
        return std::optional(ReadFolderList(folder));
      }) {}

void OpenDialog::SetText(const std::string& text) {
  if (text.size() >= text_.size()) return;
  text_.fill(0);
  std::copy(text.begin(), text.end(), text_.begin());
  changed_ = focus_ = true;
  chosen_.reset();
}

// ImGui keeps a text of its own while one types into it.
int OpenDialog::EditText(ImGuiInputTextCallbackData* data) {
  auto& self = *static_cast<OpenDialog*>(data->UserData);
  if (!std::exchange(self.changed_, false)) return 0;
  data->DeleteChars(0, data->BufTextLen);
  data->InsertChars(0, self.text_.data());
  data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
  return 0;
}

void OpenDialog::DrawPath(Controls& controls) {
  if (std::exchange(focus_, false)) {
    ImGui::SetKeyboardFocusHere();
    changed_ = true;  // ImGui selects all of what gets the focus, and the next letter replaces it
  }
  ImGui::SetNextItemWidth(-1);
  const std::array<char, 4096> before = text_;
  // Tab completes: it is not to go to the next item.
  const ImGuiInputTextFlags flags =
      ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_CallbackCompletion;
  std::array<char, 4096> edited = text_;
  if (ImGui::InputTextWithHint("##path", "path of a recording or a folder", edited.data(),
                               edited.size(), flags, EditText, this) &&
      edited != before) {
    text_ = edited;
    chosen_.reset();
  }
  controls.NoteItem("open: path");
}

std::optional<std::string> OpenDialog::DrawRecent(const std::vector<std::string>& recent,
                                                  Controls& controls) {
  if (recent.empty()) return std::nullopt;
  std::optional<std::string> chosen;
  ImGui::Spacing();
  PutColored(DimColor(), "Opened before");
  for (std::size_t i = 0; i < recent.size(); ++i) {
    if (PutChoice(fmt::format("open: recent {}", i), recent[i], "", false, controls))
      chosen = recent[i];
  }
  return chosen;
}

std::optional<std::string> OpenDialog::DrawFolder(Controls& controls) {
  std::optional<std::string> taken;
  const std::string text = text_.data();
  const std::string folder = SplitTyped(text, home_).folder;
  ImGui::Spacing();
  PutCut(DimColor(), folder == "." ? "In this folder" : "In " + OneLine(folder, 500));
  ImGui::BeginChild("folder", {0, kListLines * ImGui::GetTextLineHeightWithSpacing()});
  const bool up = SplitTyped(text, home_).start.empty() &&
                  PutChoice("open: ../", "../", "folder above", false, controls);
  if (up) SetText(WithEntry(text, {"..", true}));
  if (list_ == nullptr) {
    PutColored(DimColor(), "Reading the folder...");
  } else if (!list_->readable) {
    PutColored(WarningColor(), "There is no such folder, or it cannot be read.");
  } else if (list_->entries.empty()) {
    PutColored(DimColor(), "No folder and no recording is here.");
  } else if (found_.empty()) {
    PutColored(DimColor(), "No folder and no recording here begins so.");
  }
  for (std::size_t i = 0; i < found_.size() && !up; ++i) {
    const FolderEntry& entry = list_->entries[found_[i]];
    const std::string name = entry.name + (entry.is_folder ? "/" : "");
    if (PutChoice("open: " + name, name, DetailOf(entry), chosen_ == i, controls))
      taken = Take(entry);
    if (chosen_ == i) ImGui::SetScrollHereY();
    if (text_.data() != text) break;  // another folder
  }
  ImGui::EndChild();
  return taken;
}

std::optional<std::string> OpenDialog::Take(const FolderEntry& entry) {
  const std::string path = WithEntry(text_.data(), entry);
  if (entry.is_folder) {
    SetText(path);
    return std::nullopt;
  }
  const TypedPath typed = SplitTyped(path, home_);
  return typed.folder == "." ? typed.start : typed.folder + typed.start;
}

// A folder with recordings is a run of several ranks.
std::optional<std::string> OpenDialog::TakeTyped() {
  const TypedPath typed = SplitTyped(text_.data(), home_);
  if (typed.start.empty()) {
    const bool has_recordings =
        list_ != nullptr && std::any_of(list_->entries.begin(), list_->entries.end(),
                                        [](const FolderEntry& entry) { return !entry.is_folder; });
    if (!has_recordings) return std::nullopt;
    return typed.folder;
  }
  for (const std::size_t index : found_) {
    const FolderEntry& entry = list_->entries[index];
    if (entry.is_folder && entry.name == typed.start) return Take(entry);
  }
  return typed.folder == "." ? typed.start : typed.folder + typed.start;
}

std::optional<std::string> OpenDialog::TakeKey(const KeyPress& press) {
  if (press.key == Key::kTab && list_ != nullptr) {
    const std::string completed = Completed(text_.data(), *list_);
    if (completed != text_.data()) SetText(completed);
  } else if (press.key == Key::kDown && !found_.empty()) {
    chosen_ = std::min(chosen_ ? *chosen_ + 1 : 0, found_.size() - 1);
  } else if (press.key == Key::kUp && chosen_) {
    chosen_ = *chosen_ == 0 ? std::nullopt : std::optional(*chosen_ - 1);
  } else if (press.key == Key::kEnter) {
    return chosen_ ? Take(list_->entries[found_[*chosen_]]) : TakeTyped();
  }
  return std::nullopt;
}

std::optional<std::string> OpenDialog::Draw(const std::vector<KeyPress>& keys,
                                            const std::vector<std::string>& recent,
                                            Controls& controls) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const Sizes sizes = ScreenSizes();
  const float width = std::min(kWidthEms * sizes.font, screen.x - 2 * sizes.screen_margin);
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, screen.y - 2 * sizes.screen_margin});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(sizes.box_pad_x, sizes.box_pad_y));
  ImGui::Begin("open", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse |
                   ImGuiWindowFlags_AlwaysAutoResize);
  if (!std::exchange(open_, true)) {
    focus_ = true;
    ImGui::SetWindowFocus();
  }
  task_.Ask(SplitTyped(text_.data(), home_).folder);
  const auto answer = task_.answer();
  const bool is_read =
      answer != nullptr && answer->folder == SplitTyped(text_.data(), home_).folder;
  list_ = is_read ? answer : nullptr;
  found_.clear();
  if (list_ != nullptr) found_ = EntriesStarting(*list_, SplitTyped(text_.data(), home_).start);
  if (chosen_ && *chosen_ >= found_.size()) chosen_.reset();
  std::optional<std::string> taken;
  for (const KeyPress& press : keys) {
    if (!taken) taken = TakeKey(press);
  }
  Put("Open a recording");
  DrawPath(controls);
  if (auto recently = DrawRecent(recent, controls)) taken = std::move(recently);
  if (auto clicked = DrawFolder(controls)) taken = std::move(clicked);
  ImGui::Spacing();
  PutWrapped(DimColor(),
             "Tab completes the path, Up and Down choose, Enter opens. A folder stands for all "
             "recordings in it. Files and folders can be dropped onto the window.");
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  if (taken) Close();
  return taken;
}

}  // namespace traceinject
