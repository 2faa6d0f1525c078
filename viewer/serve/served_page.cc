// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/served_page.h"

#include <fmt/format.h>

#include <string_view>

#include "analyzer/common/base64.h"
#include "viewer/serve/page_css.h"
#include "viewer/serve/page_html.h"
#include "viewer/serve/page_js.h"

namespace traceinject {
namespace {

void InsertAfter(std::string_view tag, std::string_view content, std::string& page) {
  page.insert(page.find(tag) + tag.size(), content);
}

}  // namespace

std::string ServedPage() {
  std::string page = k_page_html;
  InsertAfter("<style>", k_page_css, page);
  InsertAfter("<script>", k_page_js, page);
  return page;
}

std::string ServedPagePolicy() {
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self' ws: "
      "wss:; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      Base64OfHex(k_page_js_sha256), Base64OfHex(k_page_css_sha256));
}

}  // namespace traceinject
