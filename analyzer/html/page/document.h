// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "analyzer/html/page/markup.h"

namespace traceinject {

// What a page is made of. Each part writes into the element that is open for it.
struct DocumentParts {
  std::string title;
  std::function<void(Markup&)> write_top;   // beside the button of the theme
  std::function<void(Markup&)> write_main;  // has an element of the id "verdict"
  std::string footer;
  bool has_timeline = false;
};

// One HTML file that needs nothing else: no network, no fonts, no other files. Nothing in it may
// run but the script that stands in it.
std::string WriteDocument(const DocumentParts& parts);

// One of the large figures of the card at the top, in a list that is open: its name, itself, and
// what is to be known of it.
void WriteTile(Markup& out, const std::string& name, const std::string& value,
               const std::string& below);

}  // namespace traceinject
