// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/web_socket_connection.h"

#include <fmt/format.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <utility>

namespace traceinject {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

// Messages are dense before they get here: the quickest level takes nearly all that any would.
constexpr int kPackLevel = 1;
// Packed and written at once.
constexpr std::size_t kWriteBytes = 64 << 10;
constexpr std::chrono::milliseconds kHandshakeTime{10'000};

class Connection : public WebSocketConnection,
                   public WebSocket,
                   public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, std::unique_ptr<WebSocketUser> user,
             const WebSocketService& service, std::function<void(WebSocketConnection*)> ended)
      : stream_(std::move(socket)), user_(std::move(user)), ended_(std::move(ended)) {
    error_code ignored;
    stream_.next_layer().set_option(asio::ip::tcp::no_delay(true), ignored);
    stream_.set_option(websocket::stream_base::timeout{kHandshakeTime, service.silent_time, true});
    websocket::permessage_deflate packing;
    packing.server_enable = true;
    packing.compLevel = kPackLevel;
    stream_.set_option(packing);
    stream_.read_message_max(service.message_bytes);
    stream_.write_buffer_bytes(kWriteBytes);
    stream_.binary(true);
  }

  void Accept(Request request) {
    request_ = std::move(request);
    stream_.async_accept(request_, [self = shared_from_this()](const error_code& error) {
      if (error) return self->Drop();
      self->is_open_ = true;
      self->Tell([&self](WebSocketUser& user) { user.OnOpen(*self); });
      self->Read();
    });
  }

  void Tick() override {
    if (is_open_ && !is_closing_) Tell([](WebSocketUser& user) { user.OnTick(); });
  }
  void End() override { Finish(websocket::close_code::going_away, "the server has ended"); }

  void Send(std::string message) override {
    if (is_closing_) return;
    unsent_.push_back(std::move(message));
    if (unsent_.size() == 1) Write();
  }
  bool is_sending() const override { return !unsent_.empty(); }
  void Close(std::string_view reason) override {
    Finish(websocket::close_code::policy_error, reason);
  }

 private:
  // Whatever the user does wrong ends this connection, and not the others.
  template <typename Call>
  void Tell(Call call) {
    if (!user_) return;
    try {
      call(*user_);
    } catch (const std::exception& error) {
      fmt::print(stderr, "a viewer: {}\n", error.what());
      Finish(websocket::close_code::internal_error, "the server's standard error says why");
    }
  }

  void Read() {
    stream_.async_read(buffer_, [self = shared_from_this()](const error_code& error, std::size_t) {
      if (error) return self->Drop();
      const auto data = self->buffer_.data();
      const std::string_view message(static_cast<const char*>(data.data()), data.size());
      if (!self->is_closing_)
        self->Tell([message](WebSocketUser& user) { user.OnMessage(message); });
      self->buffer_.consume(data.size());
      self->Read();
    });
  }

  void Write() {
    stream_.async_write(asio::buffer(unsent_.front()),
                        [self = shared_from_this()](const error_code& error, std::size_t) {
                          if (error) return self->Drop();
                          self->unsent_.pop_front();
                          if (self->is_sending()) return self->Write();
                          if (self->is_closing_) return self->SayGoodbye();
                          self->Tell([](WebSocketUser& user) { user.OnSent(); });
                        });
  }

  void Finish(websocket::close_code code, std::string_view reason) {
    if (std::exchange(is_closing_, true)) return;
    reason_ = websocket::close_reason(code, boost::string_view(reason.data(), reason.size()));
    if (!is_open_) return Drop();
    if (!is_sending()) SayGoodbye();
  }

  void SayGoodbye() {
    stream_.async_close(reason_, [self = shared_from_this()](const error_code&) { self->Drop(); });
  }

  void Drop() {
    is_closing_ = true;
    is_open_ = false;
    user_.reset();
    error_code ignored;
    stream_.next_layer().close(ignored);
    if (const auto ended = std::exchange(ended_, nullptr)) ended(this);
  }

  websocket::stream<asio::ip::tcp::socket> stream_;
  Request request_;
  boost::beast::flat_buffer buffer_;
  std::deque<std::string> unsent_;
  std::unique_ptr<WebSocketUser> user_;  // null once the connection has ended
  std::function<void(WebSocketConnection*)> ended_;
  websocket::close_reason reason_;
  bool is_open_ = false, is_closing_ = false;
};

}  // namespace

std::shared_ptr<WebSocketConnection> WebSocketConnection::Open(
    asio::ip::tcp::socket socket, Request request, std::unique_ptr<WebSocketUser> user,
    const WebSocketService& service, std::function<void(WebSocketConnection*)> ended) {
  auto connection =
      std::make_shared<Connection>(std::move(socket), std::move(user), service, std::move(ended));
  connection->Accept(std::move(request));
  return connection;
}

}  // namespace traceinject
