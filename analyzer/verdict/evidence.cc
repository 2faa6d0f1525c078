// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

std::string Time(double ns) { return FormatTime(static_cast<std::int64_t>(std::llround(ns))); }
std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Events of one kind inside the steps.
struct Tally {
  std::int64_t count = 0;
  TimeNs total_ns = 0, longest_ns = 0;
  std::int64_t bytes = 0;

  void Add(TimeNs length) {
    ++count;
    total_ns += length;
    longest_ns = std::max(longest_ns, length);
  }
};

class Witness {
 public:
  Witness(const JudgedDevice& judged, const Savings& savings)
      : judged_(judged),
        rank_(*judged.rank),
        ops_(judged.device->ops),
        savings_(savings),
        span_{judged.steps.start_ns, judged.steps.steps.back().time.end},
        count_(static_cast<double>(judged.steps.steps.size())) {
    for (const StepSplit& split : judged.causes.steps) sum_ += split;
  }

  std::vector<std::string> For(const Decision& decision) {
    if (decision.label == "dataloader") DataLoading();
    if (decision.label == "h2d_copy") Uploads();
    if (decision.label == "sync_bound") Waits();
    if (decision.label == "allocator") Allocations();
    if (decision.label == "checkpoint") Checkpoints();
    if (decision.label == "gc_pause") Collections();
    if (decision.label == "launch_bound") Launches();
    if (decision.label == "comm_exposed") Communication();
    Idle();
    StepsLine();
    Next(decision);
    return std::move(lines_);
  }

 private:
  bool Inside(TimeNs time) const { return time >= span_.start && time < span_.end; }
  std::string PerStep(double total_ns) const { return Time(total_ns / count_) + " a step"; }
  double IdleOf(std::initializer_list<IdleCause> causes) const {
    TimeNs total = 0;
    for (const IdleCause cause : causes) total += sum_.idle(cause);
    return static_cast<double>(total);
  }
  double Share(double ns) const { return ns / static_cast<double>(sum_.partition.wall_ns); }

  Tally Spans(HostSpanKind kind) const {
    Tally tally;
    const HostSpans& spans = rank_.host_spans;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (spans.kind[row] == kind && Inside(spans.start[row]) && spans.end[row] != kOpen)
        tally.Add(spans.end[row] - spans.start[row]);
    }
    return tally;
  }

  std::map<std::string_view, Tally> CallsOf(std::initializer_list<ApiClass> classes) const {
    std::map<std::string_view, Tally> calls;
    const ApiCalls& api = rank_.api;
    for (std::size_t row = 0; row < api.size(); ++row) {
      const ApiName& name = rank_.api_names[api.name[row]];
      const bool wanted =
          std::find(classes.begin(), classes.end(), name.api_class) != classes.end();
      const std::uint32_t thread = api.thread[row];
      const bool feeds =
          thread < judged_.timeline.feeders.size() && judged_.timeline.feeders[thread];
      if (wanted && feeds && Inside(api.start[row]) && api.end[row] != kOpen)
        calls[name.name].Add(api.end[row] - api.start[row]);
    }
    return calls;
  }

  // "cudaMalloc 12.0 a step (3.1 ms), cudaFree 2.0 a step (1 ms)": the two that took longest.
  std::string Longest(const std::map<std::string_view, Tally>& calls) const {
    std::vector<std::pair<std::string_view, Tally>> list(calls.begin(), calls.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return a.second.total_ns > b.second.total_ns;
    });
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, list.size()); ++i) {
      const Tally& tally = list[i].second;
      text += fmt::format("{}{} {:.1f} times a step, {}", i > 0 ? "; " : "", list[i].first,
                          static_cast<double>(tally.count) / count_,
                          Time(static_cast<double>(tally.total_ns) / count_));
    }
    return text;
  }

  void DataLoading() {
    const DataWaits& waits = rank_.data_waits;
    Tally tally;
    for (std::size_t row = 0; row < waits.size(); ++row) {
      if (Inside(waits.start[row]) && waits.end[row] != kOpen)
        tally.Add(waits.end[row] - waits.start[row]);
    }
    const double idle = IdleOf({IdleCause::kDataWait});
    if (tally.count > 0)
      lines_.push_back(fmt::format(
          "the program waited {} for its data loader ({:.1f} waits a step, the longest {})",
          PerStep(static_cast<double>(tally.total_ns)), static_cast<double>(tally.count) / count_,
          FormatTime(tally.longest_ns)));
    lines_.push_back(
        fmt::format("the GPU had nothing to do for {} while data was loaded, {} of the time",
                    PerStep(idle), Percent(Share(idle))));
    for (const DataLoader& loader : rank_.loaders) {
      if (lines_.size() >= 3) break;
      std::string text = fmt::format("DataLoader: num_workers={}, pin_memory={}", loader.workers,
                                     loader.pin_memory ? "True" : "False");
      if (loader.workers > 0)
        text +=
            fmt::format(", persistent_workers={}", loader.persistent_workers ? "True" : "False");
      if (loader.prefetch_factor)
        text += fmt::format(", prefetch_factor={}", *loader.prefetch_factor);
      if (loader.batch_size) text += fmt::format(", batch_size={}", *loader.batch_size);
      lines_.push_back(text);
    }
  }

  void Uploads() {
    Tally tally;
    TimeNs calls = 0;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.kind[row] != OpKind::kMemcpy || !Inside(ops_.start[row])) continue;
      const Transfer& transfer = rank_.transfers[ops_.detail[row]];
      if (transfer.kind != 1 || transfer.src_kind != 1) continue;
      tally.Add(ops_.end[row] - ops_.start[row]);
      tally.bytes += transfer.bytes;
      const std::uint32_t launch = ops_.launch[row];
      if (launch != kNone && rank_.api.end[launch] != kOpen)
        calls += rank_.api.end[launch] - rank_.api.start[launch];
    }
    lines_.push_back(fmt::format(
        "{:.1f} copies a step from pageable memory: {} in {}, {}",
        static_cast<double>(tally.count) / count_,
        FormatBytes(static_cast<std::int64_t>(static_cast<double>(tally.bytes) / count_)),
        Time(static_cast<double>(tally.total_ns) / count_),
        FormatRate(tally.bytes, std::max<TimeNs>(tally.total_ns, 1))));
    lines_.push_back(
        fmt::format("the host spent {} in these calls; from pinned memory they return at once",
                    PerStep(static_cast<double>(calls))));
    lines_.push_back(fmt::format(
        "assumed rate from pinned memory: {:.1f} GB/s ({})", PinnedRate(*judged_.device),
        judged_.device->cc_major ? "80 % of this GPU's PCIe link" : "the link is unknown"));
  }

  void Waits() {
    const double idle = IdleOf({IdleCause::kSync, IdleCause::kDrainedBySync});
    const std::string calls = Longest(CallsOf({ApiClass::kSynchronise}));
    if (!calls.empty()) lines_.push_back("calls that wait for the GPU: " + calls);
    Tally downloads;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.kind[row] == OpKind::kMemcpy && Inside(ops_.start[row]) &&
          rank_.transfers[ops_.detail[row]].kind == 2)
        downloads.bytes += rank_.transfers[ops_.detail[row]].bytes, ++downloads.count;
    }
    if (downloads.count > 0)
      lines_.push_back(fmt::format(
          "{:.1f} copies to the host a step, {:.0f} bytes each on average: values read by the "
          "program",
          static_cast<double>(downloads.count) / count_,
          static_cast<double>(downloads.bytes) / static_cast<double>(downloads.count)));
    lines_.push_back(fmt::format("the GPU ran dry in such calls and idled {} until the next launch",
                                 PerStep(idle)));
  }

  void Allocations() {
    const std::string calls = Longest(CallsOf({ApiClass::kAllocate}));
    if (!calls.empty()) lines_.push_back("memory calls: " + calls);
    const double idle = IdleOf({IdleCause::kAllocator});
    lines_.push_back(fmt::format("the GPU idled {} because of them, {} of the time", PerStep(idle),
                                 Percent(Share(idle))));
  }

  void Checkpoints() {
    const Tally tally = Spans(HostSpanKind::kCheckpoint);
    lines_.push_back(fmt::format("{} checkpoints in {} steps, {} each, the longest {}", tally.count,
                                 judged_.steps.steps.size(),
                                 Time(static_cast<double>(tally.total_ns) /
                                      std::max<double>(1, static_cast<double>(tally.count))),
                                 FormatTime(tally.longest_ns)));
    const double idle = IdleOf({IdleCause::kCheckpoint});
    lines_.push_back(
        fmt::format("spread over all steps the GPU idled {} during them", PerStep(idle)));
  }

  void Collections() {
    std::array<std::int64_t, 4> generations{};
    const HostSpans& spans = rank_.host_spans;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (spans.kind[row] != HostSpanKind::kGarbageCollection || !Inside(spans.start[row]))
        continue;
      const int generation = spans.detail[row];
      ++generations[generation >= 0 && generation < 3 ? static_cast<std::size_t>(generation) : 3];
    }
    const Tally tally = Spans(HostSpanKind::kGarbageCollection);
    lines_.push_back(
        fmt::format("{} garbage collections in {} steps ({} of the oldest generation), {} in all, "
                    "the longest {}",
                    tally.count, judged_.steps.steps.size(), generations[2],
                    FormatTime(tally.total_ns), FormatTime(tally.longest_ns)));
    const double idle = IdleOf({IdleCause::kGc});
    lines_.push_back(
        fmt::format("spread over all steps the GPU idled {} during them", PerStep(idle)));
  }

  void Launches() {
    std::vector<TimeNs> lengths, slack;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (!Inside(ops_.start[row])) continue;
      if (ops_.kind[row] == OpKind::kKernel) lengths.push_back(ops_.end[row] - ops_.start[row]);
      if (ops_.launch[row] != kNone)
        slack.push_back(ops_.start[row] - rank_.api.start[ops_.launch[row]]);
    }
    const auto median = [](std::vector<TimeNs>& values) {
      if (values.empty()) return TimeNs{0};
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), middle, values.end());
      return *middle;
    };
    Tally calls;
    for (const auto& [name, tally] : CallsOf({ApiClass::kLaunch, ApiClass::kGraphLaunch})) {
      calls.count += tally.count;
      calls.total_ns += tally.total_ns;
    }
    lines_.push_back(fmt::format("{:.0f} kernels a step, their median {}; {} in launch calls",
                                 static_cast<double>(lengths.size()) / count_,
                                 FormatTime(median(lengths)),
                                 PerStep(static_cast<double>(calls.total_ns))));
    lines_.push_back(fmt::format(
        "a median operation starts {} after its launch: {}", FormatTime(median(slack)),
        median(slack) < 50'000 ? "the host is hardly ahead" : "the host is ahead only in parts"));
    lines_.push_back(
        fmt::format("the GPU waited {} for launch calls and {} for the program between them",
                    PerStep(IdleOf({IdleCause::kLaunch})), PerStep(IdleOf({IdleCause::kPython}))));
  }

  void Communication() {
    const Partition& p = sum_.partition;
    const double exposed = static_cast<double>(p.exposed_communication_ns);
    lines_.push_back(fmt::format("communication ran alone for {}, {} of the time", PerStep(exposed),
                                 Percent(Share(exposed))));
    lines_.push_back(fmt::format("of {} of communication {} overlapped computing",
                                 PerStep(static_cast<double>(p.communication_ns)),
                                 Percent(p.overlap_share().value_or(0))));
  }

  // Where the idle time went: the three largest causes.
  void Idle() {
    std::vector<std::pair<TimeNs, IdleCause>> causes;
    for (std::size_t i = 0; i < kIdleCauses; ++i)
      causes.emplace_back(sum_.idle_ns[i], static_cast<IdleCause>(i));
    std::stable_sort(causes.begin(), causes.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    const Partition& p = sum_.partition;
    std::string text = fmt::format("the GPU is busy {} of the time", Percent(p.share(p.busy_ns())));
    for (std::size_t i = 0; i < 3 && causes[i].first > 0; ++i)
      text += fmt::format("{}{} {}", i == 0 ? "; idle: " : ", ", IdleCauseName(causes[i].second),
                          PerStep(static_cast<double>(causes[i].first)));
    lines_.push_back(text);
  }

  void StepsLine() {
    const Steps& steps = judged_.steps;
    if (steps.source == StepSource::kWindow) {
      lines_.push_back(fmt::format("no steps known: the window of {} counts as one",
                                   FormatTime(steps.median_ns)));
      return;
    }
    std::string text = fmt::format("{} steps from {}{}, median {}, MAD {}", steps.steps.size(),
                                   StepSourceName(steps.source),
                                   steps.pattern.empty() ? "" : " '" + steps.pattern + "'",
                                   FormatTime(steps.median_ns), FormatTime(steps.mad_ns));
    if (const std::size_t warm_up = steps.count(&Step::warm_up); warm_up > 0)
      text += fmt::format("; {} of warm-up left out", warm_up);
    if (const std::size_t irregular = steps.count(&Step::irregular); irregular > 0)
      text += fmt::format("; {} irregular", irregular);
    lines_.push_back(text);
  }

  void Next(const Decision& decision) {
    if (decision.runner_up == nullptr || lines_.size() >= 5) return;
    const CauseSaving& next = *decision.runner_up;
    lines_.push_back(
        fmt::format("next: {} would save {} ({})",
                    next.label == kHostWaitLabel ? "what the host does unrecorded" : next.label,
                    PerStep(next.saved_ns * count_), Percent(next.saved_ns / savings_.step_ns)));
  }

  const JudgedDevice& judged_;
  const Rank& rank_;
  const GpuOps& ops_;
  const Savings& savings_;
  const Interval span_;
  const double count_;
  StepSplit sum_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> EvidenceFor(const JudgedDevice& judged, const Savings& savings,
                                     const Decision& decision) {
  return Witness(judged, savings).For(decision);
}

}  // namespace traceinject
