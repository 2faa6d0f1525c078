// SPDX-License-Identifier: Apache-2.0
// The server's end of WebSockets (RFC 6455): binary messages both ways, packed where the client can
// unpack them. All calls are made on the server's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "analyzer/http/http_message.h"

namespace traceinject {

class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // After what was sent before.
  virtual void Send(std::string message) = 0;
  // Whether something of that is still to be written.
  virtual bool is_sending() const = 0;
  // Ends the connection once all is written. `reason` is for the client, at most 123 bytes.
  virtual void Close(std::string_view reason) = 0;
};

// What is at the server's side of one. It ends with the connection; what it throws ends that.
class WebSocketUser {
 public:
  virtual ~WebSocketUser() = default;
  // `socket` outlives the user.
  virtual void OnOpen(WebSocket& socket) = 0;
  virtual void OnMessage(std::string_view message) = 0;
  // All that was sent is written.
  virtual void OnSent() = 0;
  virtual void OnTick() = 0;
};

struct WebSocketService {
  // Whoever asks for a WebSocket gets one, or an answer that says why not.
  std::function<std::variant<HttpResponse, std::unique_ptr<WebSocketUser>>(const HttpRequest&)>
      open;
  std::size_t message_bytes = 65536;    // from a client; more ends the connection
  std::chrono::milliseconds tick{100};  // between two calls of OnTick()
  // From a client, which is asked for a sign of life after half of it; else the connection ends.
  std::chrono::milliseconds silent_time{60'000};
};

}  // namespace traceinject
