// SPDX-License-Identifier: Apache-2.0
// A small HTTP/1.1 server for a page or two: one request a connection, no bodies.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "analyzer/common/result.h"

namespace traceinject {

struct HttpRequest {
  std::string method, path;  // path: without the query
  std::string accept;        // the header of that name; empty: none
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow = {};  // of 405: the methods there are
};

class HttpServer {
 public:
  // Of a request, up to the empty line.
  static constexpr std::size_t kMaxRequestBytes = 8192;
  static constexpr std::size_t kMaxClients = 32;  // at once; more wait
  static constexpr int kPatience_ms = 10'000;  // for a request, and for a client to take its answer

  // `address`: "127.0.0.1:9464", "[::1]:9464", "localhost:0" (any free port).
  static Result<HttpServer> Listen(const std::string& address);
  ~HttpServer();
  HttpServer(HttpServer&& other) noexcept;
  HttpServer& operator=(HttpServer&&) = delete;

  // Answers until `stop_fd` can be read. What `answer` takes, all clients wait for; none waits for
  // another client.
  void Run(int stop_fd, const std::function<HttpResponse(const HttpRequest&)>& answer);

  int port() const { return port_; }
  // Whether only this machine can reach it.
  bool is_loopback() const { return is_loopback_; }

 private:
  HttpServer(int fd, int port, bool is_loopback)
      : fd_(fd), port_(port), is_loopback_(is_loopback) {}

  int fd_ = -1;
  int port_ = 0;
  bool is_loopback_ = false;
};

// The request whose head `text` is, without its empty line. Error: it is none.
Result<HttpRequest> ParseHttpRequest(std::string_view text);

}  // namespace traceinject
