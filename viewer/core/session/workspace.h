// SPDX-License-Identifier: Apache-2.0
// What one window works with: the timeline, the marks on it, and which panels are open. Every
// command ends here, whether it comes from a key, a menu, the palette or a script. Marks, and which
// rows are shown, are kept beside the recording.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "viewer/core/session/annotations.h"
#include "viewer/core/session/sidecar.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

// From the bottom to the top: kClear closes the last one that is open, except for the details.
enum class Panel : std::uint8_t { kDetails, kMarks, kFind, kHelp, kPalette, kOpenDialog };
inline constexpr std::size_t kPanels = 6;
std::string_view PanelName(Panel panel);

class Workspace {
 public:
  // `run`, `model` and `links` must outlive it. `sidecar_path` as in Sidecar.
  Workspace(const Run& run, const RowModel& model, const Links* links, std::string sidecar_path);
  // Goes on with what another one had, of the same recording that was read again since.
  Workspace(const Run& run, const RowModel& model, const Links* links, Workspace before);

  void Do(CommandId command);

  // See Sidecar.
  void LeaveSidecarToAnother() { sidecar_->LeaveToAnother(); }
  // Where it is shown: a window, unless told otherwise. Commands that are not offered there do
  // nothing.
  void SetPlace(ShownIn place) { place_ = place; }
  ShownIn place() const { return place_; }
  // A command that only the browser can do, and that was not taken yet.
  std::optional<CommandId> TakeForBrowser() { return std::exchange(for_browser_, std::nullopt); }

  // The window is to be closed.
  bool wants_quit() const { return wants_quit_; }

  // Times relative to the first GPU operation, as on the ruler; empty: the begin, the end.
  void Show(std::optional<TimeNs> from_ns, std::optional<TimeNs> to_ns);

  Timeline& timeline() { return timeline_; }
  const Timeline& timeline() const { return timeline_; }

  bool IsShown(Panel panel) const { return shown_[static_cast<std::size_t>(panel)]; }
  void SetShown(Panel panel, bool shown) { shown_[static_cast<std::size_t>(panel)] = shown; }

  // Marks and rows, as the file beside the recording holds them.
  SidecarContent Kept() const { return {annotations_.marks(), timeline_.row_list().Saved()}; }
  // What was kept is shown from here on.
  void Restore(SidecarContent kept);

  // Saves which rows are shown if that changed. To be called every frame.
  void KeepRows();
  // What is kept beside the recording: problems with it, and whether it is being written.
  const Sidecar& sidecar() const { return *sidecar_; }

  // The cause of the verdict whose time is shaded; empty: none is.
  const std::string& shaded() const { return shaded_; }
  // The one that is shaded: none from here on.
  void ToggleShaded(const std::string& label) {
    shaded_ = shaded_ == label ? std::string() : label;
  }

  // What the last command has to say, until the next one or a click; empty: nothing.
  const std::string& notice() const { return notice_; }
  // Who held up the selected idle time, once that is known; kNone: it is not.
  void SetHeldUpBy(std::uint32_t rank, std::uint32_t place) { held_up_by_ = {rank, place}; }
  // The line of a place in the user's editor. What is wrong is told by notice().
  void OpenEditor(std::uint32_t rank, std::uint32_t place);

  const Annotations& annotations() const { return annotations_; }
  const std::optional<std::size_t>& selected_mark() const { return selected_mark_; }
  // The list is to take the keyboard for the text of the selected mark. Asked once.
  bool TakeWantsMarkText();
  void SelectMark(std::size_t index) { selected_mark_ = index; }
  void JumpToMark(std::size_t index);
  void ChangeMark(std::size_t index, Mark mark);
  void DeleteMark(std::size_t index);

  // As Timeline, but that a press on the flag of a mark selects that, and with Ctrl on code opens
  // it.
  void Press(PointerButton button, bool twice, Modifiers held);
  // The mark whose flag is at a pixel. O(marks).
  std::optional<std::size_t> MarkAt(float x, float y) const;
  // The flag of a mark on the ruler.
  Box MarkFlag(const Mark& mark) const;

 private:
  void Toggle(Panel panel) { SetShown(panel, !IsShown(panel)); }
  void Clear();
  // The measured range, else the moment at the pointer, else the selected event.
  std::optional<Mark> MarkHere() const;
  void SetMark(bool always_new);
  // Of the selected code or idle time, else of the places that are marked.
  void OpenSelected();
  void Save();

  Timeline timeline_;
  std::unique_ptr<Sidecar> sidecar_;
  Annotations annotations_;
  SavedRows kept_rows_;             // as they are in the file
  std::uint64_t kept_changes_ = 0;  // of the list, when that was looked at
  std::array<bool, kPanels> shown_ = {};
  std::string shaded_, notice_;
  std::pair<std::uint32_t, std::uint32_t> held_up_by_ = {kNone, kNone};  // rank, place
  std::optional<std::size_t> selected_mark_;
  // The last mark made by kMark, which the next one moves while it has no text.
  std::optional<Mark> movable_mark_;
  bool wants_mark_text_ = false, wants_quit_ = false;
  ShownIn place_ = ShownIn::kWindow;
  std::optional<CommandId> for_browser_;
};

}  // namespace traceinject
