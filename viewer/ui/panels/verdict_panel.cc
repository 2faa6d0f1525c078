// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/verdict_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/verdict/verdict_text.h"
#include "viewer/core/paint/paint_shading.h"
#include "viewer/core/timeline/evidence_place.h"
#include "viewer/ui/widgets/imgui_canvas.h"

namespace traceinject {
namespace {

constexpr Rgba kSavingColor = 0x5c7fa8ff;
constexpr Rgba kJudgedColor = 0x96662bff;  // the saving that the verdict names
constexpr float kColumnEms = 24;           // narrower columns stand below each other

const ImVec4& TextColor() { return ImGui::GetStyleColorVec4(ImGuiCol_Text); }

void Title(std::string_view text) {
  ImGui::Spacing();
  PutWrapped(DimColor(), text);
}

void OutlineItem(Rgba color) {
  ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                      ToImGui(color), 0, 0, 2 * ScreenSizes().line);
}

void DrawHeadline(const proto::Report& report) {
  const proto::Verdict& verdict = report.verdict();
  if (const std::string tried = TriedText(report); !tried.empty())
    PutWrapped(WarningColor(), tried);
  ImGui::SetWindowFontScale(1.25F);
  PutWrapped(verdict.has_saved_ns() ? WarningColor() : TextColor(), TitleOn(verdict));
  ImGui::SetWindowFontScale(1);
  PutWrapped(TextColor(), SavingSentence(verdict));
  if (!verdict.device().empty()) {
    PutWrapped(DimColor(), fmt::format("judged on {} over {}", verdict.device(),
                                       verdict.steps() > 0 ? FormatCount(verdict.steps()) + " steps"
                                                           : "the whole window"));
  }
  if (verdict.has_confidence()) {
    PutBar(verdict.confidence(), kSavingColor,
           fmt::format("confidence {:.0f} %", 100 * verdict.confidence()));
  }
  if (const std::string fixes = FixOrderText(verdict); !fixes.empty())
    PutWrapped(TextColor(), "Fix order: " + fixes);
  for (const std::string& sentence : verdict.interactions()) PutWrapped(TextColor(), sentence);
  for (const std::string& caveat : verdict.caveats()) PutWrapped(WarningColor(), caveat);
}

void DrawEvidence(const proto::Verdict& verdict, Timeline& timeline, Controls& controls) {
  if (verdict.evidence().empty()) return;
  Title("Evidence (click: see it on the timeline)");
  for (int i = 0; i < verdict.evidence_size(); ++i) {
    const proto::Evidence& line = verdict.evidence(i);
    const auto place = PlaceOnTimeline(timeline.run(), timeline.model(), line);
    if (!place) {
      ImGui::Indent(ImGui::GetFontSize());
      PutWrapped(TextColor(), line.text());
      ImGui::Unindent(ImGui::GetFontSize());
      continue;
    }
    const std::string id = fmt::format("evidence {}", i);
    if (PutLink(id.c_str(), line.text())) timeline.RevealRange(*place);
    controls.NoteItem(id);
  }
}

void DrawLevers(const proto::Verdict& verdict) {
  if (verdict.levers().empty()) return;
  Title("What to change");
  for (const proto::Lever& lever : verdict.levers()) {
    PutWrapped(TextColor(), SettingText(lever));
    ImGui::Indent(ImGui::GetFontSize());
    if (!lever.change().empty()) PutWrapped(DimColor(), lever.change());
    if (!lever.source().empty()) PutWrapped(DimColor(), "see " + lever.source());
    ImGui::Unindent(ImGui::GetFontSize());
  }
}

void DrawShaded(const Shading* shading, const std::string& label) {
  if (label.empty()) {
    PutColored(DimColor(), "Click a cause to shade its time on the timeline.");
  } else if (shading == nullptr || shading->label() != label) {
    PutColored(DimColor(), "Finding its time...");
  } else if (shading->times().empty()) {
    PutWrapped(DimColor(), fmt::format("Nothing to shade: {} has no time of its own.", label));
  } else {
    PutWrapped(
        DimColor(),
        fmt::format(
            "Shaded on the timeline: {} in {} places on {}. Esc or another click clears it.",
            FormatTime(shading->length_ns()),
            FormatCount(static_cast<std::int64_t>(shading->times().size())), shading->device()));
  }
}

// All causes on one scale: a step.
void DrawSavings(const proto::Verdict& verdict, const Shading* shading, Workspace& workspace,
                 Controls& controls) {
  if (verdict.savings().empty()) return;
  Title("What each cause costs per step (causes overlap: do not add them up)");
  const auto step = static_cast<double>(std::max<std::int64_t>(verdict.step_ns(), 1));
  for (const proto::Saving& saving : verdict.savings()) {
    PutBar(static_cast<double>(saving.saved_ns()) / step,
           LabelOn(saving) == LabelOn(verdict) ? kJudgedColor : kSavingColor,
           fmt::format("{}  {}{}", LabelOn(TitleOf(saving.label()), saving.place()),
                       FormatTime(saving.saved_ns()),
                       saving.has_saved_low_ns() ? "  (" + IntervalText(saving) + ")" : ""));
    if (ImGui::IsItemHovered()) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      ImGui::SetTooltip("%s", saving.label().c_str());
    }
    if (saving.label() == workspace.shaded()) OutlineItem(kShadeColor);
    if (ImGui::IsItemClicked()) workspace.ToggleShaded(saving.label());
    controls.NoteItem("saving: " + saving.label());
  }
  DrawShaded(shading, workspace.shaded());
}

struct Part {
  const char* what;
  std::int64_t ns;
  Rgba color;
};

void DrawStackedBar(std::initializer_list<Part> parts, std::int64_t whole_ns) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  const float height = ImGui::GetTextLineHeight();
  const auto whole = static_cast<double>(std::max<std::int64_t>(whole_ns, 1));
  double before = 0;
  for (const Part& part : parts) {
    const double after = before + static_cast<double>(part.ns) / whole;
    const Box box{at.x + static_cast<float>(before) * width, at.y,
                  at.x + static_cast<float>(after) * width, at.y + height};
    ImGui::GetWindowDrawList()->AddRectFilled({box.left, box.top}, {box.right, box.bottom},
                                              ToImGui(part.color));
    before = after;
  }
  ImGui::Dummy({width, height});
}

void DrawPartition(const proto::Report& report) {
  for (const proto::DeviceSteps& steps : report.steps()) {
    const proto::StepSplit& sum = steps.judged_sum();
    Title(fmt::format("Where the time goes: {}", steps.label()));
    const std::initializer_list<Part> parts = {
        {"compute", sum.compute_ns(), FillColor(Category::kCompute)},
        {"exposed communication", sum.exposed_communication_ns(),
         FillColor(Category::kCommunication)},
        {"exposed copies", sum.exposed_copy_ns(), FillColor(Category::kCopy)},
        {"idle", sum.idle_ns(), kIdlePartColor}};
    DrawStackedBar(parts, sum.length_ns());
    std::string text;
    for (const Part& part : parts) {
      if (part.ns == 0) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.what,
                          FormatShare(part.ns, sum.length_ns()));
    }
    for (const proto::IdlePart& part : sum.idle()) {
      if (part.ns() < sum.length_ns() / 1000) continue;
      text += fmt::format("; {} {}", part.cause(), FormatShare(part.ns(), sum.length_ns()));
    }
    PutWrapped(DimColor(), text);
  }
}

ImVec4 SeverityColor(proto::HealthLine::Severity severity) {
  switch (severity) {
    case proto::HealthLine::SEVERITY_ERROR:
    case proto::HealthLine::SEVERITY_DATA_LOSS:
      return BadColor();
    case proto::HealthLine::SEVERITY_NOTICE:
      return WarningColor();
    default:
      return DimColor();
  }
}

void DrawHealth(const proto::Health& health) {
  Title("The recording");
  switch (health.grade()) {
    case proto::Health::GRADE_GOOD:
      PutColored(GoodColor(), "good: nothing missing");
      break;
    case proto::Health::GRADE_LOSSY:
      PutColored(WarningColor(), "some data is missing: figures are slightly off");
      break;
    case proto::Health::GRADE_BAD:
      PutColored(BadColor(), "too much data is missing: do not rely on the figures");
      break;
    default:
      PutColored(WarningColor(), "unknown: no health counters");
  }
  for (const std::string& reason : health.reasons()) PutWrapped(WarningColor(), reason);
  // Worst first; of big jobs there are many, so only those in sight are drawn. ImGui's clipper does
  // not work inside of a table's cell.
  const float line_px = ImGui::GetTextLineHeightWithSpacing();
  int first = 0, last = 0;
  ImGui::CalcListClipping(health.lines_size(), line_px, &first, &last);
  const float top = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(top + static_cast<float>(first) * line_px);
  for (int i = first; i < last; ++i) {
    const proto::HealthLine& line = health.lines(i);
    PutColored(SeverityColor(line.severity()),
               fmt::format("{}  {}{}{}", FormatCount(line.value()), line.text(),
                           line.detail().empty() ? "" : ": ", line.detail()));
  }
  ImGui::SetCursorPosY(top + static_cast<float>(health.lines_size()) * line_px);
}

}  // namespace

void DrawVerdict(const proto::Report& report, const Shading* shading, Workspace& workspace,
                 Controls& controls) {
  const proto::Verdict& verdict = report.verdict();
  const float column_px = kColumnEms * ImGui::GetFontSize();
  const int most = verdict.levers().empty() ? 2 : 3;
  const int columns =
      std::clamp(static_cast<int>(ImGui::GetContentRegionAvail().x / column_px), 1, most);
  const ImGuiTableFlags flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerV |
                                ImGuiTableFlags_Resizable | ImGuiTableFlags_NoSavedSettings;
  if (!ImGui::BeginTable("verdict", columns, flags)) return;
  for (int column = 0; column < columns; ++column) {
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 1);
  }
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  DrawHeadline(report);
  DrawEvidence(verdict, workspace.timeline(), controls);
  if (columns == 3) ImGui::TableNextColumn();
  DrawLevers(verdict);
  if (columns >= 2) ImGui::TableNextColumn();
  DrawSavings(verdict, shading, workspace, controls);
  DrawPartition(report);
  DrawHealth(report.health());
  ImGui::EndTable();
}

}  // namespace traceinject
