// SPDX-License-Identifier: Apache-2.0
// One browser: its session, and how much of it is on its way. A frame is sent only where it differs
// from the one that the browser has, and only so many before they are on the screen: over a slow
// link there are fewer frames, not a queue of them.
//
// A message to the browser is a byte that says what it is, and its content.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/http/credentials.h"
#include "analyzer/http/web_socket.h"
#include "viewer/options/options.h"
#include "viewer/serve/frame_pace.h"
#include "viewer/serve/viewer_session.h"

namespace traceinject {

enum class ServedPart : std::uint8_t {
  kFrame,    // its number, microseconds that it took here, then what CodeFrame() makes
  kFont,     // width, height, a byte a pixel
  kLink,     // what ViewLink() makes
  kCopied,   // a text for the clipboard
  kTitle,    // of the page, once there is a timeline
  kCommand,  // the name of one that only the browser can do
  kState,    // what ViewState() makes, to be given back
};

// What all of them share.
struct ServedViewers {
  ServedViewers(const ViewerOptions& all_options, Credentials all_credentials)
      : options(all_options),
        credentials(std::move(all_credentials)),
        run(all_options.paths, all_options.follow) {}

  const ViewerOptions& options;
  const Credentials credentials;
  SharedRun run;
  std::size_t count = 0;  // of viewers
  // Of several that save marks one would undo what the other did.
  const void* saver = nullptr;
};

class ServedViewer : public WebSocketUser {
 public:
  explicit ServedViewer(ServedViewers& all) : all_(all) { ++all_.count; }
  ~ServedViewer() override;
  ServedViewer(const ServedViewer&) = delete;
  ServedViewer& operator=(const ServedViewer&) = delete;

  void OnOpen(WebSocket& socket) override { socket_ = &socket; }
  void OnMessage(std::string_view message) override;
  void OnSent() override { Advance(); }
  void OnTick() override;

 private:
  // What is wrong with an event; empty: nothing.
  std::string_view Take(const InputEvent& event);
  std::string_view Begin(const Hello& hello);
  void Advance();
  void Send(ServedPart part, std::string_view content);
  void SendFont();
  void SendNews();
  void SendState();
  // False: the browser has it already.
  bool SendFrame();

  ServedViewers& all_;
  WebSocket* socket_ = nullptr;
  std::optional<ViewerSession> session_;  // once it said who it is
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  DrawnFrame sent_frame_;
  std::uint32_t sent_ = 0;  // number of the last frame
  FramePace pace_;
  std::chrono::microseconds drawing_{0};
  std::string sent_link_, sent_state_;
  bool has_title_ = false;
};

}  // namespace traceinject
