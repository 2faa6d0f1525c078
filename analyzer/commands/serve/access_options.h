// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/http/credentials.h"

namespace traceinject {

struct AccessOptions {
  std::string token;               // a file, or "auto"
  std::vector<std::string> users;  // "NAME:FILE"
  bool open = false;
};

// `options` must outlive the parsing.
void AddAccessOptions(CLI::App& app, AccessOptions& options);

// What clients have to know. A token that was made is in `made_token`, to be told.
Result<Credentials> ReadCredentials(const AccessOptions& options, std::string& made_token);

}  // namespace traceinject
