// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/served_viewer.h"

#include <algorithm>
#include <utility>

#include "viewer/core/load/title.h"
#include "viewer/serve/frame_coder.h"

namespace traceinject {
namespace {

// For one viewer in a turn, however much came from it, and however large its screen is; a tick
// later it goes on.
constexpr std::chrono::milliseconds kTurnTime{20};
// For a browser to say who it is.
constexpr std::chrono::seconds kHelloTime{10};

using Clock = std::chrono::steady_clock;

}  // namespace

ServedViewer::~ServedViewer() {
  --all_.count;
  if (all_.saver == this) all_.saver = nullptr;
}

void ServedViewer::OnMessage(std::string_view message) {
  const auto events = ReadInputEvents(message);
  if (!events) return socket_->Close("not understood: another version of the page?");
  for (const InputEvent& event : *events) {
    if (const std::string_view problem = Take(event); !problem.empty())
      return socket_->Close(problem);
  }
  Advance();
}

std::string_view ServedViewer::Take(const InputEvent& event) {
  if (const auto* const hello = std::get_if<Hello>(&event)) return Begin(*hello);
  if (!session_) return "the first message has to be the greeting";
  if (const auto* const seen = std::get_if<FrameSeen>(&event)) {
    if (!pace_.Seen(seen->frame, Clock::now())) return "no such frame was sent";
  } else {
    session_->Take(event);
  }
  return "";
}

std::string_view ServedViewer::Begin(const Hello& hello) {
  if (session_) return "one greeting is enough";
  if (!all_.credentials.Admit("Bearer " + hello.token)) return "token";
  const ViewerOptions& options = all_.options;
  SessionStart start;
  start.name = NamesOf(options.paths);
  start.theme = options.theme.value_or(hello.is_dark ? ThemeId::kDark : ThemeId::kLight);
  start.scale = options.scale;
  start.from_ns = options.from_ns;
  start.to_ns = options.to_ns;
  start.link = hello.link;
  start.leads_to_verdict = options.LeadsToVerdict();
  start.screen = hello.screen;
  if (all_.saver == nullptr) all_.saver = this;
  start.saves = all_.saver == this;
  session_.emplace(all_.run, std::move(start));
  return "";
}

void ServedViewer::OnTick() {
  if (!session_) {
    if (Clock::now() - since_ > kHelloTime) socket_->Close("no greeting came");
    return;
  }
  all_.run.Update();
  session_->Wake();
  Advance();
}

// One frame that differs, then it is the turn of the others: OnSent() goes on.
void ServedViewer::Advance() {
  if (!session_) return;
  bool sends = false;
  const auto turn_ends = Clock::now() + kTurnTime;
  do {
    if (session_->IsDue()) {
      const auto begun = Clock::now();
      session_->Draw();
      drawing_ = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    }
    const bool is_free = !socket_->is_sending() && pace_.MaySend();
    SendFont();
    sends = is_free && SendFrame();
    SendNews();
  } while (!sends && session_->IsDue() && Clock::now() < turn_ends);
}

void ServedViewer::Send(ServedPart part, std::string_view content) {
  std::string message(1, static_cast<char>(part));
  socket_->Send(message.append(content));
}

void ServedViewer::SendFont() {
  const std::optional<FontTexture> font = session_->TakeFont();
  if (!font) return;
  std::string content;
  AddNumber(static_cast<std::uint32_t>(font->width_px), content);
  AddNumber(static_cast<std::uint32_t>(font->height_px), content);
  Send(ServedPart::kFont, content + font->alpha);
}

void ServedViewer::SendNews() {
  if (session_->ui().timeline() != nullptr && !std::exchange(has_title_, true))
    Send(ServedPart::kTitle, "traceview " + NamesOf(all_.options.paths));
  if (const auto copied = session_->TakeCopied()) Send(ServedPart::kCopied, *copied);
  if (std::string link = session_->link(); link != sent_link_) {
    sent_link_ = std::move(link);
    Send(ServedPart::kLink, sent_link_);
  }
  SendState();
  if (const auto id = session_->TakeForBrowser()) {
    const auto command = std::ranges::find(Commands(), *id, &Command::id);
    Send(ServedPart::kCommand, command->name);
  }
}

// Once it rests: in between it would be told too often.
void ServedViewer::SendState() {
  if (session_->IsDue()) return;
  auto state = session_->TakeState();
  if (!state || *state == sent_state_) return;
  sent_state_ = *std::move(state);
  Send(ServedPart::kState, sent_state_);
}

bool ServedViewer::SendFrame() {
  if (session_->frame() == sent_frame_) return false;
  const auto begun = Clock::now();
  const std::string frame = CodeFrame(sent_frame_, session_->frame());
  sent_frame_ = session_->frame();
  const auto coding = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
  std::string content;
  AddNumber(++sent_, content);
  pace_.Sent(sent_, Clock::now());
  AddNumber(static_cast<std::uint32_t>((drawing_ + coding).count()), content);
  Send(ServedPart::kFrame, content + frame);
  return true;
}

}  // namespace traceinject
