// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/request_targets.h"

#include <algorithm>
#include <chrono>

#include "analyzer/commands/serve/pages.h"
#include "analyzer/http/access.h"
#include "analyzer/http/letter_case.h"
#include "tests/fuzz/bases.h"
#include "tests/fuzz/scratch_file.h"

namespace traceinject {
namespace {

// One job, whose name needs to be encoded.
Pages& PagesOfAJob() {
  static Pages pages({.find =
                          [] {
                            static const std::string path =
                                PutFile("served.db", ReadBase("rank0.db"));
                            return std::vector<JobFiles>{{"a job/\xC3\xA9<b>", {path}}};
                          },
                      .live = {},
                      .has_labels = true,
                      .every = std::chrono::hours(1)});
  return pages;
}

std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// "GET /path", then "name: value" of headers: what the library that reads HTTP leaves of a request.
HttpRequest ReadRequest(std::string_view text) {
  const std::string_view first = TakeLine(text);
  const std::size_t space = std::min(first.find(' '), first.size());
  HttpRequest request;
  request.method = first.substr(0, space);
  request.path = "/" + std::string(first.substr(std::min(space + 2, first.size())));
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos)
      request.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  return request;
}

std::string WrongAnswer(const HttpResponse& response) {
  std::string wrong;
  if (response.status < 200 || response.status > 599) wrong += "a status that is none\n";
  // A line break would begin a header of the client's own.
  for (const auto& [name, value] : response.headers)
    if ((name + value).find_first_of("\r\n") != std::string::npos)
      wrong += "a header of two lines: " + name + "\n";
  if (response.status != 200 && response.body.empty()) wrong += "refused without a reason\n";
  return wrong;
}

// Where no secret is needed: by the names of this machine alone, and the one path that is open.
std::string WrongAdmission(const HttpRequest& request) {
  constexpr std::string_view kOwnNames[] = {"localhost", "127.", "[::1]"};
  AccessRules own, open;
  own.is_loopback = true;
  open.is_loopback = false;
  open.open_path = "/metrics";
  const std::string host = LowerCase(request.header("host"));
  const bool is_own = host.empty() || std::ranges::any_of(kOwnNames, [&](std::string_view name) {
                        return host.find(name) != std::string::npos;
                      });
  std::string wrong;
  if (const auto refusal = RefuseAccess(own, request)) {
    wrong += WrongAnswer(*refusal);
  } else if (!is_own) {
    wrong += "served by the name " + host + "\n";
  }
  if (!RefuseAccess(open, request) && request.path != open.open_path)
    wrong += "served to other machines: " + request.path + "\n";
  return wrong;
}

}  // namespace

std::string FuzzRequest(std::string_view input) {
  const HttpRequest request = ReadRequest(input);
  std::string wrong = WrongAnswer(PagesOfAJob().Answer(request)) + WrongAdmission(request);
  AccessRules rules;
  rules.is_loopback = false;
  rules.credentials.AddToken("sesame");
  const auto refusal = RefuseAccess(rules, request);
  if (refusal) return wrong + WrongAnswer(*refusal);
  // "sesame" behind a name and a colon begins at any byte of three.
  constexpr std::string_view kForms[] = {"sesame", "nNlc2FtZ", "c2VzYW1l", "zZXNhbW"};
  const std::string_view said = request.header("authorization");
  const bool has_secret = std::ranges::any_of(
      kForms, [&](std::string_view form) { return said.find(form) != std::string_view::npos; });
  return has_secret ? wrong : wrong + "admitted without the token\n";
}

}  // namespace traceinject
