// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/widgets/widgets.h"

#include <algorithm>

#include "analyzer/common/digit.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/view/style/fit_text.h"
#include "viewer/ui/widgets/imgui_canvas.h"

namespace traceinject {

namespace {

// The text over a bar must be readable in every theme: the bar takes something of the background.
constexpr unsigned kBarAlpha = 150;

// The end of the word at the beginning of `text`, which may begin with a space. A number and what
// it counts, as in "51.8 %" and "34.95 ms", are one word.
std::size_t WordEnd(std::string_view text) {
  constexpr std::size_t kLongestUnit = 3;
  std::size_t end = std::min(text.find(' ', 1), text.size());
  if (end == text.size() || !IsDigit(text[end - 1])) return end;
  const std::size_t unit_end = std::min(text.find_first_of(" ,;:)", end + 1), text.size());
  return unit_end - end - 1 <= kLongestUnit ? std::min(text.find(' ', end + 1), text.size()) : end;
}

// Line breaks in place of spaces. ImGui's own wrapping also breaks after points and commas, that is
// inside of numbers; it is left with words that are longer than a line.
std::string BrokenAtSpaces(std::string_view text, float room_px) {
  std::string broken;
  float line_px = 0;
  while (!text.empty()) {
    const std::size_t end = WordEnd(text);
    const std::string_view word = text.substr(0, end);  // with the space before it
    const float word_px = ImGui::CalcTextSize(word.data(), word.data() + word.size()).x;
    if (line_px > 0 && line_px + word_px > room_px) {
      broken += '\n';
      broken += word.substr(word.front() == ' ' ? 1 : 0);
      line_px = 0;
    } else {
      broken += word;
    }
    line_px += word_px;
    text.remove_prefix(end);
  }
  return broken;
}

}  // namespace

void Controls::NoteItem(const std::string& name) {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  boxes_[name] = {low.x, low.y, high.x, high.y};
}

std::optional<Box> Controls::Find(const std::string& name) const {
  const auto found = boxes_.find(name);
  if (found == boxes_.end()) return std::nullopt;
  return found->second;
}

Sizes ScreenSizes() { return Sizes(ImGui::GetFontSize()); }

void Put(std::string_view text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); }

void PutColored(const ImVec4& color, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  Put(text);
  ImGui::PopStyleColor();
}

void PutWrapped(const ImVec4& color, std::string_view text) {
  ImGui::PushTextWrapPos(0);
  PutColored(color, BrokenAtSpaces(text, ImGui::GetContentRegionAvail().x));
  ImGui::PopTextWrapPos();
}

void PutCut(const ImVec4& color, std::string_view text, std::optional<float> room_px) {
  const ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), {});
  const float room = room_px.value_or(ImGui::GetContentRegionAvail().x);
  PutColored(color, FitTextWithDots(canvas, text, room));
}

std::string OneLine(std::string_view recorded, std::size_t most_bytes) {
  return ShortenMiddle(Printable(recorded), most_bytes);
}

bool PutLink(const char* id, std::string_view label) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float indent = ImGui::GetFontSize();
  const float room = std::max(ImGui::GetContentRegionAvail().x - indent, 10 * indent);
  const std::string text = BrokenAtSpaces(label, room);
  const ImVec2 size = ImGui::CalcTextSize(text.data(), text.data() + text.size(),
                                          /*hide_text_after_hash=*/false, room);
  const bool clicked = ImGui::InvisibleButton(id, {room + indent, size.y});
  const bool hovered = ImGui::IsItemHovered();
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float middle = at.y + ImGui::GetFontSize() / 2, wing = indent / 4;
  const ImU32 arrow = ImGui::GetColorU32(LinkColor());
  list.AddTriangleFilled({at.x + wing, middle - wing}, {at.x + wing, middle + wing},
                         {at.x + 2.5F * wing, middle}, arrow);
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.x + indent, at.y},
               hovered ? ImGui::GetColorU32(ImGuiCol_Text) : arrow, text.data(),
               text.data() + text.size(), room);
  return clicked;
}

void PutBar(double share, Rgba color, const std::string& text) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  const Sizes sizes = ScreenSizes();
  const float height = ImGui::GetTextLineHeight() + 2 * sizes.line;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + width, at.y + height};
  list.AddRectFilled(at, end, ImGui::GetColorU32(ImGuiCol_FrameBg));
  const auto filled = static_cast<float>(std::clamp(share, 0.0, 1.0)) * width;
  list.AddRectFilled(at, {at.x + filled, end.y}, ToImGui(WithAlpha(color, kBarAlpha)));
  const std::string fits = FitTextWithDots(ImGuiCanvas(list, {}), text, width - 2 * sizes.text_pad);
  list.AddText({at.x + sizes.text_pad, at.y + sizes.line}, ImGui::GetColorU32(ImGuiCol_Text),
               fits.data(), fits.data() + fits.size());
  ImGui::Dummy({width, height});
}

}  // namespace traceinject
