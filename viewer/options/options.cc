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

constexpr int kMinPx = 200, kMaxPx = 16384;
constexpr int kMaxFrames = 1'000'000;
constexpr double kMinScale = 0.5, kMaxScale = 4;
constexpr char kServeAddress[] = "127.0.0.1:8090";
constexpr std::uint64_t kMaxEvents = 1'000'000'000;

constexpr const char* kDescription =
    "Shows a recording on a timeline: what each GPU stream and each host thread did, and when.\n\n"
    "  traceview                              choose a recording in the window\n"
    "  traceview run.db                       open it (also run.db.zst, a folder, several files)\n"
    "  traceview run.db --from 2s --to 2.1s   the same, zoomed in\n"
    "  traceview run.db --serve               in a browser, on this machine or through ssh\n"
    "  traceview run.db --screenshot a.png    a picture; needs no display\n"
    "  traceview run.db --script steps.txt    scripted user actions; needs no display\n\n"
    "The row \"GPU\" is the union of its streams, blue where it computes, orange where only\n"
    "communication runs, yellow where only copies run, empty where the GPU is idle; the row "
    "\"idle\" below it shows\n"
    "the cause of each gap. If events are narrower than a pixel or two, the height of a column is "
    "its busy share.\n"
    "The number next to a row is its busy share of the time shown. The part of a collective spent "
    "waiting for\n"
    "other ranks is paler. A row \"Python\" has the lines of the program's own code; its triangle "
    "opens the stack.\n"
    "In the window: W/S zoom, A/D move, click an event, drag to measure, click a triangle to "
    "collapse\n"
    "a group of rows, ? lists everything.";

// "1600x900" into both numbers; an error in words if it is anything else.
std::string ParseSize(const std::string& text, ViewerOptions& options) {
  const auto number = [](const char* first, const char* last, int& value) {
    const auto [end, error] = std::from_chars(first, last, value);
    return error == std::errc() && end == last && value >= kMinPx && value <= kMaxPx;
  };
  const std::size_t cross = std::min(text.find('x'), text.size());
  const char* const begin = text.data();
  if (cross < text.size() && number(begin, begin + cross, options.width_px) &&
      number(begin + cross + 1, begin + text.size(), options.height_px)) {
    return "";
  }
  return "--size " + text + ": expected WIDTHxHEIGHT in pixels, each 200 to 16384, as in 1600x900";
}

std::string ParseTheme(const std::string& text, std::optional<ThemeId>& theme) {
  const std::optional<ThemeId> found = ThemeCalled(text);
  if (!found) return "--theme " + text + ": expected dark or light";
  theme = found;
  return "";
}

std::string ParseMoment(const std::string& text, std::optional<TimeNs>& moment) {
  const Result<std::int64_t> time = ParseTime(text);
  if (!time.ok()) return time.error();
  moment = time.value();
  return "";
}

constexpr const char* kNoRecording =
    "no recording given: name one, as in traceview run.db (the files of all ranks are found), or a "
    "folder of recordings; analyze record makes one";

UsageText UsageError(std::string_view message) {
  return {fmt::format("traceview: {}\nTry: traceview --help\n", message), kExitUsage};
}

// Throws what CLI11 reports as bad usage.
void CheckTogether(const ViewerOptions& options) {
  if (options.bench_events != 0 && options.bench_frames == 0) {
    throw CLI::ValidationError("--bench-events needs --bench-frames");
  }
  if (options.bench_events != 0 && !options.paths.empty())
    throw CLI::ValidationError("--bench-events generates a run and takes no recording");
  const bool needs_recording = options.check || options.serve || !options.dump_state.empty() ||
                               (options.bench_frames != 0 && options.bench_events == 0);
  if (needs_recording && options.paths.empty()) throw CLI::ValidationError(kNoRecording);
  const bool plays =
      !options.screenshot.empty() || !options.script.empty() || !options.dump_state.empty();
  const int modes = (plays ? 1 : 0) + (options.check ? 1 : 0) + (options.bench_frames ? 1 : 0) +
                    (options.serve ? 1 : 0);
  if (modes > 1) {
    throw CLI::ValidationError(
        "--check, --bench-frames, --serve, and --screenshot with --script and --dump-state are "
        "mutually "
        "exclusive");
  }
  if (modes > 0 && options.follow && !options.serve)
    throw CLI::ValidationError("--follow requires a window or --serve");
  if (options.whole_run && (options.from_ns || options.to_ns))
    throw CLI::ValidationError("--view all is the whole run: it excludes --from and --to");
}

// "1s..1.2s": either side may be left out. "all": the whole run.
std::string ParseView(const std::string& text, ViewerOptions& options) {
  if (text == "all") {
    options.whole_run = true;
    return "";
  }
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    return "--view " + text + ": expected FROM..TO, as in 1.2s..1.25s, or all";
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
      "A script has one step per line. PLACE is row@time (\"stream 7@1.2s\", \"rank 1/stream "
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

UsageText NoRecordingGiven() { return UsageError(kNoRecording); }

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
      "picture size in pixels (default 1600x900)")
      ->type_name("WxH");
  add_parsed(
      "--theme", [&options](const std::string& text) { return ParseTheme(text, options.theme); },
      "dark (default) or light; T switches it. With --serve, default: what the browser is set to")
      ->type_name("NAME:{dark,light}");
  app.add_option(
         "--scale", options.scale,
         "UI scale, 0.5 to 4; 2 for high-DPI screens (default: the screen's scale, 1 for pictures)")
      ->type_name("FACTOR")
      ->check(CLI::Range(kMinScale, kMaxScale));
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
      "both at once: 1.2s..1.25s; all: the whole run (default: the steps that show what the "
      "verdict says, once it is known)")
      ->type_name("FROM..TO");
  app.add_option_function<std::string>(
         "--serve",
         [&options](const std::string& address) {
           options.serve = address.empty() ? kServeAddress : address;
           if (options.serve->find(':') == std::string::npos)
             throw CLI::ValidationError("--serve " + address +
                                        ": expected HOST:PORT, as in 127.0.0.1:8090; name the "
                                        "recording before --serve");
         },
         "show the recording in browsers: print an address with a token, and answer there until "
         "Ctrl-C (default 127.0.0.1:8090). Needs no display")
      ->type_name("HOST:PORT")
      ->expected(0, 1);
  app.add_option("--script", options.script, "run the script in this file and exit; see below")
      ->type_name("FILE");
  app.add_option(
         "--dump-state", options.dump_state,
         "write what is shown as JSON to this file (- for stdout) and exit; after the script")
      ->type_name("FILE");
  app.add_flag("--follow", options.follow,
               "in the window and with --serve: reload the recording whenever it grows");
  app.add_flag("--check", options.check,
               "print what was read and how far it can be trusted, and exit");
  app.add_option("--bench-frames", options.bench_frames,
                 "measure this many frames at several zoom levels, write JSON to stdout, and exit")
      ->type_name("N")
      ->check(CLI::Range(1, kMaxFrames));
  app.add_option("--bench-events", options.bench_events,
                 "with --bench-frames: use a generated run with this many events")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, kMaxEvents));
  app.footer(ScriptHelp() +
             "\n\n"
             "Exit codes: 0 success, 1 --check found that data is missing from the recording, 2 "
             "usage error, 3 the\n"
             "recording cannot be read or shown.");
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
    return UsageError(error.what());
  }
  return options;
}

}  // namespace traceinject
