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

int OpenWindow(const ViewerOptions& options) {
  if (options.paths.empty() && !HasDisplay()) {
    const UsageText usage = NoRecordingGiven();
    std::fputs(usage.text.c_str(), stderr);
    return usage.exit_code;
  }
  // Looked for now, so that a misspelt name is told at once and without a display.
  if (!options.paths.empty()) {
    const Result<RunPaths> found = ResolveRunPaths(options.paths);
    if (!found.ok()) return Fail(found.error());
  }
  WindowSession session(options, RecentFilesPath());
  const Status window = RunWindow(session, options.scale);
  return window.ok() ? kExitOk : Fail(window.error());
}

}  // namespace

int Traceview(const ViewerOptions& options) {
  if (options.check) return Check(options);
  if (options.bench_frames != 0) return Bench(options);
  const bool without_window =
      !options.screenshot.empty() || !options.script.empty() || !options.dump_state.empty();
  if (!without_window) return OpenWindow(options);
  const Status done = RunWithoutWindow(options);
  return done.ok() ? kExitOk : Fail(done.error());
}

}  // namespace traceinject
