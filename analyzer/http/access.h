// SPDX-License-Identifier: Apache-2.0
// Who may have what of a server.
#pragma once

#include <optional>

#include "analyzer/http/credentials.h"
#include "analyzer/http/http_message.h"

namespace traceinject {

struct AccessRules {
  Credentials credentials;  // where there are any, all requests need one of them
  bool is_loopback = true;  // only this machine reaches the server
  bool open = false;        // others may have all without credentials
  std::string open_path;    // what they may have anyway
};

// Empty: the request may be answered. Otherwise what it is answered with. On the loopback address
// the header Host has to name this machine, else a page of somebody else could read the answers in
// a browser here (DNS rebinding).
std::optional<HttpResponse> RefuseAccess(const AccessRules& rules, const HttpRequest& request);

}  // namespace traceinject
