// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/http_server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace traceinject {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Internal Server Error";
  }
}

std::string Render(const HttpResponse& response) {
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", response.status,
                  ReasonOf(response.status), response.content_type, response.body.size());
  if (!response.allow.empty()) text += fmt::format("Allow: {}\r\n", response.allow);
  return text + "Connection: close\r\n\r\n" + response.body;
}

std::string Problem(int status, std::string_view what) {
  return Render({.status = status, .body = fmt::format("{}\n", what)});
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == (y >= 'A' && y <= 'Z' ? y - 'A' + 'a' : y);
  });
}

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(ipv4.sin_addr.s_addr) >> 24 == 127;
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
  return address.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr) != 0;
}

int PortOf(const sockaddr_storage& address) {
  const bool is_ipv4 = address.ss_family == AF_INET;
  return ntohs(is_ipv4 ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                       : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

// getaddrinfo() takes larger numbers, and cuts them.
bool IsPort(const std::string& text) {
  constexpr std::size_t kMaxDigits = 5;
  constexpr int kMaxPort = 65535;
  return !text.empty() && text.size() <= kMaxDigits &&
         text.find_first_not_of("0123456789") == std::string::npos && std::stoi(text) <= kMaxPort;
}

// "host:port" and "[host]:port".
bool Split(const std::string& address, std::string& host, std::string& port) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size()) return false;
  host = address.substr(0, colon);
  port = address.substr(colon + 1);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return !host.empty() && IsPort(port);
}

// One connection: reads a request, then writes the answer.
class Client {
 public:
  explicit Client(int fd) : fd_(fd) { Wait(); }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  pollfd polled() const { return {fd_, static_cast<short>(answer_.empty() ? POLLIN : POLLOUT), 0}; }
  bool done() const { return done_; }

  void Go(const std::function<HttpResponse(const HttpRequest&)>& answer) {
    answer_.empty() ? Read(answer) : Write();
  }
  // After Go(), so that what was there in time counts.
  void CheckPatience() {
    if (done_ || Clock::now() < deadline_) return;
    if (answer_.empty() && !request_.empty()) {
      Answer(Problem(408, "the request timed out"));
      Write();
    }
    done_ = true;
  }
  Clock::time_point deadline() const { return deadline_; }

 private:
  void Wait() { deadline_ = Clock::now() + std::chrono::milliseconds(HttpServer::kPatience_ms); }

  void Answer(std::string text) {
    answer_ = std::move(text);
    Wait();
  }

  void Read(const std::function<HttpResponse(const HttpRequest&)>& answer) {
    char bytes[2048];
    const ssize_t count = recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      done_ = true;
      return;
    }
    request_.append(bytes, static_cast<std::size_t>(count));
    const std::size_t end = request_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (request_.size() > HttpServer::kMaxRequestBytes)
        Answer(Problem(431, "the request is too long"));
      return;
    }
    const auto request = ParseHttpRequest(std::string_view(request_).substr(0, end));
    Answer(request.ok() ? Render(answer(request.value())) : Problem(400, request.error()));
    Write();
  }

  void Write() {
    while (sent_ < answer_.size()) {
      const ssize_t count =
          send(fd_, answer_.data() + sent_, answer_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count < 0) break;
      sent_ += static_cast<std::size_t>(count);
    }
    // What the client still sends would make the answer vanish with the connection.
    shutdown(fd_, SHUT_WR);
    char rest[2048];
    while (recv(fd_, rest, sizeof(rest), MSG_DONTWAIT) > 0) {
    }
    done_ = true;
  }

  int fd_;
  std::string request_, answer_;
  std::size_t sent_ = 0;
  bool done_ = false;
  Clock::time_point deadline_;
};

}  // namespace

Result<HttpRequest> ParseHttpRequest(std::string_view text) {
  const std::size_t line_end = std::min(text.find("\r\n"), text.size());
  const std::string_view line = text.substr(0, line_end);
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || first == 0)
    return Error{"not an HTTP request"};
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return Error{"not an HTTP/1.1 request"};
  HttpRequest request;
  request.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.empty() || target.find(' ') != std::string_view::npos)
    return Error{"not an HTTP request"};
  request.path = target.substr(0, target.find('?'));
  for (std::size_t at = line_end; at < text.size();) {
    at += 2;
    const std::size_t end = std::min(text.find("\r\n", at), text.size());
    const std::string_view header = text.substr(at, end - at);
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) return Error{"a header has no colon"};
    if (EqualsIgnoringCase(header.substr(0, colon), "accept")) {
      if (!request.accept.empty()) request.accept += ',';
      request.accept += header.substr(colon + 1);
    }
    at = end;
  }
  return request;
}

Result<HttpServer> HttpServer::Listen(const std::string& address) {
  std::string host, port;
  if (!Split(address, host, port))
    return Error{fmt::format("{}: expected HOST:PORT, as in 127.0.0.1:9464, the port at most 65535",
                             address)};
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) return Error{fmt::format("{}: {}", address, gai_strerror(failed))};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0) {
    const int cause = errno;
    if (fd >= 0) close(fd);
    return Error{
        fmt::format("{}: cannot listen on this address ({})", address, std::strerror(cause))};
  }
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length);
  return HttpServer(fd, PortOf(bound), IsLoopback(*found->ai_addr));
}

HttpServer::HttpServer(HttpServer&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), port_(other.port_), is_loopback_(other.is_loopback_) {}

HttpServer::~HttpServer() {
  if (fd_ >= 0) close(fd_);
}

void HttpServer::Run(int stop_fd, const std::function<HttpResponse(const HttpRequest&)>& answer) {
  std::vector<std::unique_ptr<Client>> clients;
  for (;;) {
    // A negative descriptor is passed over: whoever is too many waits in the queue of the system.
    std::vector<pollfd> polled = {{stop_fd, POLLIN, 0},
                                  {clients.size() < kMaxClients ? fd_ : -1, POLLIN, 0}};
    auto until = Clock::now() + std::chrono::hours(1);
    for (const auto& client : clients) {
      polled.push_back(client->polled());
      until = std::min(until, client->deadline());
    }
    const auto wait =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count() + 1;
    if (poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(wait, 0))) < 0 &&
        errno != EINTR)
      return;
    if (polled[0].revents != 0) return;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (polled[i + 2].revents != 0) clients[i]->Go(answer);
      clients[i]->CheckPatience();
    }
    std::erase_if(clients, [](const auto& client) { return client->done(); });
    if (polled[1].revents == 0) continue;
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) clients.push_back(std::make_unique<Client>(fd));
  }
}

}  // namespace traceinject
