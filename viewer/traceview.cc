// SPDX-License-Identifier: Apache-2.0
#include "viewer/traceview.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/import/run_paths.h"
#include "viewer/exit_code.h"
#include "viewer/platform/offscreen.h"
#include "viewer/platform/window.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {
namespace {

int Fail(const std::string& message) {
  std::fprintf(stderr, "traceview: %s\n", message.c_str());
  return kExitUnreadable;
}

std::string Names(const std::vector<std::string>& paths) {
  return paths.size() == 1 ? paths.front()
                           : paths.front() + " and " + std::to_string(paths.size() - 1) + " more";
}

int WriteScreenshot(const ViewerOptions& options) {
  LoadResult loaded = LoadWithRows(options.paths, {});
  if (!loaded.ok()) return Fail(loaded.error());
  for (const std::string& note : loaded.value()->run.notes) {
    std::fprintf(stderr, "traceview: %s\n", note.c_str());
  }
  ViewerUi ui(Names(options.paths));
  ui.SetLook({.theme = options.theme});
  ui.SetLoaded(std::move(loaded).value(), options.from_ns, options.to_ns);
  const Result<Image> image =
      RenderOffscreen(options.width_px, options.height_px, [&ui] { ui.Frame({}); });
  if (!image.ok()) return Fail(image.error());
  const Status written = WritePng(options.screenshot, image.value());
  return written.ok() ? kExitOk : Fail(written.error());
}

int OpenWindow(const ViewerOptions& options) {
  // Looked for now, so that a misspelt name is told at once and without a display.
  const Result<RunPaths> found = ResolveRunPaths(options.paths);
  if (!found.ok()) return Fail(found.error());
  ViewerUi ui(Names(options.paths));
  ui.SetLook({.theme = options.theme});
  BackgroundLoad load(options.paths);
  std::optional<std::string> problem;
  const Status window =
      RunWindow("traceview " + Names(options.paths), [&](const WindowFrame& frame) {
        if (ui.timeline() == nullptr && load.done()) {
          LoadResult loaded = load.Take();
          if (!loaded.ok()) {
            problem = loaded.error();
            return WindowNext::kClose;
          }
          ui.SetLoaded(std::move(loaded).value(), options.from_ns, options.to_ns);
        }
        ui.SetProgress(load.progress());
        ui.Frame(frame.keys);
        return ui.timeline() == nullptr ? WindowNext::kKeepDrawing : WindowNext::kWaitForInput;
      });
  if (!window.ok()) problem = window.error();
  const int code = problem ? Fail(*problem) : kExitOk;
  // Reading cannot be broken off, and nobody waits for it any more.
  if (!load.done()) std::_Exit(code);
  return code;
}

}  // namespace

int Traceview(const ViewerOptions& options) {
  return options.screenshot.empty() ? OpenWindow(options) : WriteScreenshot(options);
}

}  // namespace traceinject
