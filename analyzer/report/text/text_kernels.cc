// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

std::string ShapeText(const proto::LaunchShape& shape) {
  std::string text =
      fmt::format("grid {} block {}", DimsText(shape.grid()), DimsText(shape.block()));
  if (shape.cluster_size() == 3) text += fmt::format(" cluster {}", DimsText(shape.cluster()));
  return text;
}

// "bf16, 661.2 TFLOP/s: 66.9 % of the peak, compute-bound, 40.10 ms above ideal".
std::string WorkText(const proto::Kernel& kernel) {
  const proto::KernelWork& work = kernel.work();
  std::string text = kernel.dtype().empty() ? "type unknown" : kernel.dtype();
  if (work.has_tflops_per_s()) text += fmt::format(", {:.1f} TFLOP/s", work.tflops_per_s());
  text += work.has_peak_share() ? fmt::format(": {} of the peak", Percent(work.peak_share()))
                                : ": share of the peak withheld, " + work.peak_reason();
  if (!work.bound().empty()) text += fmt::format(", {}-bound", work.bound());
  if (work.has_above_ideal_ns())
    text += fmt::format(", {} above ideal", FormatTime(work.above_ideal_ns()));
  if (work.kernels() < kernel.count())
    text += fmt::format(" ({} of {})", FormatCount(work.kernels()), FormatCount(kernel.count()));
  return text;
}

constexpr double kLeastPeakShown = 0.005;

// "counters: tensor_active 63.9 % ± 1.2 %, dram_active 31.0 % ± 0.4 %; limited by tensor (7 samples
// of its own)".
std::string CountersText(const proto::KernelCounters& counters) {
  std::string text;
  for (const proto::KernelCounter& one : counters.values())
    text += fmt::format("{}{} {} ± {}", text.empty() ? "counters: " : ", ", one.name(),
                        Percent(one.share()), Percent(one.error()));
  if (counters.has_peak_share() && counters.peak_share() >= kLeastPeakShown)
    text +=
        fmt::format("; computes at {} of the peak by tensor cores", Percent(counters.peak_share()));
  if (counters.has_memory_gb_per_s())
    text += fmt::format("; moves {:.0f} GB/s", counters.memory_gb_per_s());
  if (!counters.limiter().empty()) text += "; limited by " + counters.limiter();
  return text + fmt::format(" ({}{})", Plural(counters.samples(), "sample"),
                            counters.exact() ? " of its own" : ", by regression");
}

// "1.00 waves, occupancy 18.8 %".
std::string FitText(const proto::LaunchShape& shape) {
  if (!shape.has_waves()) return "";
  return fmt::format("; {:.2f} waves, occupancy {}", shape.waves(),
                     Percent(shape.occupancy_share()));
}

constexpr double kLeastShown = 0.0005;   // as "0.1 %"
constexpr std::size_t kNameColumn = 19;  // where names and details of two-line rows begin

}  // namespace

void WriteKernels(TextReport& to, const proto::KernelTotals& totals,
                  const Repeated<proto::Kernel>& kernels, std::size_t rows) {
  if (totals.count() == 0) return to.page.Sentence("no kernels");
  to.page.Sentence(fmt::format("{} of {} in {}; unclassified {}", Plural(totals.count(), "kernel"),
                               Plural(totals.distinct_names(), "name"),
                               FormatTime(totals.total_ns()),
                               Percent(totals.unclassified_share())));
  std::vector<std::string> names;
  for (const proto::Kernel& kernel : kernels) names.push_back(kernel.name());
  names = ShortKernelNames(names, to.options.width - kNameColumn - 2);
  for (std::size_t i = 0; i < std::min(rows, names.size()); ++i) {
    const proto::Kernel& kernel = kernels[static_cast<int>(i)];
    to.page.Line(fmt::format("{:>8}  {:>9}  {}", Percent(kernel.share()),
                             FormatTime(kernel.total_ns()), names[i]));
    to.page.Sentence(
        fmt::format("{}: {} x {} ({} to {}), {}", KernelClassText(kernel.kernel_class()),
                    FormatCount(kernel.count()), Rounded(kernel.mean_ns()),
                    FormatTime(kernel.min_ns()), FormatTime(kernel.max_ns()),
                    ShapeText(kernel.shape())),
        kNameColumn + 2);
    if (kernel.has_work())
      to.page.Sentence(WorkText(kernel) + FitText(kernel.shape()), kNameColumn + 2);
    if (kernel.has_counters()) to.page.Sentence(CountersText(kernel.counters()), kNameColumn + 2);
  }
}

void WriteKernelFindings(TextReport& to, const Repeated<proto::KernelFinding>& findings) {
  const std::size_t kExampleWidth = std::max<std::size_t>(60, to.options.width - 40);
  std::vector<std::string> examples;
  for (const proto::KernelFinding& finding : findings) {
    examples.push_back(finding.example());
    examples.insert(examples.end(), finding.more_examples().begin(), finding.more_examples().end());
  }
  examples = ShortKernelNames(examples, kExampleWidth);
  auto example = examples.begin();
  for (int i = 0; i < findings.size(); ++i) {
    const proto::KernelFinding& finding = findings[i];
    std::string text = "- " + finding.text();
    if (finding.has_above_ideal_ns())
      text += fmt::format("; at most about {} of it can be saved (time above ideal)",
                          FormatTime(finding.above_ideal_ns()));
    text += "; mostly in " + *example++;
    for (int more = 0; more < finding.more_examples_size(); ++more) text += ", " + *example++;
    to.page.Sentence(text);
    to.page.Sentence(fmt::format("{}: {}", finding.setting(), finding.change()), 4);
    to.page.Sentence("[" + finding.source() + "]", 8);
  }
}

void WriteKernelClasses(TextReport& to, const Repeated<proto::KernelClass>& classes) {
  TextRows rows = {{"class", "share", "time", "count"}};
  for (const proto::KernelClass& one : classes) {
    if (one.share() < kLeastShown) continue;
    rows.push_back({KernelClassText(one.name()), Percent(one.share()), FormatTime(one.total_ns()),
                    FormatCount(one.count())});
  }
  to.page.Table(rows, 1, 3);
}

}  // namespace traceinject
