// SPDX-License-Identifier: Apache-2.0
#include "viewer/app/window_session.h"

#include <utility>

#include "analyzer/common/printable.h"
#include "viewer/core/load/title.h"

namespace traceinject {
namespace {

std::string TitleFor(const std::vector<std::string>& paths) {
  return paths.empty() ? "traceview" : "traceview " + Printable(NamesOf(paths));
}

}  // namespace

WindowSession::WindowSession(const ViewerOptions& options, const std::string& recent_path)
    : options_(options),
      ui_(NamesOf(options.paths)),
      recent_(recent_path),
      title_(TitleFor(options.paths)) {
  ui_.SetLook({.theme = options.theme.value_or(ThemeId::kDark)});
  ui_.SetRecent(recent_.paths());
  if (options.paths.empty()) return;
  BackgroundLoad::Options how;
  how.follow = options.follow;
  // The beginning of the recording is not what was asked for.
  if (options.from_ns || options.to_ns) how.quick_look_rows = 0;
  Open(options.paths, how);
}

void WindowSession::Open(const std::vector<std::string>& paths,
                         const BackgroundLoad::Options& options) {
  if (load_) {
    load_->Stop();
    ending_.push_back(std::move(load_));
  }
  problem_.clear();
  shown_ = false;
  opened_ = paths;
  ui_.SetOpening(NamesOf(paths));
  ui_.LeadToVerdict(options_.LeadsToVerdict());
  load_ = std::make_unique<BackgroundLoad>(paths, options);
}

void WindowSession::OpenOther(const std::vector<std::string>& paths) {
  options_.from_ns = options_.to_ns = std::nullopt;
  options_.whole_run = false;
  Open(paths, {.follow = options_.follow});
}

void WindowSession::TakeNews() {
  if (!load_) return;
  std::optional<LoadResult> news = load_->Take();
  if (!news) return;
  if (!news->ok()) {
    problem_ = news->error();
    ui_.SetProblem(problem_);
    return;
  }
  if (!problem_.empty()) ui_.SetProblem("");
  problem_.clear();
  std::unique_ptr<const LoadedRun> run = std::move(*news).value();
  if (shown_) {
    load_->Discard(ui_.Replace(std::move(run)));
  } else {
    ui_.SetLoaded(std::move(run), options_.from_ns, options_.to_ns);
    title_ = TitleFor(opened_);
    if (opened_.size() == 1) recent_.Add(opened_.front());
    ui_.SetRecent(recent_.paths());
  }
  shown_ = true;
}

WindowNext WindowSession::Frame(const WindowFrame& frame) {
  if (!frame.dropped.empty()) OpenOther(frame.dropped);
  std::erase_if(ending_, [](const auto& load) { return load->done(); });
  TakeNews();
  const bool reading = load_ && load_->reading();
  ui_.SetProgress(reading ? std::optional(load_->progress()) : std::nullopt);
  ui_.Frame(frame.keys);
  if (ui_.wants_quit()) return WindowNext::kClose;
  if (const std::string chosen = ui_.TakeChosen(); !chosen.empty()) {
    OpenOther({chosen});
    return WindowNext::kKeepDrawing;
  }
  // What is followed comes by itself: the window looks for it once a second.
  return reading || ui_.busy() ? WindowNext::kKeepDrawing : WindowNext::kWaitForInput;
}

}  // namespace traceinject
