// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/judge_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/verdict/decide.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

// Something that the verdict says, and by how much of a step it is so.
struct Statement {
  std::string text;
  double by_ns = 0;
};

// As the steps scatter, at least; without an interval what is expected.
template <typename Message>
double SavedAtLeast(const Message& message) {
  return static_cast<double>(message.has_scatter_low_ns() ? message.scatter_low_ns()
                                                          : message.saved_ns());
}

std::vector<Statement> StatementsOf(const proto::Verdict& verdict) {
  std::vector<Statement> statements;
  const auto step_ns = static_cast<double>(verdict.step_ns());
  const double floor_ns = FloorOf(step_ns);
  if (verdict.has_saved_ns()) {
    statements.push_back({fmt::format("that {} exceeds the reporting threshold", TitleOn(verdict)),
                          SavedAtLeast(verdict) - floor_ns});
    if (verdict.has_runner_up() && verdict.has_margin())
      statements.push_back(
          {fmt::format("that {} comes before {}", TitleOn(verdict), TitleOn(verdict.runner_up())),
           verdict.margin() * step_ns});
  } else if (verdict.label() == "compute_bound" && verdict.savings_size() > 0) {
    const proto::Saving& largest = verdict.savings(0);
    statements.push_back({fmt::format("that {} is below the reporting threshold", TitleOn(largest)),
                          floor_ns - SavedAtLeast(largest)});
  }
  return statements;
}

// Of a verdict that recording may have decided.
constexpr double kDecidedConfidence = 0.5;

// Of those that recording may have decided the largest; null: none.
const Statement* Decided(const std::vector<Statement>& statements, double most_ns) {
  const Statement* largest = nullptr;
  for (const Statement& one : statements) {
    if (one.by_ns <= most_ns && (largest == nullptr || largest->by_ns < one.by_ns)) largest = &one;
  }
  return largest;
}

void Doubt(const Statement& decided, double most_ns, proto::Verdict& verdict) {
  if (verdict.has_confidence())
    verdict.set_confidence(std::min(verdict.confidence(), kDecidedConfidence));
  verdict.add_caveats(
      fmt::format("Recording adds up to {} to a step, and {} rests on {}: overhead may have "
                  "changed the verdict.",
                  FormatTime(static_cast<std::int64_t>(most_ns)), decided.text,
                  FormatTime(static_cast<std::int64_t>(decided.by_ns))));
}

std::string ConclusionOf(const std::vector<Statement>& statements, double most_ns) {
  if (statements.empty()) return {};
  const auto by = [](const Statement& a, const Statement& b) { return a.by_ns < b.by_ns; };
  const Statement* largest = Decided(statements, most_ns);
  const auto time = [](double ns) { return FormatTime(static_cast<std::int64_t>(ns)); };
  if (largest != nullptr)
    return fmt::format(
        "overhead may have changed the verdict: {} rests on {} of a step, and recording adds up to "
        "{}",
        largest->text, time(largest->by_ns), time(most_ns));
  const Statement& nearest = *std::min_element(statements.begin(), statements.end(), by);
  return fmt::format("overhead does not affect the verdict: the closest margin ({}) is {}",
                     nearest.text, time(nearest.by_ns));
}

}  // namespace

void JudgeRecording(Report& report) {
  const std::vector<Statement> statements = StatementsOf(report.verdict());
  for (proto::RecordingCost& cost : *report.mutable_recording_costs()) {
    if (!cost.has_ab()) continue;
    proto::AbSteps& ab = *cost.mutable_ab();
    const std::int64_t most = std::max(std::abs(ab.added_low_ns()), std::abs(ab.added_high_ns()));
    ab.set_conclusion(ConclusionOf(statements, static_cast<double>(most)));
    if (const Statement* decided = Decided(statements, static_cast<double>(most)))
      Doubt(*decided, static_cast<double>(most), *report.mutable_verdict());
  }
}

}  // namespace traceinject
