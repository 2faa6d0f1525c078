// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/workspace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/view/rows/code_text.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/core/session/editor.h"

namespace traceinject {
namespace {

constexpr float kFlagLetterShare = 0.45F;  // width of a letter, of the height of a lane

}  // namespace

std::string_view PanelName(Panel panel) {
  constexpr std::string_view kNames[kPanels] = {"details", "marks",   "find",
                                                "help",    "palette", "open"};
  return kNames[static_cast<std::size_t>(panel)];
}

Workspace::Workspace(const Run& run, const RowModel& model, const Links* links,
                     std::string sidecar_path)
    : timeline_(run, model, links),
      sidecar_(std::make_unique<Sidecar>(std::move(sidecar_path))),
      annotations_({}, run.base_ns) {
  SetShown(Panel::kDetails, true);
  Restore(sidecar_->Read(run.base_ns));
}

void Workspace::Restore(SidecarContent kept) {
  annotations_ = Annotations(std::move(kept.marks), annotations_.base_ns());
  selected_mark_.reset();
  timeline_.ChangeRows([&kept](RowList& list) { list.Restore(kept.rows); });
  kept_rows_ = std::move(kept.rows);
}

Workspace::Workspace(const Run& run, const RowModel& model, const Links* links, Workspace before)
    : timeline_(run, model, links),
      sidecar_(std::move(before.sidecar_)),
      annotations_(std::move(before.annotations_)),
      kept_rows_(std::move(before.kept_rows_)),
      shown_(before.shown_),
      shaded_(std::move(before.shaded_)),
      selected_mark_(before.selected_mark_),
      place_(before.place_) {
  timeline_.ContinueFrom(before.timeline_);
  annotations_.SetBase(run.base_ns);
}

void Workspace::Save() { sidecar_->Write(Kept(), annotations_.base_ns()); }

void Workspace::KeepRows() {
  const RowList& rows = timeline_.row_list();
  if (rows.changes() == kept_changes_) return;
  kept_changes_ = rows.changes();
  SavedRows now = rows.Saved();
  if (now == kept_rows_) return;
  kept_rows_ = std::move(now);
  Save();
}

void Workspace::Do(CommandId command) {
  notice_.clear();
  if (!IsOffered(command, place_)) return;
  switch (command) {
    case CommandId::kCopyLink:
    case CommandId::kSavePicture:
      for_browser_ = command;
      return;
    case CommandId::kOpenEditor:
      return OpenSelected();
    case CommandId::kFitSelection:
      if (!timeline_.measure() && selected_mark_) return JumpToMark(*selected_mark_);
      break;
    case CommandId::kMeasureSelection:
      if (selected_mark_) {
        const Mark& mark = annotations_.marks()[*selected_mark_];
        return timeline_.SetMeasure(Measure{mark.start, mark.end, kNone});
      }
      break;
    case CommandId::kFind:
      return Toggle(Panel::kFind);
    case CommandId::kMark:
      return SetMark(false);
    case CommandId::kNewMark:
      return SetMark(true);
    case CommandId::kDeleteMark:
      if (selected_mark_) DeleteMark(*selected_mark_);
      return;
    case CommandId::kMarks:
      return Toggle(Panel::kMarks);
    case CommandId::kDetails:
      return Toggle(Panel::kDetails);
    case CommandId::kPalette:
      return Toggle(Panel::kPalette);
    case CommandId::kHelp:
      return Toggle(Panel::kHelp);
    case CommandId::kOpenRecording:
      return Toggle(Panel::kOpenDialog);
    case CommandId::kQuit:
      wants_quit_ = true;
      return;
    case CommandId::kClear:
      return Clear();
    default:
      break;
  }
  timeline_.Do(command);
}

void Workspace::Show(std::optional<TimeNs> from_ns, std::optional<TimeNs> to_ns) {
  const RowModel& model = timeline_.model();
  timeline_.Show(from_ns ? model.origin + *from_ns : model.start,
                 to_ns ? model.origin + *to_ns : model.end);
}

void Workspace::Clear() {
  for (std::size_t panel = kPanels - 1; panel > static_cast<std::size_t>(Panel::kDetails);
       --panel) {
    if (std::exchange(shown_[panel], false)) return;
  }
  if (!timeline_.measure() && selected_mark_) {
    selected_mark_.reset();
  } else if (!timeline_.measure() && !timeline_.selection() && !shaded_.empty()) {
    shaded_.clear();
  } else {
    timeline_.Do(CommandId::kClear);
  }
}

bool Workspace::TakeWantsMarkText() { return std::exchange(wants_mark_text_, false); }

void Workspace::JumpToMark(std::size_t index) {
  selected_mark_ = index;
  const Mark& mark = annotations_.marks()[index];
  if (mark.start < mark.end) return timeline_.Fit(mark.start, mark.end);
  const TimeNs half = timeline_.view().span_ns() / 2;
  timeline_.Show(mark.start - half, mark.start - half + timeline_.view().span_ns());
}

void Workspace::ChangeMark(std::size_t index, Mark mark) {
  const std::size_t moved_to = annotations_.Change(index, std::move(mark));
  if (selected_mark_ == index) selected_mark_ = moved_to;
  Save();
}

void Workspace::DeleteMark(std::size_t index) {
  annotations_.Remove(index);
  selected_mark_.reset();
  Save();
}

std::optional<Mark> Workspace::MarkHere() const {
  if (const auto& measure = timeline_.measure()) return Mark{measure->start, measure->end, "", 0};
  if (const auto time = timeline_.PointerTime()) return Mark{*time, *time, "", 0};
  if (!timeline_.selection()) return std::nullopt;
  const auto [start, end] = EventTimes(timeline_.run(), timeline_.model(), *timeline_.selection());
  return Mark{start, end, "", 0};
}

void Workspace::SetMark(bool always_new) {
  std::optional<Mark> mark = MarkHere();
  if (!mark || annotations_.marks().size() >= kMaxMarks) return;
  const std::vector<Mark>& marks = annotations_.marks();
  const auto movable =
      movable_mark_ ? std::find(marks.begin(), marks.end(), *movable_mark_) : marks.end();
  if (!always_new && movable != marks.end()) {
    mark->color = movable->color;
    selected_mark_ = annotations_.Change(static_cast<std::size_t>(movable - marks.begin()), *mark);
  } else {
    mark->color = MarkColors()[marks.size() % MarkColors().size()];
    selected_mark_ = annotations_.Add(*mark);
  }
  Save();
  movable_mark_.reset();
  if (always_new) {
    SetShown(Panel::kMarks, true);
    wants_mark_text_ = true;
  } else {
    movable_mark_ = marks[*selected_mark_];
  }
}

void Workspace::Press(PointerButton button, bool twice, Modifiers held) {
  notice_.clear();
  const auto mark = MarkAt(timeline_.pointer_x(), timeline_.pointer_y());
  if (button == PointerButton::kLeft && held.control && !mark) {
    if (const auto code = timeline_.EventAt(timeline_.pointer_x(), timeline_.pointer_y())) {
      const RowModel& model = timeline_.model();
      const std::uint32_t place = PlaceOf(timeline_.run(), model, *code);
      if (place != kNone) return OpenEditor(model.rows[code->row].rank, place);
    }
  }
  if (button != PointerButton::kLeft || !mark) return timeline_.Press(button, twice, held);
  twice ? JumpToMark(*mark) : SelectMark(*mark);
}

void Workspace::OpenEditor(std::uint32_t rank, std::uint32_t place) {
  if (!IsOffered(CommandId::kOpenEditor, place_)) return;
  const Rank& facts = timeline_.run().ranks[rank];
  const CodePlace& code = facts.places[place];
  if (code.is_native) {
    notice_ = "The source of " + std::string(facts.string(code.function)) + " is not known.";
    return;
  }
  const EditorPlace line{std::string(facts.string(code.file)), code.line};
  const auto command = EditorCommand(line, ThisEnvironment());
  if (!command.ok()) {
    notice_ = "Cannot open the code: " + command.error() + ".";
    return;
  }
  const Status started = StartProgram(command.value());
  notice_ = started.ok() ? "Opened " + FileAndLine(facts, place) + " in the editor."
                         : "Cannot open the code: " + started.error() + ".";
}

void Workspace::OpenSelected() {
  const RowModel& model = timeline_.model();
  if (const auto& selected = timeline_.selection()) {
    const Row& row = model.rows[selected->row];
    const std::uint32_t place = PlaceOf(timeline_.run(), model, *selected);
    if (place != kNone) return OpenEditor(row.rank, place);
    const auto [rank, held_up_by] = held_up_by_;
    if (row.kind == RowKind::kIdle && held_up_by != kNone) return OpenEditor(rank, held_up_by);
  }
  if (const auto& marked = timeline_.marked_places().first())
    return OpenEditor(marked->first, marked->second);
  notice_ = "Select a line of code first: in a row of Python, or in the tab Code.";
}

Box Workspace::MarkFlag(const Mark& mark) const {
  const float left = std::floor(timeline_.Plot().left + timeline_.view().X(mark.start));
  const float letters = static_cast<float>(mark.text.size()) + 1;
  const Sizes& sizes = timeline_.sizes();
  const float width =
      std::clamp(letters * kFlagLetterShare * sizes.lane, sizes.least_flag, sizes.most_flag);
  return {left, 2 * sizes.line, left + width, sizes.ruler - 3 * sizes.line};
}

std::optional<std::size_t> Workspace::MarkAt(float x, float y) const {
  const std::vector<Mark>& marks = annotations_.marks();
  if (x < timeline_.Plot().left) return std::nullopt;
  // The later ones are painted on top.
  for (std::size_t index = marks.size(); index-- > 0;) {
    const Box flag = MarkFlag(marks[index]);
    if (x >= flag.left && x < flag.right && y >= flag.top && y < flag.bottom) return index;
  }
  return std::nullopt;
}

}  // namespace traceinject
