// SPDX-License-Identifier: Apache-2.0
// What keys and mouse of a browser do, as bytes: the same as in the window.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "machine/testing/temporary_folder.h"
#include "viewer/serve/testing/input_bytes.h"
#include "viewer/serve/viewer_session.h"
#include "viewer/ui/testing/command_effects.h"

namespace traceinject {
namespace {

class BrowserUser : public UiUser {
 public:
  ShownIn place() const override { return ShownIn::kBrowser; }
  const ViewerUi& ui() const override { return session_->ui(); }

  void Open(WriteRun write) override {
    session_.reset();
    run_.reset();
    folder_.emplace();
    write(*folder_ / "run.db");
    run_.emplace(std::vector<std::string>{*folder_ / "run.db"});
    while (run_->progress()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run_->Update();
    SessionStart start;
    start.name = "run.db";
    start.screen = {1400, 800, 1};
    session_.emplace(*run_, start);
    Settle();
  }
  void SetHeight(int height_px) override {
    Tell(InputBytes(InputKind::kScreen)
             .Add(std::uint16_t{1400})
             .Add(static_cast<std::uint16_t>(height_px))
             .Add(1.0F)
             .bytes());
  }
  void Show(TimeNs start, TimeNs end) override {
    const TimeNs origin = timeline().model().origin;
    Tell(InputBytes(InputKind::kLink)
             .Text("t=" + std::to_string(start - origin) + "ns.." + std::to_string(end - origin) +
                   "ns")
             .bytes());
  }
  void Press(const KeyPress& press) override { Tell(KeyBytes(press)); }
  void Hold(Modifiers held) override { Tell(HoldBytes(held)); }
  void MoveTo(const MousePlace& at) override { Tell(MoveBytes(at.x, at.y)); }
  void SetButton(bool down, int button, bool twice) override {
    Tell(ButtonBytes(static_cast<std::uint8_t>(button), down, twice));
  }
  void Turn(float steps) override { Tell(WheelBytes(steps, 0)); }
  void Rest() override { Settle(); }
  std::optional<CommandId> TakeForBrowser() override { return session_->TakeForBrowser(); }
  std::size_t Vertices() const override {
    std::size_t vertices = 0;
    for (const FrameList& list : session_->frame().lists) vertices += list.vertices.size();
    return vertices;
  }

 private:
  void Tell(const std::string& message) {
    const auto events = ReadInputEvents(message);
    ASSERT_TRUE(events.has_value());
    for (const InputEvent& event : *events) session_->Take(event);
    Settle();
  }
  void Settle() {
    do {
      session_->Draw();
      session_->ui().WaitForPanels();
      session_->Wake();
    } while (session_->IsDue());
  }

  std::optional<TemporaryFolder> folder_;
  std::optional<SharedRun> run_;
  std::optional<ViewerSession> session_;
};

TEST(ServedEffects, EveryCommandWorks) {
  BrowserUser user;
  ExpectEveryCommandWorks(user);
}

TEST(ServedEffects, EveryGestureWorks) {
  BrowserUser user;
  ExpectEveryGestureWorks(user);
}

}  // namespace
}  // namespace traceinject
