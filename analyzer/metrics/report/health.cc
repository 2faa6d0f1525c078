// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/health.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/metrics/idle/process_label.h"

namespace traceinject {
namespace {

constexpr double kLossyJoin = 0.999, kBadJoin = 0.99, kBadLoss = 0.01;

const HealthCounterInfo* FindCounter(const HealthCounter& counter) {
  for (const HealthCounterInfo& info : kHealthCounters) {
    if (info.source == counter.source && info.counter == counter.counter) return &info;
  }
  return nullptr;
}

HealthLine LineOf(const HealthCounter& counter, std::size_t rank) {
  HealthLine line;
  line.rank = rank;
  line.name = counter.source + "." + counter.counter;
  line.value = counter.value;
  line.detail = counter.detail;
  if (const HealthCounterInfo* info = FindCounter(counter)) {
    line.text = info->description;
    // A loss that did not happen is no loss.
    line.severity = counter.value == 0 ? HealthSeverity::kInfo : info->severity;
  } else {
    line.text = "unknown to this version of analyze";
    line.severity = HealthSeverity::kNotice;
  }
  return line;
}

std::string RankLabel(const Run& run, std::size_t index) {
  const Rank& rank = run.ranks[index];
  return rank.rank ? ProcessLabel(run, rank) : rank.path;
}

// Grades only get worse.
class JudgeOfHealth {
 public:
  explicit JudgeOfHealth(RecordingHealth& health) : health_(health) {}

  void Find(HealthGrade grade, std::string reason) {
    health_.grade = std::max(health_.grade, grade);
    // Worst first: a new worst reason goes to the front.
    if (grade == HealthGrade::kBad) {
      health_.reasons.insert(health_.reasons.begin() + bad_++, std::move(reason));
    } else {
      health_.reasons.push_back(std::move(reason));
    }
  }

 private:
  RecordingHealth& health_;
  std::ptrdiff_t bad_ = 0;
};

void CountRecords(const HealthCounter& counter, RecordingHealth& health, std::int64_t& unseen) {
  if (counter.counter == "seen") health.records_seen += counter.value;
  if (counter.counter != "dropped") return;
  health.records_lost += counter.value;
  // What CUPTI itself dropped never reached us, so it is not among those seen.
  if (counter.source == "cupti") unseen += counter.value;
}

void JudgeLines(const Run& run, RecordingHealth& health, JudgeOfHealth& judge) {
  for (const HealthLine& line : health.lines) {
    if (line.severity < HealthSeverity::kDataLoss) continue;
    const std::string detail = line.detail.empty() ? "" : fmt::format(" ({})", line.detail);
    judge.Find(line.severity == HealthSeverity::kError ? HealthGrade::kBad : HealthGrade::kLossy,
               fmt::format("{}: {} = {}: {}{}", RankLabel(run, line.rank), line.name, line.value,
                           line.text, detail));
  }
}

void JudgeEnds(const Run& run, JudgeOfHealth& judge) {
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const Rank& rank = run.ranks[i];
    if (!rank.closed) {
      judge.Find(
          HealthGrade::kLossy,
          fmt::format(
              "{}: the process was killed or is still running: the last two seconds may be missing",
              RankLabel(run, i)));
    }
    for (const CaptureGap& gap : rank.gaps) {
      if (gap.planned() || gap.stalled()) continue;
      judge.Find(HealthGrade::kLossy, fmt::format("{}: part of the run was not recorded ({})",
                                                  RankLabel(run, i), gap.reason));
    }
  }
}

// Such a trace carries no counters, which is no fault of the recording.
void NoteImports(const Run& run, JudgeOfHealth& judge) {
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    if (run.ranks[i].imported_from.empty()) continue;
    judge.Find(HealthGrade::kUnknown,
               fmt::format("{}: imported from {}: lost records, NCCL calls and the profiler's "
                           "overhead on the host are not known",
                           RankLabel(run, i), run.ranks[i].imported_from));
  }
}

void JudgeJoin(const JoinRate& join, JudgeOfHealth& judge) {
  const std::optional<double> share = join.share();
  if (!share || *share >= kLossyJoin) return;
  judge.Find(*share < kBadJoin ? HealthGrade::kBad : HealthGrade::kLossy,
             fmt::format("only {:.3f} % of the GPU operations could be linked to their launch call",
                         100 * *share));
}

void JudgeContradictions(const TrustJudgement& trust, JudgeOfHealth& judge) {
  if (trust.findings.empty()) return;
  judge.Find(trust.withheld.empty() ? HealthGrade::kLossy : HealthGrade::kBad,
             trust.withheld.empty() ? "records are missing or contradict each other: see Trust"
                                    : "records are missing or contradict each other, so some "
                                      "figures are withheld: see Trust");
}

}  // namespace

RecordingHealth JudgeHealth(const Run& run, const JoinRate& join, const TrustJudgement& trust) {
  RecordingHealth health;
  std::int64_t unseen = 0;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    for (const HealthCounter& counter : run.ranks[i].health) {
      health.lines.push_back(LineOf(counter, i));
      CountRecords(counter, health, unseen);
    }
  }
  std::stable_sort(health.lines.begin(), health.lines.end(),
                   [](const HealthLine& a, const HealthLine& b) {
                     if (a.severity != b.severity) return a.severity > b.severity;
                     return a.rank != b.rank ? a.rank < b.rank : a.name < b.name;
                   });

  if (!health.lines.empty()) health.grade = HealthGrade::kGood;
  JudgeOfHealth judge(health);
  const std::int64_t all = health.records_seen + unseen;
  if (all > 0)
    health.lost_share = static_cast<double>(health.records_lost) / static_cast<double>(all);
  if (health.lost_share.value_or(0) >= kBadLoss) {
    judge.Find(HealthGrade::kBad,
               fmt::format("{:.2f} % of the records were lost", 100 * *health.lost_share));
  }
  JudgeLines(run, health, judge);
  JudgeEnds(run, judge);
  JudgeJoin(join, judge);
  JudgeContradictions(trust, judge);
  NoteImports(run, judge);
  return health;
}

std::string_view HealthGradeName(HealthGrade grade) {
  switch (grade) {
    case HealthGrade::kGood:
      return "good";
    case HealthGrade::kLossy:
      return "lossy";
    case HealthGrade::kBad:
      return "bad";
    case HealthGrade::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace traceinject
