// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/page/markup.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/html/page/escape.h"

namespace traceinject {
namespace {

constexpr std::string_view kInline[] = {"a", "b", "button", "code", "i", "span"};

bool IsInline(std::string_view tag) {
  return std::find(std::begin(kInline), std::end(kInline), tag) != std::end(kInline);
}

}  // namespace

void Markup::Start(std::string_view tag, Attributes attributes) {
  text_ += '<';
  text_ += tag;
  for (const auto& [name, value] : attributes) {
    text_ += ' ';
    text_ += name;
    text_ += "=\"";
    text_ += Escaped(value);
    text_ += '"';
  }
}

void Markup::Begin(std::string_view tag, Attributes attributes) {
  Start(tag, attributes);
  text_ += '>';
}

void Markup::Close(std::string_view tag) {
  text_ += "</";
  text_ += tag;
  // Within a line a line end would be a space.
  text_ += IsInline(tag) ? ">" : ">\n";
}

void Markup::Leaf(std::string_view tag, std::string_view text, Attributes attributes) {
  Begin(tag, attributes);
  Text(text);
  Close(tag);
}

void Markup::Void(std::string_view tag, Attributes attributes) {
  Start(tag, attributes);
  text_ += "/>";
}

void Markup::Text(std::string_view text) { text_ += Escaped(text); }

std::string Number(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string PercentOf(double share) { return Number(100 * share) + "%"; }

}  // namespace traceinject
