// SPDX-License-Identifier: Apache-2.0
#include "viewer/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "analyzer/common/units.h"
#include "viewer/exit_code.h"

namespace traceinject {
namespace {

constexpr int kLeastPx = 200, kMostPx = 16384;
constexpr int kMostFrames = 1'000'000;
constexpr std::uint64_t kMostEvents = 1'000'000'000;

constexpr const char* kDescription =
    "Shows a recording on a timeline: what each GPU stream and each host thread did, and when.\n"
    "\n"
    "  traceview run.db                       open it (also run.db.zst, a folder, several files)\n"
    "  traceview run.db --from 2s --to 2.1s   the same, zoomed in\n"
    "  traceview run.db --screenshot a.png    a picture; needs no display\n"
    "\n"
    "Reading the picture: the row \"GPU\" is the union of its streams, blue where it computes, red "
    "where only\ncommunication runs, amber where only copies run, empty where the GPU idles; the "
    "row "
    "\"idle\" below it has\nthe cause of each such gap. Where events are narrower than a pixel or "
    "two, the height of a column is the\nshare of its time that is busy. The number beside a row "
    "is "
    "its busy share of the time shown.\n"
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
  const int modes = (options.screenshot.empty() ? 0 : 1) + (options.check ? 1 : 0) +
                    (options.bench_frames ? 1 : 0);
  if (modes > 1) {
    throw CLI::ValidationError("--screenshot, --check and --bench-frames exclude each other");
  }
  if (modes > 0 && options.follow) throw CLI::ValidationError("--follow is for the window");
}

}  // namespace

std::variant<ViewerOptions, UsageText> ParseOptions(std::vector<std::string> arguments) {
  ViewerOptions options;
  CLI::App app(kDescription, "traceview");
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
      "--size", [&](const std::string& text) { return ParseSize(text, options); },
      "of the picture in pixels; 1600x900 if not given")
      ->type_name("WxH");
  add_parsed(
      "--theme", [&](const std::string& text) { return ParseTheme(text, options.theme); },
      "dark (if not given) or light; T changes it in the window")
      ->type_name("NAME");
  add_parsed(
      "--from", [&](const std::string& text) { return ParseMoment(text, options.from_ns); },
      "show from here: 1.5s, 200ms, ... after the first GPU operation")
      ->type_name("TIME");
  add_parsed(
      "--to", [&](const std::string& text) { return ParseMoment(text, options.to_ns); },
      "show until here")
      ->type_name("TIME");
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
      "Exit codes: 0 fine, 1 --check found that something is missing from the recording, 2 bad "
      "usage, 3 the\nrecording cannot be read or shown.");
  try {
    std::reverse(arguments.begin(), arguments.end());  // what CLI11 expects of a vector
    app.parse(arguments);
    CheckTogether(options);
    if (options.from_ns && options.to_ns && *options.from_ns >= *options.to_ns) {
      throw CLI::ValidationError("--from must be before --to");
    }
  } catch (const CLI::CallForHelp&) {
    return UsageText{app.help(), kExitOk};
  } catch (const CLI::ParseError& error) {
    return UsageText{std::string("traceview: ") + error.what() + "\nTry: traceview --help\n",
                     kExitUsage};
  }
  return options;
}

}  // namespace traceinject
