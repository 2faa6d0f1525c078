// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/model/kernel_class.h"
#include "analyzer/report/kernel_names.h"
#include "analyzer/report/text_layout.h"

namespace traceinject {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr const char* kUnknown = "unknown";
constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kProductRows = 10;  // a model has many shapes, and few that matter
constexpr int kAnySource = -1;
constexpr std::size_t kNameColumn = 19;  // where names and details of two-line rows begin

std::string Percent(double share, int decimals = 1) {
  return fmt::format("{:.{}f} %", 100 * share, decimals);
}

std::string Rounded(double ns) { return FormatTime(static_cast<std::int64_t>(std::llround(ns))); }

std::string Plural(std::int64_t count, std::string_view noun, std::string_view ending = "s") {
  return fmt::format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : ending);
}

// A whole power of two, as message sizes are: "64 KiB".
std::string BinaryBytes(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

// Writes the sections in order.
class TextWriter {
 public:
  TextWriter(const proto::Report& report, const TextOptions& options)
      : report_(report), options_(options), page_(options.color, options.width) {}

  std::string Write();

 private:
  void Verdict();
  void Steps(const proto::DeviceSteps& steps);
  void Title();
  void Notes();
  void Time();
  void Ratios(const proto::Partition& partition);
  void Spreads();
  void Devices();
  void DeviceSection(const proto::DeviceReport& device);
  void Causes(const proto::IdleCauses& causes, std::int64_t idle_ns, int source);
  void CaptureGaps(const proto::DeviceReport& device);
  void Peaks(const proto::DeviceReport& device);
  void More(std::size_t shown, int all);
  void Gaps(const proto::DeviceReport& device);
  template <typename From>
  void Kernels(const From& from, std::size_t rows);
  template <typename From>
  void Classes(const From& from);
  template <typename From>
  void Copies(const From& from, std::size_t rows);
  void Nccl(const proto::Nccl& nccl, std::size_t rows);
  void Transports(const proto::Nccl& nccl);
  void MemoryCalls(const proto::MemoryCalls& memory);
  void StepFlops(const proto::MatrixProducts& products);
  void Products(const proto::MatrixProducts& products, std::size_t rows);
  void Attention(const proto::MatrixProducts& products);
  void Samples();
  void Allocator(const proto::DeviceReport& device);
  void Mfu();
  void Health();
  void Join();
  void Trust();
  // Why they are not given; null: they are.
  const proto::Withheld* Withheld(std::string_view figures, int source) const;

  const proto::Report& report_;
  const TextOptions& options_;
  TextPage page_;
};

// "NVIDIA H200", or "2 x NVIDIA H200, NVIDIA A10".
std::string GpuNames(const proto::Report& report) {
  std::map<std::string, int> count;
  for (const proto::DeviceReport& device : report.devices()) ++count[device.name()];
  std::string text;
  for (const auto& [name, n] : count) {
    text += text.empty() ? "" : ", ";
    text += n == 1 ? name : fmt::format("{} x {}", n, name);
  }
  return text;
}

// "rank 3"; "rank 3 pid 4711" where several processes are of that rank.
std::string SourceLabel(const proto::Report& report, int index) {
  const proto::Source& source = report.sources(index);
  if (!source.has_rank()) return fmt::format("pid {}", source.pid());
  const auto of_that_rank = std::count_if(
      report.sources().begin(), report.sources().end(),
      [&](const proto::Source& each) { return each.has_rank() && each.rank() == source.rank(); });
  return of_that_rank > 1 ? fmt::format("rank {} pid {}", source.rank(), source.pid())
                          : fmt::format("rank {}", source.rank());
}

void TextWriter::Title() {
  const proto::Run& run = report_.run();
  std::string files;
  for (const proto::Source& source : report_.sources())
    files += (files.empty() ? "" : ", ") + source.path();
  page_.Sentence(files.empty() ? "no files" : files, 0);
  if (report_.devices().empty()) return;
  page_.Sentence(fmt::format(
      "{}, {} ({}), recorded {}", Plural(run.process_count(), "process", "es"),
      Plural(run.device_count(), "GPU"), GpuNames(report_), FormatDate(run.origin_unix_ns())));
  const proto::Window& window = run.window();
  if (run.has_window())
    page_.Sentence(
        fmt::format("window: {} ({} to {} after the first GPU operation{})",
                    FormatTime(window.end_ns() - window.start_ns()), FormatTime(window.start_ns()),
                    FormatTime(window.end_ns()),
                    window.restricted() ? "; restricted by --from, --to or --steps" : ""));
  const proto::Health& health = report_.health();
  if (health.grade() != proto::Health::GRADE_GOOD) {
    page_.Sentence(
        page_.Colored(health.grade() == proto::Health::GRADE_BAD
                          ? "Trace health is bad: do not rely on these figures, see below."
                      : health.grade() == proto::Health::GRADE_LOSSY
                          ? "Trace health: something is missing, see below."
                          : "Trace health is unknown: the recording holds no health counters.",
                      33));
  }
}

// "dataloader: a step would take 125.2 ms instead of 177.6 ms, saving ...".
void TextWriter::Verdict() {
  const proto::Verdict& verdict = report_.verdict();
  if (verdict.label().empty()) return;
  page_.Line(page_.Colored("verdict: " + verdict.label(), 1));
  const std::int64_t unrecorded_ns = verdict.step_ns() - verdict.recording_ns();
  if (verdict.has_saved_ns()) {
    page_.Sentence(fmt::format(
        "without it a {} takes {} instead of {}: saves {} (95 % interval {} to {}), {}",
        verdict.steps() > 0 ? "step" : "window like this", FormatTime(verdict.new_step_ns()),
        FormatTime(unrecorded_ns), FormatTime(verdict.saved_ns()),
        FormatTime(verdict.saved_low_ns()), FormatTime(verdict.saved_high_ns()),
        FormatShare(verdict.saved_ns(), unrecorded_ns)));
    if (verdict.recording_ns() * 100 >= verdict.step_ns())
      page_.Sentence(
          fmt::format("as recorded it takes {}: recording adds about {}, a little at every launch",
                      FormatTime(verdict.step_ns()), FormatTime(verdict.recording_ns())));
  } else if (verdict.abstained().empty()) {
    page_.Sentence(fmt::format("nothing but faster kernels would save 5 % of the step of {}",
                               FormatTime(verdict.step_ns())));
  } else {
    page_.Sentence("no verdict: " + verdict.abstained());
  }
  if (verdict.abstained().empty()) {
    std::string text = fmt::format("confidence {:.2f}", verdict.confidence());
    if (verdict.has_saved_ns() && verdict.has_runner_up())
      text += fmt::format("; next {} with {}, margin {} of the step", verdict.runner_up().label(),
                          FormatTime(verdict.runner_up().saved_ns()), Percent(verdict.margin()));
    page_.Sentence(text);
  }
  for (const std::string& caveat : verdict.caveats()) page_.Sentence("but: " + caveat);
  if (verdict.evidence_size() > 0) page_.Line(fmt::format("  evidence ({}):", verdict.device()));
  for (const proto::Evidence& evidence : verdict.evidence())
    page_.Sentence("- " + evidence.text(), 4);
  if (verdict.levers_size() > 0) page_.Line("  what to change:");
  for (const proto::Lever& lever : verdict.levers()) {
    page_.Sentence(fmt::format("- {}: {}", lever.setting(), lever.change()), 4);
    page_.Sentence("[" + lever.source() + "]", 8);
  }
  page_.Line("");
}

void TextWriter::Steps(const proto::DeviceSteps& steps) {
  const bool window = steps.pattern().empty() && steps.count() < 3;
  page_.Heading(fmt::format("{} of {}", window ? "The window" : "A mean step", steps.label()));
  if (!steps.has_sum() && steps.median_ns() == 0)
    return page_.Sentence("how long steps took is not given: see Trust");
  // The numbers tell which, where others were left out before them.
  const std::string which = steps.first() > 1 ? fmt::format("steps {} to {}", steps.first(),
                                                            steps.first() + steps.count() - 1)
                                              : Plural(steps.count(), "step");
  std::string text = fmt::format(
      "{} ({}{}): median {}, MAD {}; {} of warm-up left out, {} irregular", which, steps.source(),
      steps.pattern().empty() ? "" : " '" + steps.pattern() + "'", FormatTime(steps.median_ns()),
      FormatTime(steps.mad_ns()), FormatCount(steps.warm_up()), FormatCount(steps.irregular()));
  if (steps.irregular() > 0 && steps.has_regular_mean_ns())
    text += fmt::format(", mean of the others {}", FormatTime(steps.regular_mean_ns()));
  // Steps that the program told are certain enough to need no word.
  constexpr double kCertain = 0.99;
  if (steps.confidence() > 0 && steps.confidence() < kCertain)
    text += fmt::format("; confidence {}", Percent(steps.confidence()));
  page_.Sentence(text);
  if (!steps.has_sum()) return page_.Sentence("how they were spent is not given: see Trust");
  const proto::StepSplit& sum = steps.sum();
  const std::int64_t count = std::max<std::int64_t>(1, steps.count() - steps.warm_up());
  Rows rows = {{"", "share", "time"}};
  const auto add = [&](std::string name, std::int64_t ns) {
    rows.push_back({std::move(name), FormatShare(ns, sum.length_ns()), FormatTime(ns / count)});
  };
  add("compute", sum.compute_ns());
  add("exposed communication", sum.exposed_communication_ns());
  add("exposed copies", sum.exposed_copy_ns());
  for (const proto::IdlePart& part : sum.idle()) add("idle: " + part.cause(), part.ns());
  if (sum.idle().empty() && sum.idle_ns() > 0) add("idle", sum.idle_ns());
  if (sum.has_unrecorded_ns()) add("not recorded", sum.unrecorded_ns());
  add("sum", sum.length_ns());
  page_.Table(rows, 1, 2);
}

void TextWriter::Notes() {
  for (const std::string& note : report_.notes()) page_.Sentence("note: " + note);
}

std::string Bar(double percent) {
  constexpr int kWidth = 40;
  const int filled = static_cast<int>(std::lround(percent / 100 * kWidth));
  return std::string(filled, '#') + std::string(kWidth - filled, '.');
}

void TextWriter::Time() {
  const proto::Partition& p = report_.run().partition();
  page_.Heading(report_.devices().size() == 1
                    ? "GPU time"
                    : fmt::format("GPU time, sum of {} GPUs", report_.devices().size()));
  if (const proto::Withheld* withheld = Withheld("partition", kAnySource))
    return page_.Sentence("not given: " + withheld->reason());
  const auto row = [](const char* name, double percent, std::int64_t ns) {
    return std::vector<std::string>{name, Bar(percent), fmt::format("{:.3f} %", percent),
                                    FormatTime(ns)};
  };
  Rows rows = {
      row("compute", p.compute_percent(), p.compute_ns()),
      row("exposed communication", p.exposed_communication_percent(), p.exposed_communication_ns()),
      row("exposed copies", p.exposed_copy_percent(), p.exposed_copy_ns()),
      row("idle", p.idle_percent(), p.idle_ns())};
  if (p.has_unrecorded_ns())
    rows.push_back(row("not recorded", p.unrecorded_percent(), p.unrecorded_ns()));
  rows.push_back({"sum", "", "100.000 %", FormatTime(p.wall_ns())});
  page_.Table(rows, 2, 3);
  Ratios(p);
}

void TextWriter::Ratios(const proto::Partition& p) {
  std::string text = fmt::format("busy {}", Percent(p.busy_share()));
  if (p.communication_ns() == 0) {
    text += "; no communication";
  } else {
    text += fmt::format("; communication {}, of which {} overlaps compute",
                        FormatTime(p.communication_ns()), Percent(p.overlap_share()));
    text += p.has_communication_to_compute()
                ? fmt::format(
                      "; communication / compute {:.3f} (raw: contains waiting for other ranks)",
                      p.communication_to_compute())
                : "; communication / compute unknown: no compute";
  }
  page_.Sentence(text);
}

void TextWriter::Spreads() {
  const proto::Run& run = report_.run();
  const auto row = [](const char* name, const proto::Spread& s) {
    return std::vector<std::string>{
        name, Percent(s.min()), Percent(s.median()), Percent(s.max()), s.min_at(), s.max_at()};
  };
  page_.Heading("Spread over the GPUs");
  page_.Table({{"share of the window", "min", "median", "max", "min at", "max at"},
               row("busy", run.busy_share()),
               row("compute", run.compute_share()),
               row("exposed communication", run.exposed_communication_share()),
               row("exposed copies", run.exposed_copy_share()),
               row("idle", run.idle_share())},
              1, 3);
}

void TextWriter::Devices() {
  page_.Heading("Each GPU");
  Rows rows = {{"", "window", "compute", "exp. comm", "exp. copy", "idle", "comm/comp", "overlap"}};
  for (const proto::DeviceReport& device : report_.devices()) {
    if (Withheld("partition", device.source()) != nullptr) {
      rows.push_back({device.label(), "not given", "", "", "", "", "", ""});
      continue;
    }
    const proto::Partition& p = device.partition();
    const bool communicates = p.communication_ns() > 0;
    rows.push_back(
        {device.label(), FormatTime(p.wall_ns()), fmt::format("{:.3f} %", p.compute_percent()),
         fmt::format("{:.3f} %", p.exposed_communication_percent()),
         fmt::format("{:.3f} %", p.exposed_copy_percent()),
         fmt::format("{:.3f} %", p.idle_percent()),
         p.has_communication_to_compute() ? fmt::format("{:.3f}", p.communication_to_compute())
                                          : kUnknown,
         communicates ? Percent(p.overlap_share()) : "none"});
  }
  page_.Table(rows, 1, 7);
}

void TextWriter::Causes(const proto::IdleCauses& causes, std::int64_t idle_ns, int source) {
  for (const char* figures : {"partition", "gap_causes"}) {
    if (const proto::Withheld* withheld = Withheld(figures, source))
      return page_.Sentence("causes of idle time: not given, " + withheld->reason());
  }
  if (idle_ns == 0) return page_.Sentence("never idle");
  const auto part = [&](const char* name, std::int64_t ns) {
    return fmt::format("{} {} ({})", name, FormatTime(ns), FormatShare(ns, idle_ns));
  };
  page_.Sentence(fmt::format(
      "idle {} in {}: {}, {}, {}, {}", FormatTime(idle_ns), Plural(causes.gap_count(), "gap"),
      part("host late", causes.host_late_ns()), part("launch latency", causes.launch_latency_ns()),
      part("queued", causes.queued_ns()), part("unknown", causes.unknown_ns())));
}

void TextWriter::CaptureGaps(const proto::DeviceReport& device) {
  for (const proto::CaptureGap& gap : device.capture_gaps()) {
    page_.Sentence(
        fmt::format("not recorded: {} to {} ({}): what is shown as idle there may not have been",
                    FormatTime(gap.start_ns()), FormatTime(gap.end_ns()), gap.reason()));
  }
}

void TextWriter::Peaks(const proto::DeviceReport& device) {
  if (!device.has_peaks()) return page_.Sentence("published rates: this GPU is not in the table");
  const proto::GpuPeaks& peaks = device.peaks();
  std::string text = fmt::format("published rates of {}:", peaks.title());
  if (peaks.has_bf16_tflops()) text += fmt::format(" bf16 {:g} TFLOPS dense,", peaks.bf16_tflops());
  if (peaks.has_fp16_tflops()) text += fmt::format(" fp16 {:g} TFLOPS dense,", peaks.fp16_tflops());
  if (peaks.has_memory_gb_per_s())
    text += fmt::format(" memory {:g} GB/s,", peaks.memory_gb_per_s());
  if (peaks.has_nvlink_gb_per_s())
    text += fmt::format(" NVLink {:g} GB/s in one direction,", peaks.nvlink_gb_per_s());
  text.pop_back();
  page_.Sentence(text);
}

// What a table leaves out is said.
void TextWriter::More(std::size_t shown, int all) {
  const std::size_t left =
      static_cast<std::size_t>(all) - std::min(shown, static_cast<std::size_t>(all));
  if (left > 0) page_.Sentence(fmt::format("({} more in --format json)", left));
}

void TextWriter::Gaps(const proto::DeviceReport& device) {
  const std::size_t count =
      std::min(options_.gaps, static_cast<std::size_t>(device.longest_gaps_size()));
  std::vector<std::string> enders;
  for (std::size_t i = 0; i < count; ++i)
    enders.push_back(device.longest_gaps(static_cast<int>(i)).ended_by());
  enders = ShortKernelNames(enders, 60);
  for (std::size_t i = 0; i < count; ++i) {
    const proto::Gap& gap = device.longest_gaps(static_cast<int>(i));
    page_.Line(fmt::format("  {:>9} at {}{}", FormatTime(gap.duration_ns()),
                           FormatTime(gap.start_ns()),
                           gap.has_ended_by() ? ", ended by " + enders[i] : ""));
    page_.Sentence(gap.text(), 12);
  }
  More(count, device.longest_gaps_size());
}

// "512x4" of 512 x 4 x 1.
template <typename Dims>
std::string DimsText(const Dims& dims) {
  std::string text;
  int last = dims.size();
  while (last > 1 && dims[last - 1] == 1) --last;
  for (int i = 0; i < last; ++i) text += fmt::format("{}{}", i > 0 ? "x" : "", dims[i]);
  return text.empty() ? kUnknown : text;
}

std::string ShapeText(const proto::LaunchShape& shape) {
  std::string text =
      fmt::format("grid {} block {}", DimsText(shape.grid()), DimsText(shape.block()));
  if (shape.cluster_size() == 3) text += fmt::format(" cluster {}", DimsText(shape.cluster()));
  return text;
}

template <typename From>
void TextWriter::Kernels(const From& from, std::size_t rows) {
  const proto::KernelTotals& totals = from.kernels();
  if (totals.count() == 0) return page_.Sentence("no kernels");
  page_.Sentence(fmt::format("{} of {} in {}; unclassified {}", Plural(totals.count(), "kernel"),
                             Plural(totals.distinct_names(), "name"), FormatTime(totals.total_ns()),
                             Percent(totals.unclassified_share())));
  std::vector<std::string> names;
  for (const proto::Kernel& kernel : from.top_kernels()) names.push_back(kernel.name());
  names = ShortKernelNames(names, kTextWidth - kNameColumn - 2);
  for (std::size_t i = 0; i < std::min(rows, names.size()); ++i) {
    const proto::Kernel& kernel = from.top_kernels(static_cast<int>(i));
    page_.Line(fmt::format("{:>8}  {:>9}  {}", Percent(kernel.share()),
                           FormatTime(kernel.total_ns()), names[i]));
    page_.Sentence(fmt::format("{}: {} x {} ({} to {}), {}", kernel.kernel_class(),
                               FormatCount(kernel.count()), Rounded(kernel.mean_ns()),
                               FormatTime(kernel.min_ns()), FormatTime(kernel.max_ns()),
                               ShapeText(kernel.shape())),
                   kNameColumn + 2);
  }
}

template <typename From>
void TextWriter::Classes(const From& from) {
  Rows rows = {{"class", "share", "time", "count"}};
  for (const proto::KernelClass& one : from.classes()) {
    const std::optional<KernelClass> known = KernelClassFromName(one.name());
    const std::string title = known == KernelClass::kOther || !known
                                  ? "other (unclassified)"
                                  : std::string(KernelClassTitle(*known));
    rows.push_back(
        {title, Percent(one.share()), FormatTime(one.total_ns()), FormatCount(one.count())});
  }
  page_.Table(rows, 1, 3);
}

template <typename From>
void TextWriter::Copies(const From& from, std::size_t rows) {
  if (from.copies().empty()) return page_.Sentence("no copies");
  Rows table = {{"copies", "memory", "count", "bytes", "time", "rate", "exposed"}};
  for (const proto::Copy& copy : from.copies()) {
    if (table.size() > rows) break;
    const std::string memory =
        copy.source_memory().empty() ? "" : copy.source_memory() + " to " + copy.target_memory();
    table.push_back({copy.kind(), memory, FormatCount(copy.count()), FormatBytes(copy.bytes()),
                     FormatTime(copy.total_ns()),
                     copy.has_gb_per_s() ? FormatRate(copy.bytes(), copy.total_ns()) : kUnknown,
                     FormatTime(copy.exposed_ns())});
  }
  page_.Table(table, 2, 6);
  More(rows, from.copies_size());
}

std::string MessageSize(const proto::NcclRow& row) {
  if (!row.has_bucket_low_bytes()) return kUnknown;
  if (row.bucket_high_bytes() <= 1) return "empty";
  return fmt::format("{}+{}", BinaryBytes(row.bucket_low_bytes()), row.latency_bound() ? " *" : "");
}

std::string CarriedOut(const proto::NcclRow& row) {
  if (row.function().rfind("Send", 0) == 0 || row.function() == "Recv") return "-";  // no choice
  if (!row.has_algorithm()) return kUnknown;
  return ShortenMiddle(fmt::format("{} {}", row.algorithm(), row.protocol()), 20);
}

std::string GbPerS(bool known, double rate) {
  return known ? fmt::format("{:.2f}", rate) : kUnknown;
}

void TextWriter::Nccl(const proto::Nccl& nccl, std::size_t rows) {
  if (nccl.kernels() == 0) return page_.Sentence("no communication kernels");
  page_.Sentence(
      fmt::format("{}, {} of them joined to {}{}", Plural(nccl.kernels(), "communication kernel"),
                  FormatCount(nccl.linked_kernels()), Plural(nccl.calls(), "NCCL call"),
                  nccl.other_kernels() > 0
                      ? fmt::format("; {} not from NCCL", FormatCount(nccl.other_kernels()))
                      : ""));
  // Only where NCCL told how it carried operations out.
  const bool told = std::any_of(nccl.rows().begin(), nccl.rows().end(),
                                [](const proto::NcclRow& row) { return row.has_algorithm(); });
  Rows table = {{"function", "ranks", "message", "count", "bytes", "kernel time", "algbw", "busbw",
                 "transfer"}};
  if (told) table.front().insert(table.front().begin() + 1, "carried out");
  bool latency = false;
  std::vector<std::string> reasons;
  for (const proto::NcclRow& row : nccl.rows()) {
    if (table.size() > rows) break;
    latency |= row.latency_bound();
    if (!row.busbw_reason().empty() &&
        std::find(reasons.begin(), reasons.end(), row.busbw_reason()) == reasons.end()) {
      reasons.push_back(row.busbw_reason());
    }
    table.push_back(
        {ShortenMiddle(row.function(), 16),
         row.has_communicator_size() ? fmt::format("{}", row.communicator_size()) : kUnknown,
         MessageSize(row), FormatCount(row.count()),
         row.has_bytes() ? FormatBytes(row.bytes()) : kUnknown, FormatTime(row.kernel_ns()),
         GbPerS(row.has_algbw_gb_per_s(), row.algbw_gb_per_s()),
         GbPerS(row.has_busbw_gb_per_s(), row.busbw_gb_per_s()),
         GbPerS(row.has_transfer_busbw_gb_per_s(), row.transfer_busbw_gb_per_s())});
    if (told) table.back().insert(table.back().begin() + 1, CarriedOut(row));
  }
  const int columns = told ? 1 : 0;
  if (table.size() > 1) page_.Table(table, 3 + columns, 8 + columns);
  More(rows, nccl.rows_size());
  page_.Sentence(
      "Message: size S, at least this and less than twice this. Bandwidths in GB/s (10^9 bytes per "
      "second), as nccl-tests defines them." +
      std::string(nccl.caveat().empty() ? "" : " ") + nccl.caveat());
  if (latency)
    page_.Sentence("* below 1 MiB: bound by latency, not fit for a comparison of bandwidths");
  for (const std::string& reason : reasons) page_.Sentence("busbw unknown: " + reason);
}

std::string ChannelRange(const proto::NcclPath& path) {
  return path.channels_min() == path.channels_max()
             ? fmt::format("{}", path.channels_max())
             : fmt::format("{} to {}", path.channels_min(), path.channels_max());
}

// Only where it was recorded.
void TextWriter::Transports(const proto::Nccl& nccl) {
  if (nccl.transports().empty()) return;
  page_.Sentence("How ranks are connected, as NCCL's log tells:");
  Rows table = {{"connected by", "ranks", "communicators", "ranks that told", "pairs", "channels"}};
  for (const proto::NcclTransport& transport : nccl.transports()) {
    const std::string ranks = transport.has_communicator_size()
                                  ? fmt::format("{}", transport.communicator_size())
                                  : kUnknown;
    const std::string communicators = FormatCount(transport.communicators()),
                      told = FormatCount(transport.ranks_told());
    if (transport.paths().empty())
      table.push_back({"nothing", ranks, communicators, told, "-", "-"});
    for (const proto::NcclPath& path : transport.paths()) {
      table.push_back({ShortenMiddle(path.name(), 32), ranks, communicators, told,
                       FormatCount(path.pairs()), ChannelRange(path)});
    }
  }
  page_.Table(table, 1, 5);
  for (const proto::NcclTransport& transport : nccl.transports()) {
    const std::string of =
        transport.has_communicator_size()
            ? fmt::format("Of {}: ", Plural(transport.communicator_size(), "rank"))
            : std::string();
    if (transport.nvls()) page_.Sentence(of + "buffers for NVLink SHARP (NVLS) were made.");
    for (const std::string& remark : transport.remarks()) page_.Sentence(of + remark);
  }
}

// "2 x 4096 x 1024 x 4096".
std::string ProductText(const proto::MatrixProductRow& row) {
  const std::string one = fmt::format("{} x {} x {}", row.m(), row.n(), row.k());
  return row.batch() == 1 ? one : fmt::format("{} x ({})", row.batch(), one);
}

void TextWriter::Products(const proto::MatrixProducts& products, std::size_t rows) {
  page_.Sentence(fmt::format("{}, {} of them joined to their kernels: {:.4g} TFLOP in {}",
                             Plural(products.calls(), "call"), FormatCount(products.linked_calls()),
                             products.flops() / 1e12, FormatTime(products.kernel_ns())));
  Rows table = {{"m x n x k", "types", "calls", "kernels", "time", "TFLOP/s"}};
  for (const proto::MatrixProductRow& row : products.rows()) {
    if (table.size() > rows) break;
    table.push_back(
        {ProductText(row), row.types(), FormatCount(row.calls()), FormatCount(row.kernels()),
         FormatTime(row.kernel_ns()),
         row.has_tflops_per_s() ? fmt::format("{:.1f}", row.tflops_per_s()) : kUnknown});
  }
  if (table.size() > 1) page_.Table(table, 2, 5);
  More(rows, products.rows_size());
  Attention(products);
}

void TextWriter::StepFlops(const proto::MatrixProducts& products) {
  if (!products.has_flops_per_step() || products.flops_per_step() <= 0) return;
  std::string text = fmt::format("known FLOPs of a step: {:.4g} TFLOP in {}",
                                 products.flops_per_step() / 1e12, FormatTime(products.step_ns()));
  if (products.has_peak_share()) {
    text += fmt::format(": hardware FLOPs utilisation (HFU) at least {}",
                        Percent(products.peak_share(), 1));
  } else if (!products.peak_reason().empty()) {
    text += "; share of the peak unknown: " + products.peak_reason();
  }
  page_.Sentence(text);
}

void TextWriter::Attention(const proto::MatrixProducts& products) {
  const proto::Attention& attention = products.attention();
  if (attention.calls() > 0) {
    page_.Sentence(fmt::format(
        "attention: {} ({} backward), {} of them joined to their kernels: {:.4g} TFLOP in {}",
        Plural(attention.calls(), "call"), FormatCount(attention.backward_calls()),
        FormatCount(attention.linked_calls()), attention.flops() / 1e12,
        FormatTime(attention.kernel_ns())));
    if (attention.product_calls() > 0)
      page_.Sentence(fmt::format("{} done as matrix products, which are counted above",
                                 Plural(attention.product_calls(), "attention call")));
    if (attention.unknown_calls() > 0)
      page_.Sentence(fmt::format("FLOPs of {} unknown: the lengths of its sequences are on the GPU",
                                 Plural(attention.unknown_calls(), "attention call")));
  }
  StepFlops(products);
  if (products.unknown_share() > 0)
    page_.Sentence(fmt::format(
        "{} of the kernel time is in matrix products or attention whose FLOPs are not known",
        Percent(products.unknown_share(), 1)));
}

void TextWriter::Samples() {
  const proto::Samples& all = report_.run().samples();
  if (!all.has_per_step()) return;
  const auto text = [](const proto::Samples& samples) {
    return fmt::format("{:.6g} a step, {:.4g} a second", samples.per_step(), samples.per_second());
  };
  std::string by_rank;
  if (report_.sources_size() > 1) {
    int source = -1;
    for (const proto::DeviceReport& device : report_.devices()) {
      if (device.source() == source) continue;
      source = device.source();
      by_rank += fmt::format("{}{} {}", by_rank.empty() ? "; " : ", ", SourceLabel(report_, source),
                             text(device.samples()));
    }
  }
  page_.Sentence("samples: " + text(all) + by_rank);
}

void TextWriter::Allocator(const proto::DeviceReport& device) {
  const proto::Allocator& allocator = device.allocator();
  if (!allocator.has_peak_allocated_bytes() || !allocator.has_peak_reserved_bytes()) return;
  std::string text = fmt::format("PyTorch's memory: at most {} in tensors, {} reserved",
                                 FormatBytes(allocator.peak_allocated_bytes()),
                                 FormatBytes(allocator.peak_reserved_bytes()));
  if (allocator.retries() > 0)
    text += fmt::format("; {} to free memory, which wait for the GPU",
                        Plural(allocator.retries(), allocator.retries() == 1 ? "retry" : "retrie"));
  if (allocator.ooms() > 0)
    text += fmt::format("; out of memory {}", Plural(allocator.ooms(), "time"));
  page_.Sentence(text);
}

void TextWriter::MemoryCalls(const proto::MemoryCalls& memory) {
  page_.Sentence(fmt::format(
      "{} of {} on the GPU and {}, {} in these calls; at most {} held at one time{}",
      Plural(memory.allocations(), "allocation"), FormatBytes(memory.allocated_bytes()),
      Plural(memory.releases(), "release"), FormatTime(memory.call_ns()),
      FormatBytes(memory.peak_bytes()), report_.devices_size() > 1 ? " on one GPU" : ""));
  if (report_.steps_size() == 1 && report_.steps(0).count() > 0) {
    page_.Sentence(fmt::format(
        "{:.2f} allocations a step",
        static_cast<double>(memory.allocations()) / static_cast<double>(report_.steps(0).count())));
  }
  if (memory.host_allocations() > 0) {
    page_.Sentence(fmt::format("{} of {} of pinned memory on the host",
                               Plural(memory.host_allocations(), "allocation"),
                               FormatBytes(memory.host_bytes())));
  }
}

void TextWriter::DeviceSection(const proto::DeviceReport& device) {
  const bool only = report_.devices().size() == 1;
  page_.Heading(fmt::format("{} ({})", device.label(), device.name()));
  if (device.has_window())
    page_.Sentence(fmt::format("{} to {}", FormatTime(device.window().start_ns()),
                               FormatTime(device.window().end_ns())));
  if (!only && device.has_partition()) Ratios(device.partition());
  Peaks(device);
  Allocator(device);
  CaptureGaps(device);
  Causes(device.idle_causes(), device.partition().idle_ns(), device.source());
  if (device.longest_gaps_size() > 0) page_.Line("  longest gaps:");
  Gaps(device);
  if (only) return;
  Kernels(device, options_.device_rows);
  Copies(device, options_.device_rows);
  Nccl(device.nccl(), options_.device_rows);
}

void TextWriter::Mfu() {
  const proto::Mfu& mfu = report_.mfu();
  page_.Heading("Model FLOPs utilisation (MFU)");
  if (mfu.has_mfu_percent()) {
    page_.Sentence(fmt::format("{:.2f} %: {:.1f} of {:.1f} TFLOPS on each of {}", mfu.mfu_percent(),
                               mfu.achieved_tflops_per_device(), mfu.peak_tflops_per_device(),
                               Plural(mfu.devices(), "GPU")));
  } else {
    page_.Sentence("unknown: " + mfu.reason());
  }
  if (!mfu.requested()) return;
  if (mfu.has_flops_per_step())
    page_.Sentence(
        fmt::format("FLOPs per step: {:.4g} ({})", mfu.flops_per_step(), mfu.convention()));
  if (mfu.has_steps())
    page_.Sentence(fmt::format("steps: {} ({}) in {}", FormatCount(mfu.steps()), mfu.steps_source(),
                               FormatTime(mfu.window_ns())));
  if (!mfu.peak_source().empty()) page_.Sentence("peak: " + mfu.peak_source());
}

const char* GradeText(proto::Health::Grade grade) {
  switch (grade) {
    case proto::Health::GRADE_GOOD:
      return "good";
    case proto::Health::GRADE_LOSSY:
      return "lossy";
    case proto::Health::GRADE_BAD:
      return "bad";
    default:
      return kUnknown;
  }
}

int GradeColor(proto::Health::Grade grade) {
  return grade == proto::Health::GRADE_GOOD ? 32 : grade == proto::Health::GRADE_BAD ? 31 : 33;
}

void TextWriter::Join() {
  const proto::Join& join = report_.run().join();
  if (join.has_share()) {
    page_.Sentence(fmt::format("{} of {} GPU operations ({}) joined to the call that launched them",
                               FormatCount(join.joined()), FormatCount(join.operations()),
                               Percent(join.share(), 3)));
  } else {
    page_.Sentence("join of GPU operations to launch calls: unknown, " + join.reason());
  }
}

void TextWriter::Health() {
  const proto::Health& health = report_.health();
  page_.Heading("Trace health");
  page_.Sentence(fmt::format("trace health: {}",
                             page_.Colored(GradeText(health.grade()), GradeColor(health.grade()))));
  for (const std::string& reason : health.reasons()) page_.Sentence("- " + reason);
  Join();
  page_.Sentence(health.has_lost_share() ? fmt::format("known to be lost: {} of {} records ({})",
                                                       FormatCount(health.records_lost()),
                                                       FormatCount(health.records_seen()),
                                                       Percent(health.lost_share(), 3))
                                         : "share of lost records: unknown, no counters");
  static constexpr const char* kSeverities[] = {"info", "notice", "data loss", "error"};
  Rows rows = {{"severity", "process", "counter", "value", "meaning"}};
  for (const proto::HealthLine& line : health.lines()) {
    if (line.severity() == proto::HealthLine::SEVERITY_INFO) continue;
    rows.push_back({kSeverities[line.severity()], SourceLabel(report_, line.source()), line.name(),
                    FormatCount(line.value()),
                    ShortenMiddle(line.detail().empty() ? line.text() : line.detail(), 50)});
  }
  if (rows.size() > 1) page_.Table(rows, 3, 3);
}

const proto::Withheld* TextWriter::Withheld(std::string_view figures, int source) const {
  for (const proto::Withheld& withheld : report_.trust().withheld()) {
    if (withheld.figures() == figures && (source == kAnySource || withheld.source() == source))
      return &withheld;
  }
  return nullptr;
}

// Only where something was found.
void TextWriter::Trust() {
  const proto::Trust& trust = report_.trust();
  if (trust.findings().empty()) return;
  page_.Heading("Trust");
  const auto of = [&](int source) {
    return report_.sources_size() > 1 ? SourceLabel(report_, source) + ": " : std::string();
  };
  for (const proto::TrustFinding& finding : trust.findings())
    page_.Sentence("- " + of(finding.source()) + finding.text());
  for (const proto::Withheld& withheld : trust.withheld()) {
    const std::string name = withheld.figures() == "times"        ? "windows and copies"
                             : withheld.figures() == "partition"  ? "how the time was spent"
                             : withheld.figures() == "steps"      ? "steps"
                             : withheld.figures() == "gap_causes" ? "causes of idle time"
                                                                  : "FLOPs and NCCL's figures";
    page_.Sentence(fmt::format("- not given: {}{}, because {}", of(withheld.source()), name,
                               withheld.reason()));
  }
}

std::string TextWriter::Write() {
  const bool several = report_.devices().size() > 1;
  Verdict();
  Title();
  Notes();
  if (!report_.devices().empty()) {
    for (const proto::DeviceSteps& steps : report_.steps()) {
      if (!several || steps.label() == report_.verdict().device()) Steps(steps);
    }
    Time();
    Samples();
    if (several) {
      Devices();
      if (Withheld("partition", kAnySource) == nullptr) Spreads();
      Causes(report_.run().idle_causes(), report_.run().partition().idle_ns(), kAnySource);
    }
    for (const proto::DeviceReport& device : report_.devices()) {
      if (!several) DeviceSection(device);
    }
    const proto::Run& run = report_.run();
    page_.Heading(several ? "Kernels of all GPUs, by time" : "Kernels, by time");
    Kernels(run, kAllRows);
    page_.Heading("Kernel classes");
    Classes(run);
    if (run.matrix_products().calls() + run.matrix_products().attention().calls() > 0) {
      page_.Heading(several ? "Matrix products of all GPUs" : "Matrix products");
      Products(run.matrix_products(), kProductRows);
    }
    page_.Heading(several ? "Copies of all GPUs" : "Copies");
    Copies(run, kAllRows);
    if (run.has_memory_calls()) {
      page_.Heading(several ? "Memory calls of all GPUs" : "Memory calls");
      MemoryCalls(run.memory_calls());
    }
    page_.Heading(several ? "Communication of all GPUs" : "Communication");
    Nccl(run.nccl(), kAllRows);
    Transports(run.nccl());
    if (several) {
      for (const proto::DeviceReport& device : report_.devices()) DeviceSection(device);
    }
    Mfu();
  }
  Health();
  Trust();
  return page_.text();
}

}  // namespace

std::string WriteText(const proto::Report& report, const TextOptions& options) {
  return TextWriter(report, options).Write();
}

}  // namespace traceinject
