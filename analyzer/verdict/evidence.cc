// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <type_traits>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/idle/host_load.h"
#include "analyzer/metrics/report/write_scope.h"
#include "analyzer/model/intervals.h"
#include "analyzer/verdict/host_code.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

TimeNs LengthOf(Interval time) { return time.end - time.start; }

// Events of one kind inside the steps.
struct Tally {
  std::int64_t count = 0;
  TimeNs total_ns = 0, longest_ns = 0;
  std::int64_t bytes = 0;
  std::optional<EvidencePlace> longest;

  void Add(Interval time, std::uint32_t thread) {
    ++count;
    total_ns += LengthOf(time);
    if (longest && LengthOf(time) <= longest_ns) return;
    longest_ns = LengthOf(time);
    longest = EvidencePlace{time, thread};
  }
};

// The longest of some intervals, the first of equals; empty ones do not count.
class Longest {
 public:
  void Add(Interval time) {
    if (LengthOf(time) > LengthOf(longest_)) longest_ = time;
  }
  std::optional<EvidencePlace> place() const {
    if (LengthOf(longest_) == 0) return std::nullopt;
    return EvidencePlace{longest_, kNone};
  }

 private:
  Interval longest_;
};

class Witness {
 public:
  Witness(const DeviceAnalysis& judged, const Savings& savings)
      : judged_(judged),
        rank_(*judged.rank),
        ops_(judged.device->ops),
        savings_(savings),
        span_{judged.steps.start_ns, judged.steps.steps.back().time.end} {
    used_ = judged.steps.judged_times();
    sum_ = judged.SumOf(IsJudged);
    count_ = static_cast<double>(judged.steps.count_judged());
  }

  std::vector<EvidenceLine> For(const Decision& decision) {
    const CauseSaving* const cause = decision.cause;
    const bool of_ranks = cause != nullptr && cause->finding != nullptr;
    if (of_ranks) WhoIsLate(*cause);
    const std::size_t of_finding = lines_.size();
    if (decision.label == "dataloader") DataLoading();
    if (decision.label == "h2d_copy") Uploads();
    if (decision.label == "sync_bound") Waits();
    if (decision.label == "allocator") Allocations();
    if (decision.label == "checkpoint") Checkpoints();
    if (decision.label == "gc_pause") Collections();
    for (const BetweenSteps& between : savings_.between) {
      if (cause == &between.saving) Say(between.text);
    }
    if (decision.label == "launch_bound") {
      Unscheduled();
      Launches();
      Computing();
    }
    if (decision.label == kHostCodeLabel) {
      Unscheduled();
      HostCode();
      Computing();
    }
    if (decision.label == "comm_exposed") Communication();
    for (const KernelSaving& saving : savings_.kernels) {
      if (saving.label == decision.label) Kernels(saving);
    }
    if (of_ranks && lines_.size() == of_finding) Details(*cause->finding);
    if (decision.label == "compute_bound") OwnPauses(decision.working);
    Idle();
    StepsLine();
    Next(decision);
    return std::move(lines_);
  }

 private:
  void Say(std::string text, std::optional<EvidencePlace> place = std::nullopt) {
    lines_.push_back({std::move(text), place});
  }

  // Where that is worth a line.
  void Unscheduled() {
    const LeverContext context{judged_, 0};
    for (const LeverValue& value : ProcessorsOf(context).values)
      Say(
          fmt::format("the threads that launch could run but had no processor for {}: others use "
                      "them",
                      value.current));
  }

  // The regular step nearest to the median; the window where no steps are known.
  EvidencePlace TypicalStep() const {
    const Step* typical = &judged_.steps.steps.front();
    const auto rating = [this](const Step& step) {
      return std::pair(step.warm_up || step.irregular,
                       std::abs(step.length_ns() - judged_.steps.median_ns));
    };
    for (const Step& step : judged_.steps.steps) {
      if (rating(step) < rating(*typical)) typical = &step;
    }
    return {typical->time, kNone};
  }

  // Hands the idle times of the whole GPU to `visit`, in order. What takes no time ends none.
  template <typename Visit>
  void ForEachGap(Visit visit) const {
    TimeNs busy_until = span_.start;
    for (std::size_t row = 0; row < ops_.size() && ops_.start[row] < span_.end; ++row) {
      if (ops_.end[row] <= ops_.start[row]) continue;
      if (ops_.start[row] > busy_until) visit(Interval{busy_until, ops_.start[row]});
      busy_until = std::max(busy_until, ops_.end[row]);
    }
    if (busy_until < span_.end) visit(Interval{busy_until, span_.end});
  }

  // The idle time of the GPU with most of these causes in it; where none is known, a typical step.
  EvidencePlace GapOf(std::initializer_list<IdleCause> causes) const {
    Intervals host;
    for (const auto* segments : {&judged_.timeline.segments, &judged_.causes.host}) {
      for (const HostSegment& segment : *segments) {
        if (std::find(causes.begin(), causes.end(), segment.cause) != causes.end())
          host.push_back(segment.time);
      }
    }
    host = Merge(std::move(host));
    auto next = host.begin();
    TimeNs longest_ns = 0;
    EvidencePlace place = TypicalStep();
    ForEachGap([&](Interval gap) {
      while (next != host.end() && next->end <= gap.start) ++next;
      for (auto at = next; at != host.end() && at->start < gap.end; ++at) {
        const TimeNs inside = std::min(at->end, gap.end) - std::max(at->start, gap.start);
        if (inside <= longest_ns) continue;
        longest_ns = inside;
        place = {gap, kNone};
      }
    });
    return place;
  }

  // The GPU's longest idle time in a typical step.
  EvidencePlace TypicalGap() const {
    const EvidencePlace step = TypicalStep();
    Longest longest;
    ForEachGap([&](Interval gap) {
      longest.Add({std::max(gap.start, step.time.start), std::min(gap.end, step.time.end)});
    });
    return longest.place().value_or(step);
  }

  EvidencePlace ExposedCommunication() const {
    Longest longest;
    Interval alone{span_.start, span_.start};  // the last time of communication without computing
    TimeNs now = span_.start, communicates_until = now, computes_until = now;
    // Operations come by start, so that two ends are all there is to know at a time.
    const auto advance_to = [&](TimeNs time) {
      const TimeNs from = std::max(now, computes_until), to = std::min(time, communicates_until);
      if (to > from && from != alone.end) {
        longest.Add(alone);
        alone.start = from;
      }
      if (to > from) alone.end = to;
      now = time;
    };
    for (std::size_t row = 0; row < ops_.size() && ops_.start[row] < span_.end; ++row) {
      if (ops_.kind[row] != OpKind::kKernel || ops_.end[row] <= span_.start) continue;
      advance_to(std::max(ops_.start[row], span_.start));
      TimeNs& until =
          ops_.kernel_class[row] == KernelClass::kComm ? communicates_until : computes_until;
      until = std::max(until, ops_.end[row]);
    }
    advance_to(span_.end);
    longest.Add(alone);
    return longest.place().value_or(TypicalStep());
  }

  // What would be saved by another label than the decided one.
  EvidencePlace PlaceOf(const CauseSaving& cause) const {
    const std::string_view label = cause.label;
    // A late rank shows it in its steps, other findings between ranks while they communicate.
    if (cause.finding != nullptr)
      return cause.place.empty() ? ExposedCommunication() : TypicalStep();
    if (label == "dataloader") return GapOf({IdleCause::kDataWait});
    if (label == "h2d_copy") {
      return UploadsFrom(kPageable).copies.longest.value_or(
          UploadsFrom(kPinned).copies.longest.value_or(TypicalStep()));
    }
    if (label == "sync_bound") return GapOf({IdleCause::kSync, IdleCause::kDrainedBySync});
    if (label == "allocator") return GapOf({IdleCause::kAllocator});
    if (label == "checkpoint") return GapOf({IdleCause::kCheckpoint});
    if (label == "gc_pause") return GapOf({IdleCause::kGc});
    if (label == "comm_exposed") return ExposedCommunication();
    if (label == kHostWaitLabel) return GapOf({IdleCause::kHostWait});
    if (label == kHostCodeLabel) return GapOf({IdleCause::kPython, IdleCause::kHostWait});
    return TypicalGap();
  }

  bool Inside(TimeNs time) const { return Contains(used_, time); }
  std::string PerStep(double total_ns) const { return Rounded(total_ns / count_) + " per step"; }
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
        tally.Add({spans.start[row], spans.end[row]}, spans.thread[row]);
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
        calls[name.name].Add({api.start[row], api.end[row]}, thread);
    }
    return calls;
  }

  // "cudaMalloc 12.0 a step (3.1 ms), cudaFree 2.0 a step (1 ms)": the two that took longest.
  // Without any: no line.
  void SayCalls(const std::string& title, const std::map<std::string_view, Tally>& calls) {
    if (calls.empty()) return;
    std::vector<std::pair<std::string_view, Tally>> list(calls.begin(), calls.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return a.second.total_ns > b.second.total_ns;
    });
    std::string text = title;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, list.size()); ++i) {
      const Tally& tally = list[i].second;
      text += fmt::format("{}{} {:.1f} times per step, {}", i > 0 ? "; " : "", list[i].first,
                          static_cast<double>(tally.count) / count_,
                          Rounded(static_cast<double>(tally.total_ns) / count_));
    }
    Say(text, list.front().second.longest);
  }

  void WhoIsLate(const CauseSaving& cause) {
    Say(cause.finding->text(), PlaceOf(cause));
    for (const proto::WorkDifference& difference : cause.finding->differences())
      Say(difference.text());
  }

  // The finding's own evidence, which begins with what is different.
  void Details(const proto::RankFinding& finding) {
    constexpr int kMaxDetails = 2;
    const int first = finding.differences_size();
    for (int i = first; i < std::min(first + kMaxDetails, finding.evidence_size()); ++i)
      Say(finding.evidence(i));
  }

  void DataLoading() {
    const DataWaits& waits = rank_.data_waits;
    Tally tally;
    for (std::size_t row = 0; row < waits.size(); ++row) {
      if (Inside(waits.start[row]) && waits.end[row] != kOpen)
        tally.Add({waits.start[row], waits.end[row]}, waits.thread[row]);
    }
    const double idle = IdleOf({IdleCause::kDataWait});
    if (tally.count > 0)
      Say(fmt::format(
              "the program waited {} for its data loader ({:.1f} waits per step, longest {})",
              PerStep(static_cast<double>(tally.total_ns)),
              static_cast<double>(tally.count) / count_, FormatTime(tally.longest_ns)),
          tally.longest);
    Say(fmt::format("the GPU idled {} while data was loaded, {} of the time", PerStep(idle),
                    Percent(Share(idle))),
        GapOf({IdleCause::kDataWait}));
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
      Say(text);
    }
  }

  struct Uploaded {
    Tally copies, calls;
  };
  Uploaded UploadsFrom(std::uint8_t memory) const {
    Uploaded uploaded;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.kind[row] != OpKind::kMemcpy || !Inside(ops_.start[row])) continue;
      const Transfer& transfer = rank_.transfers[ops_.detail[row]];
      if (transfer.kind != kHostToDevice || transfer.src_kind != memory) continue;
      uploaded.copies.Add({ops_.start[row], ops_.end[row]}, kNone);
      uploaded.copies.bytes += transfer.bytes;
      const std::uint32_t launch = ops_.launch[row];
      if (launch != kNone && rank_.api.end[launch] != kOpen)
        uploaded.calls.Add({rank_.api.start[launch], rank_.api.end[launch]},
                           rank_.api.thread[launch]);
    }
    return uploaded;
  }

  void SayCopies(const Tally& copies, std::string_view memory) {
    Say(fmt::format(
            "{:.1f} copies per step from {} memory: {} in {}, {}",
            static_cast<double>(copies.count) / count_, memory,
            FormatBytes(static_cast<std::int64_t>(static_cast<double>(copies.bytes) / count_)),
            Rounded(static_cast<double>(copies.total_ns) / count_),
            FormatRate(copies.bytes, std::max<TimeNs>(copies.total_ns, 1))),
        copies.longest);
  }

  void Uploads() {
    const auto [copies, calls] = UploadsFrom(kPageable);
    if (copies.count == 0) {
      const Tally pinned = UploadsFrom(kPinned).copies;
      SayCopies(pinned, "pinned");
      Say("a separate stream can copy the next batch while the GPU computes", pinned.longest);
      return;
    }
    SayCopies(copies, "pageable");
    Say(fmt::format("the host spent {} in these calls; from pinned memory they return immediately",
                    PerStep(static_cast<double>(calls.total_ns))),
        calls.longest);
    const auto link = LinkToAssume(*judged_.device, judged_.host_link);
    Say(fmt::format("assumed rate from pinned memory: {:.1f} GB/s ({})", PinnedRate(judged_),
                    link ? fmt::format("80 % of {}", link->name) : "the link is unknown"));
  }

  void Waits() {
    const double idle = IdleOf({IdleCause::kSync, IdleCause::kDrainedBySync});
    SayCalls("calls that wait for the GPU: ", CallsOf({ApiClass::kSynchronize}));
    Tally downloads;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.kind[row] != OpKind::kMemcpy || !Inside(ops_.start[row]) ||
          rank_.transfers[ops_.detail[row]].kind != 2)
        continue;
      downloads.bytes += rank_.transfers[ops_.detail[row]].bytes;
      downloads.Add({ops_.start[row], ops_.end[row]}, kNone);
    }
    if (downloads.count > 0)
      Say(fmt::format("{:.1f} copies to the host per step, {:.0f} bytes each on average: values "
                      "read by the program",
                      static_cast<double>(downloads.count) / count_,
                      static_cast<double>(downloads.bytes) / static_cast<double>(downloads.count)),
          downloads.longest);
    Say(fmt::format(
            "the GPU's queue drained in such calls and the GPU idled {} until the next launch",
            PerStep(idle)),
        GapOf({IdleCause::kSync, IdleCause::kDrainedBySync}));
  }

  void HostCode() {
    Say(fmt::format("the GPU waited {} for host code between launch calls, and {} for the calls",
                    PerStep(IdleOf({IdleCause::kPython, IdleCause::kHostWait})),
                    PerStep(IdleOf({IdleCause::kLaunch}))),
        GapOf({IdleCause::kPython, IdleCause::kHostWait}));
  }

  // Of stretches without calls.
  void Computing() {
    const double load = LoadOfFeeders(rank_, judged_.timeline, span_).value_or(0);
    const double between = IdleOf({IdleCause::kPython});
    if (load < kComputingLoad || between < IdleOf({IdleCause::kLaunch})) return;
    Say(fmt::format("between launch calls their threads run host code: over the steps they used "
                    "{:.2f} CPUs",
                    load),
        GapOf({IdleCause::kPython}));
  }

  void Allocations() {
    SayCalls("memory calls: ", CallsOf({ApiClass::kAllocate}));
    const double idle = IdleOf({IdleCause::kAllocator});
    Say(fmt::format("the GPU idled {} because of them, {} of the time", PerStep(idle),
                    Percent(Share(idle))),
        GapOf({IdleCause::kAllocator}));
  }

  void Checkpoints() {
    const Tally tally = Spans(HostSpanKind::kCheckpoint);
    Say(fmt::format("{} checkpoints in {:.0f} steps, {} each, longest {}", tally.count, count_,

                    Rounded(static_cast<double>(tally.total_ns) /
                            std::max<double>(1, static_cast<double>(tally.count))),
                    FormatTime(tally.longest_ns)),
        tally.longest);
    const double idle = IdleOf({IdleCause::kCheckpoint});
    Say(fmt::format("averaged over all steps, the GPU idled {} during them", PerStep(idle)),
        GapOf({IdleCause::kCheckpoint}));
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
    Say(fmt::format("{} garbage collections in {:.0f} steps ({} of the oldest generation), {} in "
                    "total, longest {}",
                    tally.count, count_, generations[2], FormatTime(tally.total_ns),
                    FormatTime(tally.longest_ns)),
        tally.longest);
    const double idle = IdleOf({IdleCause::kGc});
    Say(fmt::format("averaged over all steps, the GPU idled {} during them", PerStep(idle)),
        GapOf({IdleCause::kGc}));
  }

  void Launches() {
    std::vector<TimeNs> lengths;
    std::vector<std::pair<TimeNs, std::uint32_t>> slack;  // with the row of the operation
    for (std::uint32_t row = 0; row < ops_.size(); ++row) {
      if (!Inside(ops_.start[row])) continue;
      if (ops_.kind[row] == OpKind::kKernel) lengths.push_back(ops_.end[row] - ops_.start[row]);
      if (ops_.launch[row] != kNone)
        slack.emplace_back(ops_.start[row] - rank_.api.start[ops_.launch[row]], row);
    }
    const auto median = [](auto& values) {
      if (values.empty()) return typename std::decay_t<decltype(values)>::value_type{};
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), middle, values.end());
      return *middle;
    };
    Tally calls;
    for (const auto& [name, tally] : CallsOf({ApiClass::kLaunch, ApiClass::kGraphLaunch})) {
      calls.count += tally.count;
      calls.total_ns += tally.total_ns;
    }
    Say(fmt::format("{:.0f} kernels per step, median {}; {} in launch calls",
                    static_cast<double>(lengths.size()) / count_, FormatTime(median(lengths)),
                    PerStep(static_cast<double>(calls.total_ns))),
        TypicalStep());
    const auto [ahead_ns, operation] = median(slack);
    std::optional<EvidencePlace> launched;
    if (!slack.empty())
      launched = {{ops_.start[operation] - std::max<TimeNs>(ahead_ns, 0), ops_.end[operation]},
                  kNone};
    Say(fmt::format("the median operation starts {} after its launch: {}", FormatTime(ahead_ns),
                    ahead_ns < 50'000 ? "the host is barely ahead"
                                      : "the host is ahead only part of the time"),
        launched);
    Say(fmt::format("the GPU waited {} for launch calls and {} for host code between them",
                    PerStep(IdleOf({IdleCause::kLaunch})), PerStep(IdleOf({IdleCause::kPython}))),
        TypicalGap());
  }

  void Communication() {
    const Partition& p = sum_.partition;
    const double exposed = static_cast<double>(p.exposed_communication_ns);
    Say(fmt::format("communication ran alone for {}, {} of the time", PerStep(exposed),
                    Percent(Share(exposed))),
        ExposedCommunication());
    Say(fmt::format("of {} of communication, {} overlapped with compute",
                    PerStep(static_cast<double>(p.communication_ns)),
                    Percent(p.overlap_share().value_or(0))),
        TypicalStep());
  }

  void Kernels(const KernelSaving& saving) {
    Tally now;
    TimeNs instead_ns = 0;
    for (const OpLength& length : saving.lengths) {
      if (!Inside(ops_.start[length.row])) continue;
      now.Add({ops_.start[length.row], ops_.end[length.row]}, kNone);
      instead_ns += length.length_ns;
    }
    Say(fmt::format("{}: {:.1f} per step, {}; {} {}", saving.what,
                    static_cast<double>(now.count) / count_,
                    Rounded(static_cast<double>(now.total_ns) / count_), saving.instead,
                    Rounded(static_cast<double>(instead_ns) / count_)),
        now.longest);
    for (const std::string& fact : saving.facts) Say(fact);
  }

  // What the device takes beside its kernels, where that is much.
  void OwnPauses(const WorkingShares& shares) {
    if (shares.own_copies >= kFloorShare)
      Say(
          fmt::format("device-to-device copies and memsets ran alone for {} of the time: fused or "
                      "in-place operations avoid them",
                      Percent(shares.own_copies)));
    if (shares.pauses >= kFloorShare)
      Say(
          fmt::format("the GPU paused for {} of the time between queued operations: fewer, larger "
                      "kernels reduce this (torch.compile, CUDA graphs)",
                      Percent(shares.pauses)));
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
    Say(text, TypicalStep());
  }

  void StepsLine() {
    const Steps& steps = judged_.steps;
    if (steps.source == StepSource::kWindow) {
      Say(fmt::format("no steps known: the window of {} is analyzed as a whole",
                      FormatTime(steps.median_ns)),
          TypicalStep());
      return;
    }
    std::string text = fmt::format("{} step{} from {}{}", steps.steps.size(),
                                   steps.steps.size() == 1 ? "" : "s", StepSourceName(steps.source),
                                   steps.pattern.empty() ? "" : " '" + steps.pattern + "'");
    for (const StepKind kind : kStepKinds) {
      const auto count = std::count(judged_.kinds.begin(), judged_.kinds.end(), kind);
      if (kind != StepKind::kRegular && count > 0)
        text += fmt::format("; {} {}", count, StepKindName(kind));
    }
    text += fmt::format("; mean step {} over {}", FormatTime(steps.judged_mean_ns().value_or(0)),
                        JudgedText(steps));
    Say(text, TypicalStep());
  }

  void Next(const Decision& decision) {
    if (decision.runner_up == nullptr || lines_.size() >= 5) return;
    const CauseSaving& next = *decision.runner_up;
    if (next.saved_ns < kShownShare * savings_.step_ns) return;
    Say(fmt::format("next: {} would save {} ({})", TitleOn(next.label, next.place),
                    PerStep(next.saved_ns * count_), Percent(next.saved_ns / savings_.step_ns)),
        PlaceOf(next));
  }

  const DeviceAnalysis& judged_;
  const Rank& rank_;
  const GpuOps& ops_;
  const Savings& savings_;
  const Interval span_;
  // The steps over which the figures of the decided cause are means: when, how many, their sum.
  Intervals used_;
  double count_ = 0;
  StepSplit sum_;
  std::vector<EvidenceLine> lines_;
};

}  // namespace

std::vector<EvidenceLine> EvidenceFor(const DeviceAnalysis& judged, const Savings& savings,
                                      const Decision& decision) {
  return Witness(judged, savings).For(decision);
}

}  // namespace traceinject
