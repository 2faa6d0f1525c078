// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/served_viewer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "viewer/core/testing/sample_run.h"
#include "viewer/serve/testing/input_bytes.h"
#include "viewer/serve/testing/read_frame.h"

namespace traceinject {
namespace {

// Keeps what is sent; writing takes until the test says so.
class KeptSocket : public WebSocket {
 public:
  void Send(std::string message) override {
    messages.push_back(std::move(message));
    writing = true;
  }
  bool is_sending() const override { return writing; }
  void Close(std::string_view reason) override { closed = reason; }

  std::size_t Frames() const {
    std::size_t frames = 0;
    for (const std::string& message : messages)
      frames += message[0] == static_cast<char>(ServedPart::kFrame) ? 1 : 0;
    return frames;
  }

  std::vector<std::string> messages;
  bool writing = false;
  std::optional<std::string> closed;
};

class ServedViewerTest : public testing::Test {
 protected:
  ServedViewerTest() {
    WriteSampleRun(folder_ / "run.db");
    options_.paths = {folder_ / "run.db"};
    Credentials credentials;
    credentials.AddToken("secret");
    all_.emplace(options_, std::move(credentials));
    viewer_.emplace(*all_);
    viewer_->OnOpen(socket_);
  }

  void Written() {
    while (std::exchange(socket_.writing, false)) viewer_->OnSent();
  }
  // The number of the frame sent last.
  std::uint32_t LastFrame() const {
    std::uint32_t number = 0;
    for (const std::string& message : socket_.messages) {
      if (message[0] != static_cast<char>(ServedPart::kFrame)) continue;
      std::string_view rest = std::string_view(message).substr(1);
      number = TakeNumber(rest);
    }
    return number;
  }
  void See(std::uint32_t frame) {
    viewer_->OnMessage(InputBytes(InputKind::kSeen).Add(frame).bytes());
  }
  void Greet() { viewer_->OnMessage(HelloBytes("secret", 1280, 900)); }
  // Everything read and drawn, and seen.
  void ShowAll() {
    for (int quiet = 0, i = 0; quiet < 10 && i < 6'000; ++i) {
      const std::uint32_t before = LastFrame();
      viewer_->OnTick();
      Written();
      if (LastFrame() > 0) See(LastFrame());
      Written();
      quiet = LastFrame() == before && LastFrame() > 1 ? quiet + 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  TemporaryFolder folder_;
  ViewerOptions options_;
  std::optional<ServedViewers> all_;
  KeptSocket socket_;
  std::optional<ServedViewer> viewer_;
};

TEST_F(ServedViewerTest, WithoutTheTokenThereIsNothing) {
  viewer_->OnMessage(HelloBytes("guess", 1280, 900));
  EXPECT_EQ(socket_.closed, "token");
  EXPECT_TRUE(socket_.messages.empty());
}

TEST_F(ServedViewerTest, TheGreetingComesFirstAndOnce) {
  viewer_->OnMessage(MoveBytes(1, 2));
  EXPECT_TRUE(socket_.closed.has_value());
  EXPECT_TRUE(socket_.messages.empty());
  socket_.closed.reset();
  Greet();
  EXPECT_FALSE(socket_.closed.has_value());
  Greet();
  EXPECT_TRUE(socket_.closed.has_value());
}

TEST_F(ServedViewerTest, WhatIsNotUnderstoodEndsIt) {
  Greet();
  viewer_->OnMessage("\x63");
  EXPECT_TRUE(socket_.closed.has_value());
  socket_.closed.reset();
  See(1'000'000);
  EXPECT_TRUE(socket_.closed.has_value()) << "such a frame was never sent";
}

TEST_F(ServedViewerTest, ASlowBrowserGetsFewerFramesAndThenTheNewest) {
  Greet();
  ShowAll();
  const std::size_t before = socket_.Frames();
  for (int i = 0; i < 50; ++i) {
    viewer_->OnMessage(KeyBytes(i % 2 == 0 ? Key::kW : Key::kD));
    Written();
  }
  const std::size_t unseen = socket_.Frames();
  EXPECT_LE(unseen, before + FramePace::kMostAhead) << "none of them was seen";
  See(LastFrame());
  Written();
  EXPECT_GT(socket_.Frames(), unseen);
}

TEST_F(ServedViewerTest, WhatIsSentIsWhatWasDrawn) {
  Greet();
  ShowAll();
  for (const Key key : {Key::kW, Key::kW, Key::kD, Key::kT, Key::kQ, Key::kHome}) {
    viewer_->OnMessage(KeyBytes(key));
    ShowAll();
  }
  DrawnFrame shown;
  for (const std::string& message : socket_.messages) {
    if (message[0] != static_cast<char>(ServedPart::kFrame)) continue;
    std::string_view rest = std::string_view(message).substr(1);
    TakeNumber(rest);
    TakeNumber(rest);
    const auto frame = ReadFrame(shown, rest);
    ASSERT_TRUE(frame.has_value());
    EXPECT_FALSE(*frame == shown) << "what is the same is not sent";
    shown = *frame;
  }
  ASSERT_FALSE(shown.lists.empty());
  for (const FrameList& list : shown.lists) {
    std::size_t used = 0;
    for (const FrameCommand& command : list.commands) used += command.indices;
    EXPECT_EQ(used, list.indices.size());
    for (const std::uint32_t index : list.indices) ASSERT_LT(index, list.vertices.size());
  }
}

TEST_F(ServedViewerTest, ViewersAreCounted) {
  EXPECT_EQ(all_->count, 1U);
  viewer_.reset();
  EXPECT_EQ(all_->count, 0U);
}

}  // namespace
}  // namespace traceinject
