// SPDX-License-Identifier: Apache-2.0
// Secrets that a client has to know, and those that a request brings along.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

// A secret stands in a file, or elsewhere where no other user sees it: never on a command line. The
// first line of the file. Error: there is none.
Result<std::string> ReadSecret(const std::string& path);
// One that nobody guesses: 128 bits. Error: the system has no random numbers.
Result<std::string> MakeSecret();

class Credentials {
 public:
  void AddToken(std::string token) { tokens_.push_back(std::move(token)); }
  void AddUser(std::string name, std::string password) {
    users_.push_back(std::move(name) + ':' + std::move(password));
  }
  bool empty() const { return tokens_.empty() && users_.empty(); }

  // Whether the header Authorization has one of them: "Bearer TOKEN", or "Basic" with the name and
  // the password of a user, or, for browsers, with any name and a token. How long that takes tells
  // nothing of the secrets but their length.
  bool Admit(std::string_view authorization) const;

 private:
  std::vector<std::string> tokens_, users_;  // users: "name:password"
};

}  // namespace traceinject
