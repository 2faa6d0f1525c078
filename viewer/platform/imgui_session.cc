// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/imgui_session.h"

#include <imgui.h>
#include <unistd.h>

#include <cmath>

#include "analyzer/view/style/sizes.h"

namespace traceinject {
namespace {

constexpr float kBuiltInFontPx = 13;  // what it was drawn for

void AddFont(float scale) {
  // Latin, Greek, Cyrillic, punctuation, arrows, mathematical signs: what names are written in.
  static const ImWchar kGlyphs[] = {0x20,   0x24f,  0x370,  0x52f,  0x2010, 0x2027, 0x20a0,
                                    0x20bf, 0x2190, 0x2211, 0x2248, 0x2265, 0};
  ImFontAtlas& fonts = *ImGui::GetIO().Fonts;
  // ImGui would assert on a file that is not there.
  if (access(TRACEVIEW_FONT, R_OK) == 0) {
    fonts.AddFontFromFileTTF(TRACEVIEW_FONT, std::floor(Sizes::kFontPx * scale), nullptr, kGlyphs);
  } else {
    ImFontConfig built_in;
    built_in.SizePixels = std::floor(kBuiltInFontPx * scale);
    fonts.AddFontDefault(&built_in);
  }
}

}  // namespace

ImGuiSession::ImGuiSession(float scale) : context_(ImGui::CreateContext()) {
  IMGUI_CHECKVERSION();
  MakeCurrent();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui::StyleColorsDark();
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowBorderSize = 0;
  style.WindowPadding = {8, 6};
  style.Colors[ImGuiCol_WindowBg] = {0.106F, 0.118F, 0.137F, 1};
  style.Colors[ImGuiCol_PopupBg] = {0.16F, 0.18F, 0.21F, 0.98F};
  style.Colors[ImGuiCol_Text] = {0.894F, 0.910F, 0.929F, 1};
  style.ScaleAllSizes(scale);
  AddFont(scale);
}

ImGuiSession::~ImGuiSession() { ImGui::DestroyContext(context_); }

void ImGuiSession::MakeCurrent() const { ImGui::SetCurrentContext(context_); }

}  // namespace traceinject
