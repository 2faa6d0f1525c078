// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/viewer_session.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "viewer/platform/imgui_input.h"
#include "viewer/serve/view_link.h"
#include "viewer/serve/view_state.h"

namespace traceinject {
namespace {

// ImGui needs a few frames to settle after an input: what is hovered is known one frame later.
constexpr int kFramesAfterInput = 3;
constexpr int kLeastPx = 100, kMostPx = 8192;
constexpr float kLeastScale = 0.5F, kMostScale = 4;
constexpr float kAnyTime = 1e9F, kNoTime = -1;
constexpr float kLeastFrameS = 1e-4F, kMostFrameS = 1;

// What ImGui's text fields know by names of their own.
struct FieldKey {
  ImGuiKey imgui;
  Key key;
};
constexpr FieldKey kFieldKeys[] = {
    {ImGuiKey_Tab, Key::kTab},
    {ImGuiKey_LeftArrow, Key::kLeft},
    {ImGuiKey_RightArrow, Key::kRight},
    {ImGuiKey_UpArrow, Key::kUp},
    {ImGuiKey_DownArrow, Key::kDown},
    {ImGuiKey_PageUp, Key::kPageUp},
    {ImGuiKey_PageDown, Key::kPageDown},
    {ImGuiKey_Home, Key::kHome},
    {ImGuiKey_Delete, Key::kDelete},
    {ImGuiKey_Backspace, Key::kBackspace},
    {ImGuiKey_Enter, Key::kEnter},
    {ImGuiKey_Escape, Key::kEscape},
    {ImGuiKey_A, Key::kA},
    {ImGuiKey_C, Key::kC},
    {ImGuiKey_V, Key::kV},
    {ImGuiKey_X, Key::kX},
    {ImGuiKey_Y, Key::kY},
    {ImGuiKey_Z, Key::kZ},
};

ScreenSize Sensible(const ScreenSize& size) {
  return {std::clamp(size.width_px, kLeastPx, kMostPx),
          std::clamp(size.height_px, kLeastPx, kMostPx),
          std::clamp(size.scale, kLeastScale, kMostScale)};
}

// What the mouse does goes on; keys and wheel are told once.
FrameInput WithoutKeys(FrameInput input) {
  input.keys.clear();
  input.text.clear();
  input.wheel = {};
  return input;
}

}  // namespace

ViewerSession::ViewerSession(SharedRun& run, SessionStart start)
    : run_(run), start_(std::move(start)), ui_(start_.name, run.judge()), link_(start_.link) {
  ui_.SetPlace(ShownIn::kBrowser);
  if (!start_.saves) ui_.LeaveSidecarToAnother();
  ui_.SetLook({.theme = start_.theme});
  ui_.LeadToVerdict(start_.leads_to_verdict);
  MakeScreen(start_.screen);
}

ViewerSession::~ViewerSession() { screen_->MakeCurrent(); }

void ViewerSession::MakeScreen(const ScreenSize& wanted) {
  ScreenSize size = Sensible(wanted);
  if (start_.scale) size.scale = *start_.scale;
  frames_ = kFramesAfterInput;
  if (!screen_ || size.scale != scale_)
    screen_ = std::make_unique<HeadlessScreen>(size.width_px, size.height_px, size.scale);
  scale_ = size.scale;
  screen_->MakeCurrent();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(size.width_px), static_cast<float>(size.height_px)};
  if (io.ClipboardUserData == this) return;
  // A caret that blinks would be sent twice a second.
  io.ConfigInputTextCursorBlink = false;
  io.ClipboardUserData = this;
  io.SetClipboardTextFn = [](void* session, const char* text) {
    static_cast<ViewerSession*>(session)->copied_ = text;
  };
  // What is pasted comes as text.
  io.GetClipboardTextFn = [](void*) { return ""; };
  for (const FieldKey& key : kFieldKeys) io.KeyMap[key.imgui] = static_cast<int>(key.key);
  font_is_new_ = true;
}

void ViewerSession::Take(const InputEvent& event) {
  frames_ = kFramesAfterInput;
  struct Taker {
    ViewerSession& session;
    void operator()(const Hello&) const {}
    void operator()(const FrameSeen&) const {}
    void operator()(const ScreenSize& size) const { session.MakeScreen(size); }
    void operator()(const LinkFollowed& followed) const { session.link_ = followed.link; }
    // The page that gives it begins anew: it holds no button, and goes on with no drag.
    void operator()(const StateGiven& given) const {
      session.state_ = given.state;
      session.input_ = {};
      if (Workspace* workspace = session.ui_.workspace()) workspace->timeline().DropDrag();
    }
    void operator()(const Modifiers& held) const { session.input_.Hold(held); }
    void operator()(const MousePlace& place) const { session.input_.Move(place); }
    void operator()(const MouseButton& button) const { session.input_.Set(button); }
    void operator()(const WheelSteps& steps) const { session.input_.Turn(steps); }
    void operator()(const KeyPress& key) const { session.input_.Press(key); }
    void operator()(const TypedText& typed) const { session.input_.Type(typed); }
    void operator()(const Finger& finger) const { session.Move(finger); }
  };
  std::visit(Taker{*this}, event);
}

// On the timeline a finger moves what it shows, as the right button does; elsewhere it is the left
// one.
void ViewerSession::Move(const Finger& finger) {
  input_.Move(finger.place);
  if (finger.down) {
    const std::optional<Box> timeline = ui_.controls().Find("timeline");
    const bool pans = timeline && finger.place.x >= timeline->left &&
                      finger.place.y >= timeline->top && finger.place.x < timeline->right &&
                      finger.place.y < timeline->bottom;
    finger_ = pans ? 1 : 0;
  }
  input_.Set({finger_, finger.down});
  if (!finger.down) input_.Move(kNoPlace);
}

void ViewerSession::FollowRun() {
  ui_.SetProgress(run_.progress());
  if (run_.problem() != problem_) ui_.SetProblem(problem_ = run_.problem());
  if (!run_.loaded() || run_.loaded() == shown_) return;
  if (std::exchange(shown_, run_.loaded())) {
    run_.Discard(ui_.Replace(shown_));
  } else {
    ui_.SetLoaded(shown_, start_.from_ns, start_.to_ns);
  }
  frames_ = kFramesAfterInput;
}

// Once the timeline knows its size, and all of the recording is there.
void ViewerSession::FollowLink() {
  if (link_ && !(link_->empty() && state_.empty())) ui_.KeepView();
  if (!link_ || !shown_ || !IsWhole(shown_->run)) return;
  // A state has the rows as they were when the link was made.
  const HiddenRow hidden = state_.empty() ? HiddenRow::kShow : HiddenRow::kKeep;
  RestoreViewState(std::exchange(state_, ""), !start_.saves, ui_);
  FollowViewLink(*std::exchange(link_, std::nullopt), hidden, ui_.workspace()->timeline());
  frames_ = kFramesAfterInput;
}

void ViewerSession::Wake() {
  const bool moves = run_.progress() || run_.loaded() != shown_ || ui_.busy();
  if (moves) frames_ = std::max(frames_, 1);
  // How it ended is to be seen, and may change where things are.
  if (std::exchange(moved_, moves) && !moves) frames_ = kFramesAfterInput;
}

// ImGui is told of a key as being down for one frame.
void ViewerSession::TellKeys(const FrameInput& input) {
  ImGuiIO& io = ImGui::GetIO();
  std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
  for (const KeyPress& press : input.keys) io.KeysDown[static_cast<std::size_t>(press.key)] = true;
  io.AddInputCharactersUTF8(input.text.c_str());
}

void ViewerSession::Draw() {
  screen_->MakeCurrent();
  FollowRun();
  frames_ = std::max(frames_ - 1, 0);
  const auto now = std::chrono::steady_clock::now();
  const float passed_s = std::chrono::duration<float>(now - std::exchange(drawn_at_, now)).count();
  ImGui::GetIO().DeltaTime = std::clamp(passed_s, kLeastFrameS, kMostFrameS);
  // A key that is pressed again was let go before.
  last_ = std::exchange(release_, false) ? WithoutKeys(std::move(last_)) : input_.Next();
  release_ = !last_.keys.empty();
  if (release_ || !input_.empty()) frames_ = kFramesAfterInput;
  TellImGui(last_);
  // Which of two presses is the second of a double click is known where the mouse is: on the way
  // here time gets lost.
  ImGui::GetIO().MouseDoubleClickTime = last_.mouse.twice ? kAnyTime : kNoTime;
  TellKeys(last_);
  screen_->Frame([this] { ui_.Frame(last_.keys); });
  FollowLink();
  frame_ = CaptureFrame(*ImGui::GetDrawData());
  was_drawn_ = true;
}

std::optional<FontTexture> ViewerSession::TakeFont() {
  if (!std::exchange(font_is_new_, false)) return std::nullopt;
  screen_->MakeCurrent();
  FontTexture font;
  unsigned char* alpha = nullptr;
  ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&alpha, &font.width_px, &font.height_px);
  const auto bytes =
      static_cast<std::size_t>(font.width_px) * static_cast<std::size_t>(font.height_px);
  font.alpha.assign(reinterpret_cast<const char*>(alpha), bytes);
  return font;
}

std::optional<std::string> ViewerSession::TakeCopied() {
  return std::exchange(copied_, std::nullopt);
}

std::optional<CommandId> ViewerSession::TakeForBrowser() {
  return ui_.workspace() != nullptr ? ui_.workspace()->TakeForBrowser() : std::nullopt;
}

std::optional<std::string> ViewerSession::TakeState() {
  if (link_ || !shown_ || !std::exchange(was_drawn_, false)) return std::nullopt;
  std::string state = ViewState(ui_);
  if (state.size() > kMaxState) state.clear();
  return state;
}

std::string ViewerSession::link() const {
  if (link_ || ui_.timeline() == nullptr) return link_.value_or("");
  return ViewLink(*ui_.timeline(), ui_.first_view().leads());
}

}  // namespace traceinject
