// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"

namespace traceinject {
namespace {

// Who sees the options instead (SeeOptions); null: they are read.
thread_local const std::function<void(const CLI::App&)>* seer = nullptr;
thread_local std::map<const CLI::Option*, std::vector<std::string>> offered;

// Of a command line that could not be parsed the first option that the command does not have;
// empty: it has all.
std::string UnknownOption(const CLI::App& app) {
  for (const std::string& argument : app.remaining()) {
    if (argument.size() > 1 && argument.starts_with('-') && argument != "--")
      return argument.substr(0, argument.find('='));
  }
  return "";
}

// The option that takes the word as one of a few values, with it, as in "--format json"; empty:
// none does.
std::string OptionOfValue(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();  // TEXT:{text,json}
    const std::size_t open = type.find('{'), close = type.find('}');
    if (open == std::string::npos || close == std::string::npos || option->get_lnames().empty())
      continue;
    const std::string values = "," + type.substr(open + 1, close - open - 1) + ",";
    if (values.find("," + word + ",") != std::string::npos)
      return fmt::format("--{} {}", option->get_lnames().front(), word);
  }
  return "";
}

// "; did you mean --format?"; empty: no option is near.
std::string Suggestion(const CLI::App& app, const std::string& unknown) {
  if (unknown.starts_with("--"))
    if (const std::string meant = OptionOfValue(app, unknown.substr(2)); !meant.empty())
      return fmt::format("; did you mean {}?", meant);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto nearest = NearestWord(unknown, candidates);
  return nearest ? fmt::format("; did you mean {}?", *nearest) : "";
}

// An unknown option comes before all else that is wrong: its value may have been taken for a run,
// or what is missing may have been meant by it.
std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  const std::string unknown = UnknownOption(app);
  if (unknown.empty()) return error.what();
  return fmt::format("unknown option {}{}", unknown, Suggestion(app, unknown));
}

}  // namespace

std::optional<int> ParseArguments(CLI::App& app, const std::vector<std::string>& arguments) {
  if (seer != nullptr) {
    (*seer)(app);
    return kReported;
  }
  try {
    // CLI11 takes the list from its end.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kReported;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}: {}\nSee {} --help.\n", app.get_name(), WhatIsWrong(app, error),
               app.get_name());
    return kBadUsage;
  }
}

void SeeOptions(const std::function<void()>& command,
                const std::function<void(const CLI::App&)>& see) {
  seer = &see;
  offered.clear();
  command();
  seer = nullptr;
}

void OfferWords(const CLI::Option* option, std::vector<std::string> words) {
  if (seer != nullptr) offered[option] = std::move(words);
}

std::vector<std::string> OfferedWords(const CLI::App& app, const std::string& name) {
  const auto words = offered.find(app.get_option_no_throw(name));
  return words == offered.end() ? std::vector<std::string>() : words->second;
}

CLI::Option* AddTime(CLI::App& app, const std::string& name, std::optional<std::int64_t>& time_ns,
                     const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&time_ns, name](const std::string& text) {
            const auto parsed = ParseTime(text);
            if (!parsed.ok()) throw CLI::ValidationError(name, parsed.error());
            time_ns = parsed.value();
          },
          help)
      ->type_name("TIME");
}

Result<double> ParseAmount(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  double factor = 0;
  if (suffix.empty()) factor = 1;
  if (suffix == "k" || suffix == "K") factor = 1e3;
  if (suffix == "M") factor = 1e6;
  if (suffix == "G" || suffix == "B") factor = 1e9;
  if (suffix == "T") factor = 1e12;
  if (suffix == "P") factor = 1e15;
  const double amount = value * factor;
  if (code != std::errc() || !std::isfinite(amount) || amount <= 0) {
    return Error{fmt::format(
        "'{}' is not a valid amount: use a positive number such as 6.7e9, 6.7B or 350M", text)};
  }
  return amount;
}

CLI::Option* AddAmount(CLI::App& app, const std::string& name, std::optional<double>& amount,
                       const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&amount, name](const std::string& text) {
            const auto parsed = ParseAmount(text);
            if (!parsed.ok()) throw CLI::ValidationError(name, parsed.error());
            amount = parsed.value();
          },
          help)
      ->type_name("AMOUNT");
}

CLI::Option* AddTolerance(CLI::App& app, double& tolerance, const std::string& help) {
  return app
      .add_option_function<std::string>(
          "--tolerance",
          [&tolerance](const std::string& text) {
            const std::string_view number =
                std::string_view(text).substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
            double percent = -1;
            const char* end = number.data() + number.size();
            const auto [rest, code] = std::from_chars(number.data(), end, percent);
            if (code != std::errc() || rest != end || !(percent >= 0 && percent <= 1000))
              throw CLI::ValidationError("--tolerance",
                                         fmt::format("'{}' is not a percentage such as 3", number));
            tolerance = percent / 100;
          },
          help)
      ->type_name("PERCENT");
}

Result<NumberRange> ParseNumberRange(std::string_view text) {
  NumberRange range;
  const char* end = text.data() + text.size();
  const auto [first_end, first_code] = std::from_chars(text.data(), end, range.first);
  const std::string_view rest(first_end, static_cast<std::size_t>(end - first_end));
  if (first_code == std::errc() && rest.starts_with("..")) {
    const auto [last_end, code] = std::from_chars(first_end + 2, end, range.last);
    if (code == std::errc() && last_end == end && range.last >= range.first) return range;
  }
  return Error{
      fmt::format("'{}' is not a valid range; use step numbers such as 10..20 (inclusive)", text)};
}

CLI::Validator WholeNumberFrom(std::int64_t least) {
  return CLI::Validator(
      [least](const std::string& text) {
        std::int64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [rest, code] = std::from_chars(text.data(), end, value);
        if (code == std::errc() && rest == end && value >= least) return std::string();
        return fmt::format("'{}' is not an integer of at least {}", text, least);
      },
      "");
}

CLI::Option* AddOutput(CLI::App& app, std::string& path) {
  return app.add_option("-o,--output", path, "write to FILE (- for stdout)")->type_name("FILE");
}

std::vector<std::string> TakeProgram(std::vector<std::string>& arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> program(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return program;
}

}  // namespace traceinject
