// SPDX-License-Identifier: Apache-2.0
#include "packaging/man_page.h"

#include <fmt/format.h>

#include <sstream>

namespace traceinject {
namespace {

std::string Upper(std::string text) {
  for (char& letter : text) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return text;
}

std::string Quoted(const std::string& text) { return "\"" + RoffText(text) + "\""; }

std::string TermOf(const OptionText& option) {
  if (option.names.empty()) return option.value;
  std::string term;
  for (const std::string& name : option.names) term += (term.empty() ? "" : ", ") + name;
  return option.value.empty() ? term : term + " " + option.value;
}

std::string MeaningOf(const OptionText& option) {
  std::string meaning = option.help;
  constexpr std::size_t kMaxWords = 12;  // the columns of a table are listed below its options
  if (!option.choices.empty() && option.choices.size() <= kMaxWords) {
    std::string words;
    for (const std::string& choice : option.choices) words += (words.empty() ? "" : ", ") + choice;
    if (meaning.find(words) == std::string::npos) meaning += " (one of: " + words + ")";
  }
  if (!option.default_value.empty()) meaning += " [default: " + option.default_value + "]";
  return meaning;
}

}  // namespace

std::string RoffText(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char letter : text) {
    // A point or an apostrophe at the start of a line begins a request.
    if (line_begins && (letter == '.' || letter == '\'')) out += "\\&";
    line_begins = letter == '\n';
    switch (letter) {
      case '\\':
        out += "\\e";
        break;
      case '-':  // a plain one would become a hyphen, which no shell understands
        out += "\\-";
        break;
      case '"':  // also ends the argument of a macro
        out += "\\(dq";
        break;
      case '\'':  // plain ones become typographic quotes
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

ManPage::ManPage(const std::string& name, const std::string& section, const std::string& about) {
  text_ = fmt::format(
      ".\\\" Generated from the options that the program declares.\n"
      ".TH {} {} \"\" {} {}\n",
      Quoted(Upper(name)), section, Quoted("traceinject " TRACEINJECT_VERSION),
      Quoted(section == "1" ? "User Commands" : "Miscellaneous"));
  Section("Name");
  text_ += fmt::format("{} \\- {}\n", RoffText(name), RoffText(about));
}

void ManPage::Section(const std::string& title) {
  text_ += fmt::format(".SH {}\n", Quoted(Upper(title)));
}

void ManPage::Subsection(const std::string& title) {
  text_ += fmt::format(".SS {}\n", Quoted(title));
}

void ManPage::Paragraphs(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    text_ += line.empty() ? ".PP\n" : RoffText(line) + "\n";
}

void ManPage::Lines(const std::string& text) {
  text_ += ".PP\n.nf\n" + RoffText(text);
  if (!text.ends_with('\n')) text_ += '\n';
  text_ += ".fi\n";
}

void ManPage::Term(const std::string& term, const std::string& meaning) {
  text_ += fmt::format(".TP\n.B {}\n{}\n", Quoted(term), RoffText(meaning));
}

void ManPage::Usage(const CommandText& command) {
  std::string usage = fmt::format(".B {}\n", Quoted(command.name));
  std::string rest;
  if (!command.options.empty()) rest = "[OPTIONS]";
  for (const OptionText& argument : command.arguments) {
    const std::string shown = Upper(argument.value) + (argument.repeated ? "..." : "");
    rest += (rest.empty() ? "" : " ") + (argument.required ? shown : "[" + shown + "]");
  }
  text_ += usage + RoffText(rest) + "\n.br\n";
}

void ManPage::Options(const CommandText& command) {
  for (const OptionText& argument : command.arguments)
    Term(Upper(argument.value), MeaningOf(argument));
  for (const OptionText& option : command.options) Term(TermOf(option), MeaningOf(option));
}

}  // namespace traceinject
