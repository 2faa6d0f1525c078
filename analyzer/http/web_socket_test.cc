// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/web_socket.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "analyzer/http/http_server.h"

namespace traceinject {
namespace {

namespace websocket = boost::beast::websocket;
using boost::system::error_code;

// Says everything twice, until it is told to end or to fail.
class Parrot : public WebSocketUser {
 public:
  void OnOpen(WebSocket& socket) override { socket_ = &socket; }
  void OnMessage(std::string_view message) override {
    if (message == "fail") throw std::runtime_error("it was asked to");
    if (message == "ticks") return socket_->Send(std::to_string(ticks_));
    for (int i = 0; i < 2; ++i) socket_->Send(std::string(message));
    if (message == "end") socket_->Close("as you like");
  }
  void OnSent() override {}
  void OnTick() override { ++ticks_; }

 private:
  WebSocket* socket_ = nullptr;
  int ticks_ = 0;
};

// A server of parrots on a thread of its own. "/none" has none.
class ParrotServer {
 public:
  ParrotServer() {
    auto socket = ListenSocket::Open("127.0.0.1:0");
    if (!socket.ok() || pipe(stop_) != 0) throw std::runtime_error("cannot listen");
    port_ = socket.value().port();
    service_.message_bytes = 1'000'000;
    service_.tick = std::chrono::milliseconds(5);
    service_.open = [](const HttpRequest& request)
        -> std::variant<HttpResponse, std::unique_ptr<WebSocketUser>> {
      if (request.path == "/none") return HttpResponse{.status = 403, .body = "none here\n"};
      return std::make_unique<Parrot>();
    };
    thread_ = std::jthread([this, own = std::move(socket).value()]() mutable {
      ServeHttp(
          std::move(own), stop_[0], [](const HttpRequest&) { return HttpResponse(); }, {},
          &service_);
    });
  }
  ~ParrotServer() {
    Stop();
    close(stop_[0]);
  }
  ParrotServer(const ParrotServer&) = delete;
  ParrotServer& operator=(const ParrotServer&) = delete;

  void Stop() {
    if (stop_[1] >= 0) close(std::exchange(stop_[1], -1));
    if (thread_.joinable()) thread_.join();
  }
  // Not waiting.
  void AskToStop() { close(std::exchange(stop_[1], -1)); }
  int port() const { return port_; }

 private:
  WebSocketService service_;
  int stop_[2] = {-1, -1};
  int port_ = 0;
  std::jthread thread_;
};

class Client {
 public:
  explicit Client(const ParrotServer& server, const std::string& path = "/", bool packs = true) {
    using boost::asio::ip::tcp;
    stream_.next_layer().connect(tcp::endpoint(boost::asio::ip::address_v4::loopback(),
                                               static_cast<std::uint16_t>(server.port())));
    websocket::permessage_deflate packing;
    packing.client_enable = packs;
    stream_.set_option(packing);
    stream_.binary(true);
    stream_.handshake(response_, "localhost", path, error_);
  }

  void Send(const std::string& message) { stream_.write(boost::asio::buffer(message), error_); }
  std::string Receive() {
    boost::beast::flat_buffer buffer;
    stream_.read(buffer, error_);
    return boost::beast::buffers_to_string(buffer.data());
  }
  const error_code& error() const { return error_; }
  bool packs() const { return !response_["Sec-WebSocket-Extensions"].empty(); }
  std::string reason() const { return std::string(stream_.reason().reason.c_str()); }

 private:
  boost::asio::io_context io_;
  websocket::stream<boost::asio::ip::tcp::socket> stream_{io_};
  websocket::response_type response_;
  error_code error_;
};

TEST(WebSocket, MessagesOfEverySizeGoBothWays) {
  const ParrotServer server;
  for (const bool packs : {true, false}) {
    Client client(server, "/", packs);
    ASSERT_EQ(client.packs(), packs);
    std::string message;
    for (const std::size_t size : {0, 1, 125, 126, 65'535, 65'536, 900'000}) {
      while (message.size() < size) message += static_cast<char>(message.size() * 31 % 251);
      client.Send(message);
      EXPECT_EQ(client.Receive(), message);
      EXPECT_EQ(client.Receive(), message);
    }
  }
}

TEST(WebSocket, NotEverybodyGetsOne) {
  const ParrotServer server;
  EXPECT_EQ(Client(server, "/none").error(), websocket::error::upgrade_declined);
}

TEST(WebSocket, AMessageThatIsTooLargeEndsIt) {
  const ParrotServer server;
  Client client(server);
  client.Send(std::string(1'000'001, 'x'));
  client.Receive();
  EXPECT_TRUE(client.error());
}

TEST(WebSocket, WhatWasSentArrivesBeforeTheEnd) {
  const ParrotServer server;
  Client client(server);
  client.Send("end");
  EXPECT_EQ(client.Receive(), "end");
  EXPECT_EQ(client.Receive(), "end");
  client.Receive();
  EXPECT_EQ(client.error(), websocket::error::closed);
  EXPECT_EQ(client.reason(), "as you like");
}

TEST(WebSocket, AUserThatFailsEndsItsOwnConnectionOnly) {
  const ParrotServer server;
  Client client(server), other(server);
  client.Send("fail");
  client.Receive();
  EXPECT_EQ(client.error(), websocket::error::closed);
  other.Send("still here");
  EXPECT_EQ(other.Receive(), "still here");
}

TEST(WebSocket, TimePassesForItsUser) {
  const ParrotServer server;
  Client client(server);
  std::string ticks = "0";
  for (int i = 0; i < 10'000 && ticks == "0"; ++i) {
    client.Send("ticks");
    ticks = client.Receive();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_NE(ticks, "0");
}

TEST(WebSocket, AServerThatEndsSaysSo) {
  ParrotServer server;
  Client client(server);
  server.AskToStop();
  client.Receive();
  EXPECT_EQ(client.error(), websocket::error::closed);
  EXPECT_EQ(client.reason(), "the server has ended");
  server.Stop();
}

}  // namespace
}  // namespace traceinject
