// SPDX-License-Identifier: Apache-2.0
#include "viewer/app/traceview.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/import/open/run_paths.h"
#include "viewer/app/bench_frames.h"
#include "viewer/app/window_session.h"
#include "viewer/app/without_window.h"
#include "viewer/core/load/check_run.h"
#include "viewer/core/load/generated_run.h"
#include "viewer/core/session/recent_files.h"
#include "viewer/options/exit_code.h"
#include "viewer/platform/window.h"
#include "viewer/serve/serve_viewers.h"

namespace traceinject {
namespace {

int Fail(const std::string& message) {
  std::fprintf(stderr, "traceview: %s\n", message.c_str());
  return kExitUnreadable;
}

int Check(const ViewerOptions& options) {
  const LoadResult loaded = LoadWithRows(options.paths, {});
  if (!loaded.ok()) return Fail(loaded.error());
  const CheckedRun checked = CheckRun(*loaded.value());
  std::fputs(checked.text.c_str(), stdout);
  return checked.whole ? kExitOk : kExitIncomplete;
}

int Bench(const ViewerOptions& options) {
  const bool generated = options.bench_events != 0;
  const Result<OpeningTimes> opening = generated ? OpeningTimes{} : MeasureOpening(options);
  if (!opening.ok()) return Fail(opening.error());
  LoadResult loaded =
      generated ? LoadResult(GenerateRun(options.bench_events)) : LoadWithRows(options.paths, {});
  if (!loaded.ok()) return Fail(loaded.error());
  std::fputs(BenchFrames(std::move(loaded).value(), opening.value(), options).c_str(), stdout);
  return kExitOk;
}

// Looked for before there is a window, so that a misspelt name is told at once and without one.
int FindThen(const ViewerOptions& options, int (*show)(const ViewerOptions&)) {
  const Result<RunPaths> found = ResolveRunPaths(options.paths);
  return found.ok() ? show(options) : Fail(found.error());
}

int Serve(const ViewerOptions& options) {
  const Status served = ServeViewers(options);
  return served.ok() ? kExitOk : Fail(served.error());
}

int OpenWindow(const ViewerOptions& options) {
  WindowSession session(options, RecentFilesPath());
  const Status window = RunWindow(session, options.scale);
  return window.ok() ? kExitOk : Fail(window.error());
}

// Without a recording one is asked for, which takes a display.
int AskThenOpenWindow(const ViewerOptions& options) {
  if (!options.paths.empty()) return FindThen(options, OpenWindow);
  if (HasDisplay()) return OpenWindow(options);
  const UsageText usage = NoRecordingGiven();
  std::fputs(usage.text.c_str(), stderr);
  return usage.exit_code;
}

}  // namespace

int Traceview(const ViewerOptions& options) {
  if (options.check) return Check(options);
  if (options.bench_frames != 0) return Bench(options);
  const bool without_window =
      !options.screenshot.empty() || !options.script.empty() || !options.dump_state.empty();
  if (options.serve) return FindThen(options, Serve);
  if (!without_window) return AskThenOpenWindow(options);
  const Status done = RunWithoutWindow(options);
  return done.ok() ? kExitOk : Fail(done.error());
}

}  // namespace traceinject
