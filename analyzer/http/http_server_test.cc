// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/http_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace traceinject {
namespace {

using std::chrono::milliseconds;

// A connection to a port of this machine.
class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Send(const std::string& text) const { send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
  // Of a text that has come as a whole, what stands after `end` waits for the next call.
  std::string ReceiveUntil(const std::string& end) {
    std::size_t found;
    while ((found = received_.find(end)) == std::string::npos && ReceiveSome()) {
    }
    const std::size_t size = found == std::string::npos ? received_.size() : found + end.size();
    std::string text = received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }
  // All until the server closes.
  std::string Receive() {
    while (ReceiveSome()) {
    }
    return std::exchange(received_, "");
  }

 private:
  bool ReceiveSome() {
    char bytes[4096];
    const ssize_t count = recv(fd_, bytes, sizeof(bytes), 0);
    if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  int fd_;
  std::string received_;
};

// A server on a thread of its own.
class RunningServer {
 public:
  RunningServer(HttpHandler answer, const HttpLimits& limits) {
    auto socket = ListenSocket::Open("127.0.0.1:0");
    if (!socket.ok() || pipe(stop_) != 0) throw std::runtime_error("cannot listen");
    port_ = socket.value().port();
    thread_ =
        std::jthread([this, own = std::move(socket).value(), answer = std::move(answer),
                      limits]() mutable { ServeHttp(std::move(own), stop_[0], answer, limits); });
  }
  ~RunningServer() {
    Stop();
    close(stop_[0]);
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  // Returns once the server has ended.
  void Stop() {
    AskToStop();
    if (thread_.joinable()) thread_.join();
  }
  void AskToStop() {
    if (stop_[1] >= 0) close(std::exchange(stop_[1], -1));
  }
  std::string Ask(const std::string& request) const {
    Connection connection(port_);
    connection.Send(request);
    return connection.Receive();
  }
  int port() const { return port_; }

 private:
  int stop_[2] = {-1, -1};
  int port_ = 0;
  std::jthread thread_;
};

constexpr char kHost[] = "Host: x\r\n";
constexpr char kClose[] = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

HttpResponse Echo(const HttpRequest& request) {
  if (request.path == "/throws") throw std::runtime_error("it does");
  if (request.path == "/large") return {.body = std::string(3'000'000, 'x')};
  return {.body = fmt::format("{} {}\n", request.method, request.path)};
}

TEST(HttpServer, AnswersRequestAfterRequestOnOneConnection) {
  const RunningServer server(Echo, {});
  Connection connection(server.port());
  for (const char* path : {"/1", "/2"}) {
    connection.Send(fmt::format("GET {}?x=/y HTTP/1.1\r\n{}\r\n", path, kHost));
    EXPECT_TRUE(connection.ReceiveUntil("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(connection.ReceiveUntil("\n"), fmt::format("GET {}\n", path));
  }
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInTheirOrder) {
  const RunningServer server(Echo, {});
  Connection connection(server.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += fmt::format("GET /{} HTTP/1.1\r\n{}\r\n", i, kHost);
  connection.Send(requests + "GET /last" + kClose);
  const std::string answers = connection.Receive();
  std::size_t at = 0;
  for (int i = 0; i < 50; ++i) {
    at = answers.find(fmt::format("\r\n\r\nGET /{}\n", i), at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_NE(answers.find("GET /last\n", at), std::string::npos);
}

TEST(HttpServer, HeadHasTheHeaderOfGetAndNoBody) {
  const RunningServer server(Echo, {});
  std::string get = server.Ask(std::string("GET /a") + kClose);
  const std::string head = server.Ask(std::string("HEAD /a") + kClose);
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  get.resize(get.find("\r\n\r\n") + 4);
  EXPECT_EQ(head, get);
}

TEST(HttpServer, RefusesWhatIsNoRequestItCanTake) {
  HttpLimits limits;
  limits.header_bytes = 1000;
  limits.target_bytes = 500;
  limits.body_bytes = 100;
  const RunningServer server(Echo, limits);
  const auto status = [&](const std::string& request) { return server.Ask(request).substr(9, 3); };
  for (const char* broken :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /a\r\n\r\n", "GET /a HTTP/1.1\r\nno colon\r\n\r\n",
        "\x16\x03\x01\r\n\r\n", "GET /a HTTP/1.1\r\n\r\n", "GET x HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"})
    EXPECT_EQ(status(broken), "400") << broken;
  EXPECT_EQ(status("GET /a HTTP/2.0\r\nHost: x\r\n\r\n"), "505");
  EXPECT_EQ(status("GET /" + std::string(2000, 'a')), "414");
  EXPECT_EQ(status("GET /" + std::string(600, 'a') + kClose), "414");
  EXPECT_EQ(status("GET /a HTTP/1.1\r\nHost: " + std::string(2000, 'a')), "431");
  EXPECT_EQ(status("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n"), "413");
  EXPECT_EQ(
      status("POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100\r\n\r\n" +
             std::string(100, 'b')),
      "200");
  EXPECT_EQ(status("GET /throws HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "500");
  EXPECT_EQ(status("GET /a HTTP/1.0\r\n\r\n"), "200");
  EXPECT_EQ(status(std::string("GET http://x/a") + kClose), "200");
}

TEST(HttpServer, PacksWhatIsWorthItWhereTheClientTakesIt) {
  const RunningServer server(Echo, {});
  const std::string plain = server.Ask(std::string("GET /large") + kClose);
  const std::string packed = server.Ask(
      "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_NE(packed.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_LT(packed.size(), plain.size() / 50);
  EXPECT_EQ(plain.find("Content-Encoding"), std::string::npos);
  const std::string small = server.Ask(
      "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(small.find("Content-Encoding"), std::string::npos);
}

TEST(HttpServer, ASlowRequestIsGivenUpAndSilenceEnds) {
  HttpLimits limits;
  limits.request_time = milliseconds(300);
  limits.idle_time = milliseconds(300);
  const RunningServer server(Echo, limits);
  Connection slow(server.port()), silent(server.port()), idle(server.port());
  slow.Send("GET /a HT");
  idle.Send(fmt::format("GET /a HTTP/1.1\r\n{}\r\n", kHost));
  // Byte by byte it takes no longer.
  std::jthread drips([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      slow.Send("T");
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  EXPECT_TRUE(slow.Receive().starts_with("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_EQ(silent.Receive(), "");
  EXPECT_TRUE(idle.Receive().ends_with("GET /a\n"));
}

TEST(HttpServer, AClientThatDoesNotTakeItsAnswerIsDropped) {
  HttpLimits limits;
  limits.answer_time = milliseconds(200);
  limits.least_bytes_per_second = 1 << 30;
  const RunningServer server(
      [](const HttpRequest&) { return HttpResponse{.body = std::string(50'000'000, 'x')}; },
      limits);
  Connection stuck(server.port());
  stuck.Send(std::string("GET /") + kClose);
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_LT(stuck.Receive().size(), 50'000'000U);
}

TEST(HttpServer, WhoIsTooManyTakesThePlaceOfTheMostPatient) {
  HttpLimits limits;
  limits.connections = 8;
  const RunningServer server(Echo, limits);
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<Connection>(server.port()));
  EXPECT_TRUE(server.Ask(std::string("GET /a") + kClose).starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(silent.front()->Receive(), "");
  silent.back()->Send(std::string("GET /b") + kClose);
  EXPECT_TRUE(silent.back()->Receive().ends_with("GET /b\n"));
}

TEST(HttpServer, OneThatTakesLongKeepsNobodyWaiting) {
  std::promise<void> go;
  const std::shared_future<void> may_go = go.get_future().share();
  const RunningServer server(
      [&](const HttpRequest& request) {
        if (request.path == "/long") may_go.wait();
        return Echo(request);
      },
      {});
  Connection patient(server.port());
  patient.Send(std::string("GET /long") + kClose);
  EXPECT_TRUE(server.Ask(std::string("GET /a") + kClose).ends_with("GET /a\n"));
  go.set_value();
  EXPECT_TRUE(patient.Receive().ends_with("GET /long\n"));
}

TEST(HttpServer, AtTheEndWhatIsBeingAnsweredIsAnswered) {
  std::promise<void> asked, go;
  RunningServer server(
      [&](const HttpRequest& request) {
        asked.set_value();
        go.get_future().wait();
        return Echo(request);
      },
      {});
  {
    Connection idle(server.port()), asking(server.port());
    asking.Send(fmt::format("GET /a HTTP/1.1\r\n{}\r\n", kHost));
    asked.get_future().wait();
    server.AskToStop();
    EXPECT_EQ(idle.Receive(), "");
    go.set_value();
    const std::string answer = asking.Receive();
    EXPECT_TRUE(answer.ends_with("GET /a\n")) << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  }
  server.Stop();
}

}  // namespace
}  // namespace traceinject
