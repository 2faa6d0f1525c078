// SPDX-License-Identifier: Apache-2.0
// For http_server.cc, which hands connections over that a client asked to be a WebSocket.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>

#include "analyzer/http/web_socket.h"

namespace traceinject {

class WebSocketConnection {
 public:
  using Request = boost::beast::http::request<boost::beast::http::string_body>;

  // Answers the request and keeps the connection to its end, which it then tells once.
  static std::shared_ptr<WebSocketConnection> Open(boost::asio::ip::tcp::socket socket,
                                                   Request request,
                                                   std::unique_ptr<WebSocketUser> user,
                                                   const WebSocketService& service,
                                                   std::function<void(WebSocketConnection*)> ended);
  virtual ~WebSocketConnection() = default;
  virtual void Tick() = 0;
  // The server ends.
  virtual void End() = 0;
};

}  // namespace traceinject
