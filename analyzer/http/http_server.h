// SPDX-License-Identifier: Apache-2.0
// Answers HTTP/1.1 requests: connections that stay open, pipelined requests, HEAD, gzip. TLS is for
// a proxy before it. The library behind it is known to http_server.cc and web_socket_connection.cc
// alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "analyzer/http/http_message.h"
#include "analyzer/http/listen_socket.h"
#include "analyzer/http/web_socket.h"

namespace traceinject {

struct HttpLimits {
  std::size_t header_bytes = 8192;  // of a request, up to the empty line; more: 431
  std::size_t target_bytes = 4096;  // more: 414
  std::size_t body_bytes = 16384;   // of a request; more: 413
  // At once. Whoever is too many takes the place of the connection that has waited longest for a
  // request; where all are being answered, it waits.
  std::size_t connections = 256;
  // From the first byte of a request, or of a new connection, to the end of the request: else 408.
  std::chrono::milliseconds request_time{10'000};
  std::chrono::milliseconds idle_time{75'000};  // between requests
  // For a client to take an answer, and so much more for what its size takes at the least rate.
  std::chrono::milliseconds answer_time{10'000};
  std::size_t least_bytes_per_second = 16384;
  std::chrono::milliseconds end_time{5'000};  // what is being answered may take so long at the end
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

// Answers until `stop_fd` can be read, then ends what it is answering. `answer` is called from
// several threads at once, so that one that takes long keeps only some waiting; of requests that
// are not HTTP, too long, or too slow it hears nothing. HEAD is asked as GET. What it throws is a
// 500. `web_sockets`: for clients that ask for one; null: there are none.
void ServeHttp(ListenSocket socket, int stop_fd, const HttpHandler& answer,
               const HttpLimits& limits = {}, const WebSocketService* web_sockets = nullptr);

}  // namespace traceinject
