// SPDX-License-Identifier: Apache-2.0
#include "viewer/options/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "analyzer/common/units.h"
#include "viewer/core/session/script.h"
#include "viewer/options/exit_code.h"

namespace traceinject {
namespace {

constexpr int kLeastPx = 200, kMostPx = 16384;
constexpr int kMostFrames = 1'000'000;
constexpr double kLeastScale = 0.5, kMostScale = 4;
constexpr std::uint64_t kMostEvents = 1'000'000'000;

constexpr const char* kDescription =
    "Shows a recording on a timeline: what each GPU stream and each host thread did, and when.\n"
    "\n"
    "  traceview run.db                       open it (also run.db.zst, a folder, several files)\n"
    "  traceview run.db --from 2s --to 2.1s   the same, zoomed in\n"
    "  traceview run.db --screenshot a.png    a picture; needs no display\n"
    "  traceview run.db --script steps.txt    what a user would do; needs no display\n"
    "\n"
    "Reading the picture: the row \"GPU\" is the union of its streams, blue where it computes, "
    "orange "
    "where only\ncommunication runs, yellow where only copies run, empty where the GPU idles; the "
    "row "
    "\"idle\" below it has\nthe cause of each such gap. Where events are narrower than a pixel or "
    "two, the height of a column is the\nshare of its time that is busy. The number beside a row "
    "is "
    "its busy share of the time shown.\n"
    "Of a collective on a stream the part in which it waited for other ranks is paler.\n"
    "In the window: W/S zoom, A/D move, click an event, drag to measure, click a triangle to fold "
    "up\n"
    "a group of rows, ? lists everything.";

// "1600x900" into both numbers; an error in words if it is anything else.
std::string ParseSize(const std::string& text, ViewerOptions& options) {
  const auto number = [](const char* first, const char* last, int& value) {
    const auto [end, error] = std::from_chars(first, last, value);
    return error == std::errc() && end == last && value >= kLeastPx && value <= kMostPx;
  };
  const std::size_t cross = std::min(text.find('x'), text.size());
  const char* const begin = text.data();
  if (cross < text.size() && number(begin, begin + cross, options.width_px) &&
      number(begin + cross + 1, begin + text.size(), options.height_px)) {
    return "";
  }
  return "--size " + text + ": expected WIDTHxHEIGHT in pixels, each 200 to 16384, as in 1600x900";
}

std::string ParseTheme(const std::string& text, ThemeId& theme) {
  const std::optional<ThemeId> found = ThemeCalled(text);
  if (!found) return "--theme " + text + ": expected dark or light";
  theme = *found;
  return "";
}

std::string ParseMoment(const std::string& text, std::optional<TimeNs>& moment) {
  const Result<std::int64_t> time = ParseTime(text);
  if (!time.ok()) return time.error();
  moment = time.value();
  return "";
}

// Throws what CLI11 reports as bad usage.
void CheckTogether(const ViewerOptions& options) {
  if (options.bench_events != 0 && options.bench_frames == 0) {
    throw CLI::ValidationError("--bench-events needs --bench-frames");
  }
  if (options.paths.empty() == (options.bench_events == 0)) {
    throw CLI::ValidationError(options.paths.empty()
                                   ? "a recording is missing"
                                   : "--bench-events generates a run: name no recording with it");
  }
  const bool plays =
      !options.screenshot.empty() || !options.script.empty() || !options.dump_state.empty();
  const int modes = (plays ? 1 : 0) + (options.check ? 1 : 0) + (options.bench_frames ? 1 : 0);
  if (modes > 1) {
    throw CLI::ValidationError(
        "--check, --bench-frames, and --screenshot with --script and --dump-state exclude each "
        "other");
  }
  if (modes > 0 && options.follow) throw CLI::ValidationError("--follow is for the window");
}

// "1s..1.2s": either side may be left out.
std::string ParseView(const std::string& text, ViewerOptions& options) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    return "--view " + text + ": expected FROM..TO, as in 1.2s..1.25s";
  }
  const std::string from = text.substr(0, dots), to = text.substr(dots + 2);
  std::string problem;
  if (!from.empty()) problem = ParseMoment(from, options.from_ns);
  if (problem.empty() && !to.empty()) problem = ParseMoment(to, options.to_ns);
  return problem;
}

// The words of a script, for the help.
std::string ScriptHelp() {
  std::string text =
      "A script has one step a line. PLACE is row@time (\"stream 7@1.2s\", \"rank 1/stream "
      "7#1@1.2s\" for its second\nlane, ruler@1.2s), x,y in pixels of the timeline, or what can be "
      "clicked (\"tab: Statistics\"); # begins a\ncomment.\n";
  for (const ScriptUsage& usage : ScriptUsages()) {
    text +=
        fmt::format("  {:<58} {}\n", fmt::format("{} {}", usage.name, usage.arguments), usage.help);
  }
  text += "and every command:";
  std::size_t column = text.size();
  for (const Command& command : Commands()) {
    if (text.size() - column > 90) {
      text += "\n ";
      column = text.size();
    }
    text += fmt::format(" {}", command.name);
  }
  return text;
}

}  // namespace

void AddViewerOptions(CLI::App& app, ViewerOptions& options) {
  app.name("traceview");
  app.description(kDescription);
  app.set_version_flag("--version", "traceview " TRACEINJECT_VERSION, "print the version and exit");
  app.add_option("run", options.paths, "recordings: files, or a folder with files of one run");
  app.add_option("--screenshot", options.screenshot, "write a PNG to this file and exit")
      ->type_name("FILE");
  const auto add_parsed = [&app](const char* name, auto parse, const char* help) {
    return app.add_option_function<std::string>(
        name,
        [parse](const std::string& text) {
          const std::string problem = parse(text);
          if (!problem.empty()) throw CLI::ValidationError(problem);
        },
        help);
  };
  add_parsed(
      "--size", [&options](const std::string& text) { return ParseSize(text, options); },
      "of the picture in pixels; 1600x900 if not given")
      ->type_name("WxH");
  add_parsed(
      "--theme", [&options](const std::string& text) { return ParseTheme(text, options.theme); },
      "dark (if not given) or light; T changes it in the window")
      ->type_name("NAME");
  app.add_option("--scale", options.scale,
                 "of text and all else, 0.5 to 4: 2 for a screen of twice the density (if not "
                 "given, what the screen asks for, of pictures 1)")
      ->type_name("FACTOR")
      ->check(CLI::Range(kLeastScale, kMostScale));
  add_parsed(
      "--from", [&options](const std::string& text) { return ParseMoment(text, options.from_ns); },
      "show from here: 1.5s, 200ms, ... after the first GPU operation")
      ->type_name("TIME");
  add_parsed(
      "--to", [&options](const std::string& text) { return ParseMoment(text, options.to_ns); },
      "show until here")
      ->type_name("TIME");
  add_parsed(
      "--view", [&options](const std::string& text) { return ParseView(text, options); },
      "both at once: 1.2s..1.25s")
      ->type_name("FROM..TO");
  app.add_option("--script", options.script, "play the steps in this file and exit; see below")
      ->type_name("FILE");
  app.add_option(
         "--dump-state", options.dump_state,
         "write what is shown as JSON to this file (- for stdout) and exit; after the script")
      ->type_name("FILE");
  app.add_flag("--follow", options.follow,
               "in the window: read the recording again whenever it has grown");
  app.add_flag("--check", options.check,
               "say on stdout what was read and how far it can be trusted, and exit");
  app.add_option("--bench-frames", options.bench_frames,
                 "measure so many frames at several zooms, write JSON to stdout, and exit")
      ->type_name("N")
      ->check(CLI::Range(1, kMostFrames));
  app.add_option("--bench-events", options.bench_events,
                 "with --bench-frames: of a generated run of so many events instead")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, kMostEvents));
  app.footer(
      ScriptHelp() +
      "\n\n"
      "Exit codes: 0 fine, 1 --check found that something is missing from the recording, 2 bad "
      "usage, 3 the\nrecording cannot be read or shown.");
}

std::variant<ViewerOptions, UsageText> ParseOptions(std::vector<std::string> arguments) {
  ViewerOptions options;
  CLI::App app;
  AddViewerOptions(app, options);
  try {
    std::reverse(arguments.begin(), arguments.end());  // what CLI11 expects of a vector
    app.parse(arguments);
    CheckTogether(options);
    if (options.from_ns && options.to_ns && *options.from_ns >= *options.to_ns) {
      throw CLI::ValidationError("--from must be before --to");
    }
  } catch (const CLI::CallForHelp&) {
    return UsageText{app.help(), kExitOk};
  } catch (const CLI::CallForVersion& version) {
    return UsageText{std::string(version.what()) + "\n", kExitOk};
  } catch (const CLI::ParseError& error) {
    return UsageText{std::string("traceview: ") + error.what() + "\nTry: traceview --help\n",
                     kExitUsage};
  }
  return options;
}

}  // namespace traceinject
