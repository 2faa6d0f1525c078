// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/http_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "analyzer/commands/record/live_metrics.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

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

  void Send(const std::string& text) { send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
  // All until the server closes.
  std::string Receive() {
    std::string text;
    char bytes[4096];
    for (ssize_t count; (count = recv(fd_, bytes, sizeof(bytes), 0)) > 0;)
      text.append(bytes, static_cast<std::size_t>(count));
    return text;
  }

 private:
  int fd_;
};

// A server on a thread of its own, with the metrics of a recording.
class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    RunDbFixture file(path_, {.rank = 3});
    file.AddDevice({});
    for (int i = 0; i < 100; ++i)
      file.AddLaunchedKernel({.start_ns = i * 1'000'000 + 10'000, .dur_ns = 500'000}, i * 1'000'000,
                             5'000);
    file.Close();
    auto server = HttpServer::Listen("127.0.0.1:0");
    ASSERT_TRUE(server.ok()) << server.error();
    port_ = server.value().port();
    ASSERT_EQ(pipe(stop_), 0);
    thread_ = std::jthread([this, own = std::move(server).value()]() mutable {
      LiveMetrics metrics({.paths = {path_}, .report = {}}, LiveMetrics::kEvery_ns);
      own.Run(stop_[0], [&](const HttpRequest& request) { return metrics.Answer(request); });
    });
  }
  void TearDown() override {
    close(stop_[1]);
    thread_.join();
    close(stop_[0]);
  }
  std::string Ask(const std::string& request) {
    Connection connection(port_);
    connection.Send(request);
    return connection.Receive();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  int port_ = 0;
  int stop_[2] = {-1, -1};
  std::jthread thread_;
};

TEST_F(HttpServerTest, GivesTheMetricsInTheFormatThatIsAccepted) {
  const std::string older = Ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(older.starts_with("HTTP/1.1 200 OK\r\n")) << older;
  EXPECT_NE(older.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  EXPECT_NE(older.find("traceinject_gpu_busy_ratio{rank=\"3\""), std::string::npos);
  const std::string newer =
      Ask("GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\naccept: "
          "application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n\r\n");
  EXPECT_NE(newer.find("Content-Type: application/openmetrics-text; version=1.0.0"),
            std::string::npos);
  EXPECT_TRUE(newer.ends_with("# EOF\n"));
  const std::size_t body = newer.find("\r\n\r\n") + 4;
  EXPECT_NE(newer.find(fmt::format("Content-Length: {}\r\n", newer.size() - body)),
            std::string::npos);
}

TEST_F(HttpServerTest, RefusesWhatItDoesNotHave) {
  EXPECT_TRUE(Ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 Not Found\r\n"));
  const std::string post = Ask("POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(post.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
  EXPECT_NE(post.find("Allow: GET\r\n"), std::string::npos);
  for (const char* broken :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/2.0\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", "\x16\x03\x01\r\n\r\n"})
    EXPECT_TRUE(Ask(broken).starts_with("HTTP/1.1 400 Bad Request\r\n")) << broken;
  EXPECT_TRUE(Ask("GET /" + std::string(20'000, 'a')).starts_with("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, AClientThatIsSlowKeepsNobodyWaiting) {
  Connection slow(port_);
  slow.Send("GET /met");
  // More than the server has room for, which say nothing.
  std::vector<std::unique_ptr<Connection>> silent;
  for (std::size_t i = 0; i + 2 < HttpServer::kMaxClients; ++i)
    silent.push_back(std::make_unique<Connection>(port_));
  EXPECT_TRUE(Ask("GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  slow.Send("rics HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(slow.Receive().starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, ClientsThatGoAwayAreForgotten) {
  for (std::size_t i = 0; i < 3 * HttpServer::kMaxClients; ++i) {
    Connection gone(port_);
    gone.Send("GET /metrics HTTP/1.1\r\n\r\n");
  }
  EXPECT_TRUE(Ask("GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServer, SaysWhoCanReachItAndWhyItCannotListen) {
  auto loopback = HttpServer::Listen("127.0.0.1:0");
  ASSERT_TRUE(loopback.ok()) << loopback.error();
  EXPECT_TRUE(loopback.value().is_loopback());
  const auto all = HttpServer::Listen("0.0.0.0:0");
  ASSERT_TRUE(all.ok()) << all.error();
  EXPECT_FALSE(all.value().is_loopback());
  const std::string taken = fmt::format("127.0.0.1:{}", loopback.value().port());
  EXPECT_FALSE(HttpServer::Listen(taken).ok());
  for (const char* wrong : {"", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http",
                            "256.0.0.1:1", "127.0.0.1:65536", "127.0.0.1:99999999999"})
    EXPECT_FALSE(HttpServer::Listen(wrong).ok()) << wrong;
}

TEST(LiveMetrics, SaysSoWhereThereIsNoRecordingYet) {
  const TemporaryFolder folder;
  LiveMetrics metrics({.paths = {folder / "run.db"}, .report = {}}, 1);
  const HttpResponse response = metrics.Answer({"GET", "/metrics", ""});
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("\ntraceinject_recording_readable 0\n"), std::string::npos);
}

TEST(LiveMetrics, ReadsAnewOnlyAfterAWhile) {
  const TemporaryFolder folder;
  LiveMetrics metrics({.paths = {folder / "run.db"}, .report = {}}, LiveMetrics::kEvery_ns * 1000);
  const HttpRequest request = {"GET", "/metrics", ""};
  metrics.Answer(request);
  RunDbFixture file(folder / "run.db", {});
  file.AddLaunchedKernel({.start_ns = 10'000, .dur_ns = 500'000}, 0, 5'000);
  file.Close();
  EXPECT_NE(metrics.Answer(request).body.find("readable 0"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
