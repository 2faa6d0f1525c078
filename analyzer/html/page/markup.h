// SPDX-License-Identifier: Apache-2.0
// Writes a document in which every element is closed and every text and attribute is escaped, so
// that no section has to think of either. What comes out is HTML and well-formed XML alike.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace traceinject {

using Attribute = std::pair<std::string_view, std::string>;
using Attributes = std::initializer_list<Attribute>;

class Markup {
 public:
  // Open until it goes out of scope.
  class [[nodiscard]] Element {
   public:
    Element(Markup& markup, std::string_view tag) : markup_(markup), tag_(tag) {}
    ~Element() { markup_.Close(tag_); }
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;

   private:
    Markup& markup_;
    std::string tag_;
  };

  Element Open(std::string_view tag, Attributes attributes = {}) {
    Begin(tag, attributes);
    return {*this, tag};
  }
  // With nothing but text in it.
  void Leaf(std::string_view tag, std::string_view text, Attributes attributes = {});
  // With nothing in it: of HTML only the void elements, of SVG any.
  void Void(std::string_view tag, Attributes attributes = {});
  void Text(std::string_view text);
  // Ours alone, never from a recording.
  void Verbatim(std::string_view text) { text_ += text; }
  // Begin() without a scope to close it in needs Close().
  void Begin(std::string_view tag, Attributes attributes = {});
  void Close(std::string_view tag);

  // "c1", "c2", ...: to name an element by.
  std::string NewId() { return fmt::format("c{}", ++ids_); }

  const std::string& text() const { return text_; }

 private:
  void Start(std::string_view tag, Attributes attributes);

  std::string text_;
  int ids_ = 0;
};

// A coordinate, as short as the eye allows.
std::string Number(double value);
// "12.34%" of 0.1234.
std::string PercentOf(double share);

}  // namespace traceinject
