// SPDX-License-Identifier: Apache-2.0
// Which recording to open: a path to type into, those that were opened last, and what lies in the
// folder.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/core/load/latest_task.h"
#include "viewer/core/session/folder_list.h"
#include "viewer/core/timeline/keys.h"
#include "viewer/ui/widgets/widgets.h"

struct ImGuiInputTextCallbackData;

namespace traceinject {

class OpenDialog {
 public:
  OpenDialog();

  // Every frame while it is open. `keys`: as ViewerUi::Frame. The path that was chosen, if any; the
  // dialog is to be closed then.
  std::optional<std::string> Draw(const std::vector<KeyPress>& keys,
                                  const std::vector<std::string>& recent, Controls& controls);
  // The next time it begins in the folder where it was.
  void Close() { open_ = false; }

  // Whether a folder is being read.
  bool busy() const { return task_.busy(); }
  void Wait() const { task_.Wait(); }
  std::string text() const { return text_.data(); }

 private:
  void SetText(const std::string& text);
  void DrawPath(Controls& controls);
  std::optional<std::string> DrawRecent(const std::vector<std::string>& recent, Controls& controls);
  std::optional<std::string> DrawFolder(Controls& controls);
  std::optional<std::string> TakeKey(const KeyPress& press);
  // Opens a recording, goes into a folder.
  std::optional<std::string> Take(const FolderEntry& entry);
  std::optional<std::string> TakeTyped();
  static int EditText(ImGuiInputTextCallbackData* data);

  std::string home_;
  bool open_ = false, focus_ = false;
  std::array<char, 4096> text_ = {};
  bool changed_ = false;  // text_ by us, which ImGui has to be told
  LatestTask<std::string, FolderList> task_;
  std::shared_ptr<const FolderList> list_;  // of the folder that was typed; null: not read yet
  std::vector<std::size_t> found_;          // entries of it that begin as typed
  std::optional<std::size_t> chosen_;       // of these
};

}  // namespace traceinject
