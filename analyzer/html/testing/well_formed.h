// SPDX-License-Identifier: Apache-2.0
// A reader of pages for the tests: strict where browsers forgive.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

struct PageElement {
  std::string tag;
  std::map<std::string, std::string> attributes;  // as written
  std::string parent;
};

struct ReadPage {
  std::string error;  // empty: well-formed
  std::vector<PageElement> elements;
  std::string text;  // of all elements but style and script, entities as written

  int Count(std::string_view tag) const {
    int count = 0;
    for (const PageElement& one : elements) count += one.tag == tag ? 1 : 0;
    return count;
  }
};

// What has to be one entity, as XML has them.
inline bool HasRawMarkup(std::string_view text) {
  for (std::size_t i = text.find('&'); i != std::string_view::npos; i = text.find('&', i + 1)) {
    bool known = false;
    for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
      known |= text.substr(i).starts_with(entity);
    if (!known) return true;
  }
  return text.find('<') != std::string_view::npos;
}

inline ReadPage Read(std::string_view page) {
  ReadPage read;
  constexpr std::string_view kDoctype = "<!DOCTYPE html>\n";
  if (!page.starts_with(kDoctype)) return {"no doctype", {}, {}};
  page.remove_prefix(kDoctype.size());
  std::vector<std::string> open;
  while (!page.empty()) {
    const std::size_t start = page.find('<');
    const std::string_view text = page.substr(0, start);
    if (HasRawMarkup(text)) return {"raw markup in: " + std::string(text), {}, {}};
    read.text += text;
    read.text += ' ';
    if (start == std::string_view::npos) break;
    const std::size_t end = page.find('>', start);
    if (end == std::string_view::npos) return {"a tag without an end", {}, {}};
    std::string_view tag = page.substr(start + 1, end - start - 1);
    page.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1))
        return {"closed out of order: " + std::string(tag), {}, {}};
      open.pop_back();
      continue;
    }
    const bool is_void = tag.ends_with('/');
    if (is_void) tag.remove_suffix(1);
    PageElement element;
    element.tag = tag.substr(0, tag.find(' '));
    element.parent = open.empty() ? std::string() : open.back();
    tag.remove_prefix(std::min(tag.size(), element.tag.size()));
    while (!tag.empty()) {
      const std::size_t equals = tag.find("=\"");
      const std::size_t close =
          equals == std::string_view::npos ? equals : tag.find('"', equals + 2);
      if (close == std::string_view::npos || tag.front() != ' ')
        return {"an attribute of " + element.tag + ": " + std::string(tag), {}, {}};
      const std::string value(tag.substr(equals + 2, close - equals - 2));
      if (HasRawMarkup(value)) return {"raw markup in an attribute: " + value, {}, {}};
      if (!element.attributes.emplace(tag.substr(1, equals - 1), value).second)
        return {"an attribute twice in " + element.tag, {}, {}};
      tag.remove_prefix(close + 1);
    }
    if (!is_void) open.push_back(element.tag);
    if (element.tag == "style" || element.tag == "script") {
      const std::size_t close = page.find("</" + element.tag + ">");
      if (close == std::string_view::npos) return {element.tag + " does not end", {}, {}};
      page.remove_prefix(close);
    }
    read.elements.push_back(std::move(element));
  }
  if (!open.empty()) return {"not closed: " + open.back(), {}, {}};
  return read;
}

}  // namespace traceinject
