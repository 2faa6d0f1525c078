// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/page/document.h"

#include <fmt/format.h>

#include <string_view>

#include "analyzer/common/base64.h"
#include "analyzer/html/page/script_js.h"
#include "analyzer/html/page/style_css.h"
#include "analyzer/html/page/timeline_js.h"

namespace traceinject {
namespace {

// Nothing is loaded, sent or framed, and no script runs but ours.
std::string Policy() {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}' 'sha256-{}'; img-src "
      "data:; base-uri 'none'; form-action 'none'",
      Base64OfHex(k_style_css_sha256), Base64OfHex(k_script_js_sha256),
      Base64OfHex(k_timeline_js_sha256));
}

void WriteScript(Markup& out, std::string_view text) {
  const auto script = out.Open("script");
  out.Verbatim(text);
}

void WriteHead(Markup& out, const std::string& title) {
  const auto head = out.Open("head");
  out.Void("meta", {{"charset", "utf-8"}});
  out.Void("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", Policy()}});
  out.Void("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.Void("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  out.Void("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
  // Without it browsers ask for one.
  out.Void("link", {{"rel", "icon"}, {"href", "data:,"}});
  out.Leaf("title", title);
  const auto style = out.Open("style");
  out.Verbatim(k_style_css);
}

void WriteTop(Markup& out, const std::function<void(Markup&)>& write) {
  const auto header = out.Open("header", {{"class", "top"}});
  {
    const auto about = out.Open("div");
    write(out);
  }
  out.Leaf("button", "Theme", {{"id", "theme"}, {"type", "button"}, {"hidden", "hidden"}});
}

// A figure stays with its unit: lines break beside arrows and between words.
std::string WithFixedUnits(std::string_view value) {
  constexpr std::string_view kArrow = " → ", kFixedSpace = "\u00A0";
  std::string text;
  bool after_digit = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool is_fixed = value[i] == ' ' && after_digit && !value.substr(i).starts_with(kArrow);
    text += is_fixed ? kFixedSpace : value.substr(i, 1);
    after_digit = value[i] >= '0' && value[i] <= '9';
  }
  return text;
}

}  // namespace

std::string WriteDocument(const DocumentParts& parts) {
  Markup out;
  out.Verbatim("<!DOCTYPE html>\n");
  {
    const auto html = out.Open("html", {{"lang", "en"}});
    WriteHead(out, parts.title);
    const auto body = out.Open("body");
    out.Leaf("a", "Skip to the verdict", {{"class", "skip"}, {"href", "#verdict"}});
    WriteTop(out, parts.write_top);
    {
      const auto main = out.Open("main");
      parts.write_main(out);
    }
    {
      const auto footer = out.Open("footer");
      out.Leaf("p", parts.footer);
    }
    WriteScript(out, k_script_js);
    if (parts.has_timeline) WriteScript(out, k_timeline_js);
  }
  return out.text();
}

void WriteTile(Markup& out, const std::string& name, const std::string& value,
               const std::string& below) {
  const auto tile = out.Open("div", {{"class", "tile"}});
  out.Leaf("dt", name);
  const auto about = out.Open("dd");
  out.Leaf("b", WithFixedUnits(value));
  if (!below.empty()) out.Leaf("span", below);
}

}  // namespace traceinject
