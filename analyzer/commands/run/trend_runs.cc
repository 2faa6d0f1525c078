// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/trend_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/html/sections/page_options.h"
#include "analyzer/html/write_html.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/import/open/writer_lock.h"
#include "analyzer/ranks/match/align_run.h"
#include "analyzer/trend/describe_run.h"
#include "analyzer/trend/known_runs.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

std::string AmountText(const std::optional<double>& amount) {
  return amount ? fmt::format("{}", *amount) : "-";
}

// All options that change what is told of a run.
std::string AskedFor(const ReportOptions& report) {
  const MfuOptions& mfu = report.mfu;
  return fmt::format("steps {}, flops {}, params {}, tokens {}, count {}, type {}, peak {}",
                     report.pattern() == nullptr ? "-" : report.pattern()->text(),
                     AmountText(mfu.flops_per_step), AmountText(mfu.params),
                     AmountText(mfu.tokens_per_step),
                     mfu.steps ? fmt::format("{}", *mfu.steps) : "-",
                     static_cast<int>(mfu.peak_dtype), AmountText(mfu.peak_tflops));
}

bool IsPlain(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z') || letter == '.' || letter == '_' || letter == '-';
}

// "nightly~2f7" of "nightly/7": a name of a file, and the same in a link.
std::string Plain(const std::string& text) {
  std::string plain;
  for (const char letter : text)
    plain += IsPlain(letter) ? std::string(1, letter)
                             : fmt::format("~{:02x}", static_cast<unsigned char>(letter));
  return plain;
}

std::string PageName(const FoundRun& run) { return Plain(run.name) + ".html"; }

bool IsNewer(const std::string& path, const std::vector<std::string>& files) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  return !error && std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    return fs::last_write_time(file, error) <= time && !error;
  });
}

class TrendReader {
 public:
  TrendReader(const std::vector<FoundRun>& found, const TrendReading& options)
      : found_(found),
        options_(options),
        known_(options.no_cache ? std::string() : KnownRunsFolder(), AskedFor(options.report)),
        bar_(!options.no_progress) {
    for (const FoundRun& run : found) files_ += run.files.size();
    if (options.html.empty() || options.no_reports) return;
    const fs::path page(options.html);
    // trend.reports beside trend.html.
    reports_ = Plain(page.stem().string()) + ".reports";
    reports_folder_ = (page.parent_path() / reports_).string();
  }

  TrendRuns Read() {
    for (const FoundRun& found : found_) {
      Result<proto::TrendRun> run = ReadOne(found);
      files_done_ += found.files.size();
      if (!run.ok()) {
        read_.left_out.push_back(run.error());
        continue;
      }
      run.value().set_name(found.name);
      if (!reports_.empty()) run.value().set_page(reports_ + "/" + PageName(found));
      read_.runs.push_back(std::move(run).value());
    }
    return std::move(read_);
  }

 private:
  Result<proto::TrendRun> ReadOne(const FoundRun& found) {
    for (const std::string& file : found.files) {
      if (HasWriter(file)) return Error{file + ": is being recorded"};
    }
    if (reports_.empty() || IsNewer(PageOf(found), found.files)) {
      if (auto known = known_.Find(found.files)) return std::move(*known);
    }
    return ReadAgain(found);
  }

  Result<proto::TrendRun> ReadAgain(const FoundRun& found) {
    auto loaded =
        LoadRun(found.files, {.on_progress = [this](const LoadProgress& of_run) { Show(of_run); }});
    if (!loaded.ok()) return Error{loaded.error()};
    const Run& run = loaded.value();
    if (!HasGpuWork(run))
      return Error{found.files.front() + ": the recording contains no GPU work"};
    AlignRun(loaded.value());
    proto::TrendRun described = DescribeRun(run, options_.report);
    if (!reports_.empty()) {
      const Status written = WriteReport(found, run);
      if (!written.ok()) return Error{written.error()};
    }
    known_.Keep(found.files, described);
    return described;
  }

  Status WriteReport(const FoundRun& found, const Run& run) const {
    std::error_code error;
    fs::create_directories(reports_folder_, error);
    const JudgedReport report = BuildJudgedReport(run, ForPage(options_.report));
    return WriteOutput(PageOf(found),
                       WriteHtml(report.report, report.ranks,
                                 MakePageTimeline(run, report, NameOfRun(found.files))));
  }

  std::string PageOf(const FoundRun& found) const {
    return reports_folder_ + "/" + PageName(found);
  }

  // Of all runs.
  void Show(const LoadProgress& of_run) {
    LoadProgress all;
    all.files = files_;
    all.files_done = files_done_ + of_run.files_done;
    all.rows = of_run.rows;
    all.share =
        (static_cast<double>(files_done_) + of_run.share * static_cast<double>(of_run.files)) /
        static_cast<double>(files_);
    bar_.Show(all);
  }

  const std::vector<FoundRun>& found_;
  const TrendReading& options_;
  const KnownRuns known_;
  ProgressBar bar_;
  std::string reports_, reports_folder_;  // the folder of pages; empty: none are asked for
  std::size_t files_ = 0, files_done_ = 0;
  TrendRuns read_;
};

}  // namespace

TrendRuns ReadTrendRuns(const std::vector<FoundRun>& found, const TrendReading& options) {
  return TrendReader(found, options).Read();
}

}  // namespace traceinject
