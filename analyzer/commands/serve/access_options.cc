// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/access_options.h"

#include <fmt/format.h>

#include <utility>

namespace traceinject {
namespace {

constexpr char kAutoToken[] = "auto";

}  // namespace

void AddAccessOptions(CLI::App& app, AccessOptions& options) {
  app.add_option(
         "--token", options.token,
         "answer only requests with the bearer token in this file; auto: make one and print "
         "it. Browsers ask for it as a password")
      ->type_name("FILE");
  app.add_option("--user", options.users,
                 "answer only requests of a user, NAME:FILE, the file with the password; may be "
                 "repeated")
      ->allow_extra_args(false);
  app.add_flag("--open", options.open,
               "other machines may read everything without a token; else only /metrics");
}

Result<Credentials> ReadCredentials(const AccessOptions& options, std::string& made_token) {
  Credentials credentials;
  if (!options.token.empty()) {
    const bool makes = options.token == kAutoToken;
    auto token = makes ? MakeSecret() : ReadSecret(options.token);
    if (!token.ok()) return Error{token.error()};
    if (makes) made_token = token.value();
    credentials.AddToken(std::move(token).value());
  }
  for (const std::string& user : options.users) {
    const std::size_t colon = user.find(':');
    if (colon == 0 || colon == std::string::npos)
      return Error{fmt::format("--user {}: expected NAME:FILE, the file with the password", user)};
    auto password = ReadSecret(user.substr(colon + 1));
    if (!password.ok()) return Error{password.error()};
    credentials.AddUser(user.substr(0, colon), std::move(password).value());
  }
  return credentials;
}

}  // namespace traceinject
