// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/access.h"

#include "analyzer/http/letter_case.h"

namespace traceinject {
namespace {

bool IsIpv4Loopback(std::string_view host) {
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
}

// `host` may have a port.
bool NamesThisMachine(std::string_view host) {
  std::string name = LowerCase(host);
  const std::size_t colon = name.rfind(':');
  if (colon != std::string::npos && name.find(']', colon) == std::string::npos) name.resize(colon);
  return name == "localhost" || name.ends_with(".localhost") || name == "[::1]" ||
         IsIpv4Loopback(name);
}

}  // namespace

std::optional<HttpResponse> RefuseAccess(const AccessRules& rules, const HttpRequest& request) {
  // HTTP/1.0 needs no Host; no browser speaks it.
  const std::string_view host = request.header("host");
  if (rules.is_loopback && !host.empty() && !NamesThisMachine(host))
    return HttpResponse{.status = 403,
                        .body = "this server is for its own machine: ask for localhost\n"};
  if (!rules.credentials.empty()) {
    if (rules.credentials.Admit(request.header("authorization"))) return std::nullopt;
    return HttpResponse{
        .status = 401,
        .body = "a token or a password is needed\n",
        .headers = {{"WWW-Authenticate", "Basic realm=\"traceinject\", charset=\"UTF-8\""},
                    {"WWW-Authenticate", "Bearer realm=\"traceinject\""}}};
  }
  if (rules.is_loopback || rules.open || request.path == rules.open_path) return std::nullopt;
  return HttpResponse{.status = 403,
                      .body = "from other machines this needs a token: see --token and --open\n"};
}

}  // namespace traceinject
