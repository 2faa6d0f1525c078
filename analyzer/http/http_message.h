// SPDX-License-Identifier: Apache-2.0
// What a client asks and what it is told.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceinject {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;
  std::string path;     // as it was sent, without the query; begins with "/"
  HttpHeaders headers;  // names in lower case, each once

  // Empty: it was not sent, or is empty.
  std::string_view header(std::string_view lower_case_name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  HttpHeaders headers = {};  // beside those that follow from the body
};

// The words of a header such as "gzip;q=0, br" with their weight above 0: whether `word` or "*" is
// among them. A word that is named goes before "*".
bool AcceptsWord(std::string_view header, std::string_view word);

}  // namespace traceinject
