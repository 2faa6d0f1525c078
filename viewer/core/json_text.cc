// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/json_text.h"

#include "analyzer/common/printable.h"

namespace traceinject {

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  // Printable text has no control characters, so that only these two are left to escape.
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

}  // namespace traceinject
