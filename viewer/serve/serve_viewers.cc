// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/serve_viewers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/common/stop_signals.h"
#include "analyzer/http/access.h"
#include "analyzer/http/http_server.h"
#include "analyzer/http/letter_case.h"
#include "viewer/core/load/title.h"
#include "viewer/serve/served_page.h"
#include "viewer/serve/served_viewer.h"

namespace traceinject {
namespace {

constexpr std::size_t kMostViewers = 32;
constexpr std::chrono::milliseconds kFirstLook{1'000};
constexpr char kSocketPath[] = "/viewer";

HttpResponse Page(const HttpRequest& request) {
  if (request.path != "/") return {.status = 404, .body = "there is / only\n"};
  if (request.method != "GET")
    return {.status = 405, .body = "read-only\n", .headers = {{"Allow", "GET, HEAD"}}};
  return {.content_type = "text/html; charset=utf-8",
          .body = ServedPage(),
          .headers = {{"Content-Security-Policy", ServedPagePolicy()},
                      {"Referrer-Policy", "no-referrer"}}};
}

// A page of somebody else may not talk to this server through the browser of its user.
bool IsOwnPage(const HttpRequest& request) {
  const std::string origin = LowerCase(request.header("origin"));
  if (origin.empty()) return true;  // no browser
  const std::size_t host = origin.find("://");
  return host != std::string::npos && origin.substr(host + 3) == LowerCase(request.header("host"));
}

std::string ThisMachine() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 && name[0] != 0 ? name : "HOST";
}

void Announce(const ViewerOptions& options, const ListenSocket& socket, const std::string& token) {
  const std::string machine = ThisMachine();
  const int port = socket.port();
  fmt::print(stderr, "serving {}; Ctrl-C ends it\n", Printable(NamesOf(options.paths)));
  if (!socket.is_loopback())
    fmt::print(stderr,
               "warning: other machines reach this address, and nothing that is sent is encrypted; "
               "the token alone keeps\nthem out. On the loopback address, ssh does both\n");
  fmt::print(stderr, "  http://{}:{}/#token={}\n", socket.is_loopback() ? "localhost" : machine,
             port, token);
  if (socket.is_loopback())
    fmt::print(stderr, "from another machine, first: ssh -N -L {0}:localhost:{0} {1}\n", port,
               machine);
}

}  // namespace

Status ServeViewers(const ViewerOptions& options) {
  auto socket = ListenSocket::Open(*options.serve);
  if (!socket.ok()) return Error{socket.error() + "; --serve 127.0.0.1:0 takes any free port"};
  auto token = MakeSecret();
  if (!token.ok()) return Error{token.error()};
  Credentials credentials;
  credentials.AddToken(token.value());
  if (!StopSignals::Catch()) return Error{"cannot catch Ctrl-C"};
  AccessRules rules;
  rules.is_loopback = socket.value().is_loopback();
  rules.open = true;  // to see the page, which tells nothing; what it shows needs the token
  ServedViewers viewers(options, std::move(credentials));
  // What cannot be read is told at once, unless it may be only later that there is something.
  viewers.run.WaitForFirst(kFirstLook);
  if (const std::string& problem = viewers.run.problem(); !problem.empty() && !options.follow)
    return Error{problem};
  Announce(options, socket.value(), token.value());
  WebSocketService web_sockets;
  web_sockets.open = [&](const HttpRequest& request)
      -> std::variant<HttpResponse, std::unique_ptr<WebSocketUser>> {
    if (auto refusal = RefuseAccess(rules, request)) return std::move(*refusal);
    if (request.path != kSocketPath || !IsOwnPage(request))
      return HttpResponse{.status = 403, .body = "this is for the viewer's own page\n"};
    if (viewers.count >= kMostViewers)
      return HttpResponse{.status = 503, .body = "too many viewers\n"};
    return std::make_unique<ServedViewer>(viewers);
  };
  const auto answer = [&rules](const HttpRequest& request) {
    auto refusal = RefuseAccess(rules, request);
    return refusal ? std::move(*refusal) : Page(request);
  };
  ServeHttp(std::move(socket).value(), StopSignals::fd(), answer, {}, &web_sockets);
  fmt::print(stderr, "ended\n");
  return Done{};
}

}  // namespace traceinject
