// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/common/units.h"
#include "analyzer/verdict/targets.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

constexpr double kMinJoined = 0.9;
constexpr double kMaxAcausal = 0.01;
constexpr double kMaxLost = 0.01;
// The share of the step that the model takes from the recording without explaining it.
constexpr double kMaxResidual = 0.1, kResidualConfidence = 0.5;
constexpr double kThinMargin = 0.02;
constexpr double kThinConfidence = 0.5, kWindowConfidence = 0.4, kOneRankConfidence = 0.6;
constexpr double kLossyConfidence = 0.8, kSureOfSteps = 0.8;
// What recording adds to a step is an estimate; of more than this share it is a doubt.
constexpr double kHeavyRecording = 0.15;
constexpr double kUnalignedConfidence = 0.8, kBubbleConfidence = 0.6;
// Without steps nothing says how the figures vary, so only a clear case gets a label.
constexpr double kWindowShare = 0.25, kWindowLead = 1.5;

// Why the recording cannot carry a verdict; empty if it can.
std::string Unfit(const Savings& savings, const Grounds& grounds) {
  if (savings.step_ns <= 0) return "No GPU activity in any step.";
  if (grounds.health_error)
    return "The recorder reported an error (see trace health): fix it and record again.";
  if (grounds.lost_share && *grounds.lost_share >= kMaxLost)
    return fmt::format(
        "{} of the records were lost, so time shown as idle may not have been idle: record a "
        "shorter part, or see trace health for what overflowed.",
        Percent(*grounds.lost_share));
  if (!grounds.distrust.empty())
    return fmt::format("The records contradict each other: {} (see Trust). Record again.",
                       grounds.distrust);
  if (grounds.joined_share < kMinJoined)
    return fmt::format(
        "Only {} of the GPU operations could be linked to their launch call, so the causes of gaps "
        "are unknown: record CUDA calls too (kind api, without TRACEINJECT_DETACH).",
        Percent(grounds.joined_share));
  if (grounds.acausal_share > kMaxAcausal)
    return fmt::format(
        "{} of the GPU operations start before their recorded launch call: the recording's "
        "correlation ids or clocks are wrong.",
        Percent(grounds.acausal_share));
  if (savings.replay_error > kReplayErrorLimit)
    return fmt::format(
        "Replaying the unchanged recording misses its length by {}: the model does not fit this "
        "program, so its predictions would be wrong too.",
        Percent(savings.replay_error));
  return "";
}

// Whether there is one window, or so few steps that nothing says how they vary.
bool IsOneWindow(const Grounds& grounds) {
  return grounds.source == StepSource::kWindow || grounds.marked > 0;
}

// What the figures were made of then.
std::string OfWindow(const Grounds& grounds) {
  if (grounds.marked == 0) return "Fewer than three steps were found";
  return fmt::format("Only {} recorded",
                     grounds.marked == 1 ? "one marked step was" : "two marked steps were");
}

bool AboveFloor(const CauseSaving& saving, double step_ns) {
  return saving.low_ns >= FloorOf(step_ns);
}

// How often this cause saves most.
double Stability(const CauseSaving& best, const Savings& savings) {
  std::size_t first = 0, samples = best.resampled.size();
  for (std::size_t i = 0; i < samples; ++i) {
    first += std::all_of(savings.causes.begin(), savings.causes.end(), [&](const CauseSaving& c) {
      return &c == &best || i >= c.resampled.size() || c.resampled[i] <= best.resampled[i];
    });
  }
  return samples == 0 ? 0 : static_cast<double>(first) / static_cast<double>(samples);
}

// How likely the first saves more than the second, which is estimated to save more but less surely:
// by their intervals, which know of more than how steps scatter.
double ChanceOfMore(const CauseSaving& first, const CauseSaving& second) {
  constexpr double kSigmas = 1.96;  // to the end of a 95 % interval
  const double sigma =
      std::hypot(first.high_ns - first.saved_ns, second.saved_ns - second.low_ns) / kSigmas;
  if (sigma <= 0) return 0;
  return std::erfc((second.saved_ns - first.saved_ns) / (sigma * std::sqrt(2))) / 2;
}

void Abstain(Decision& decision, std::string reason) {
  decision.label = "inconclusive";
  decision.cause = nullptr;
  decision.abstained = std::move(reason);
}

std::string HostWaits(const CauseSaving& waits, const Grounds& grounds) {
  if (grounds.named_wait)
    return fmt::format(
        "The GPU waits {} per step for the host, which launches nothing meanwhile: {} of that time "
        "is in '{}', and nothing recorded shows what it does there.",
        Rounded(waits.saved_ns), Percent(grounds.named_wait->share), grounds.named_wait->name);
  return fmt::format(
      "The GPU waits {} per step for the host in stretches with nothing recorded. Add NVTX ranges "
      "around your loader (named 'dataloader') and whatever else runs between steps, and record "
      "again.",
      Rounded(waits.saved_ns));
}

std::string UnknownLaunches(const Grounds& grounds) {
  return fmt::format(
      "The GPU idles {} per step before operations that were launched before the trace began, and "
      "nothing recorded shows why. Record longer, or begin while the GPU has nothing to do "
      "(torch.cuda.synchronize()).",
      Rounded(grounds.unknown_ns));
}

void NothingToSave(Decision& decision, const Savings& savings, const Grounds& grounds) {
  if (grounds.rank_wait_ns >= FloorOf(savings.step_ns)) {
    Abstain(decision, fmt::format("The GPU waits {} per step for other ranks, and no finding "
                                  "between ranks saves as much. See analyze ranks.",
                                  Rounded(grounds.rank_wait_ns)));
    return;
  }
  if (grounds.working.sum() > kBusyTarget) {
    decision.label = "compute_bound";
    decision.confidence = 1;
    return;
  }
  if (grounds.unknown_ns >= FloorOf(savings.step_ns)) {
    Abstain(decision, UnknownLaunches(grounds));
    return;
  }
  const CauseSaving& largest = savings.causes.front();
  decision.nothing_stands_out = true;
  Abstain(decision,
          fmt::format("For {} of a step the GPU does not compute, but no single cause reliably "
                      "saves {}; the largest is {} with {}{}. Record more steps.",
                      Percent(1 - grounds.working.sum()), Rounded(FloorOf(savings.step_ns)),
                      TitleOn(largest.label, largest.place), Rounded(largest.saved_ns),
                      IsOneWindow(grounds) ? std::string()
                                           : fmt::format(" ({} to {})", Rounded(largest.low_ns),
                                                         Rounded(largest.high_ns))));
}

// Of a cause between ranks.
void CapOfRanks(Decision& decision, const Grounds& grounds) {
  double& confidence = decision.confidence;
  confidence *= std::max(0.0, 1 - grounds.job_replay_error / kReplayErrorLimit);
  if (grounds.unaligned_clocks > 0) {
    confidence *= kUnalignedConfidence;
    decision.caveats.push_back(
        fmt::format("{} of {} clocks could not be aligned: who waited for whom is inferred from "
                    "kernel durations alone.",
                    grounds.unaligned_clocks, grounds.clocks));
  }
  if (decision.label == "pipeline_bubble") {
    confidence = std::min(confidence, kBubbleConfidence);
    decision.caveats.emplace_back(
        "The saving from more micro-batches is derived from the schedule, not from a replay: "
        "smaller ones may use the GPU less efficiently.");
  }
}

void CapOfReplay(Decision& decision, const Savings& savings) {
  const double error = std::max(savings.replay_error, savings.check ? savings.check->error : 0);
  decision.confidence *= std::max(0.0, 1 - error / kReplayErrorLimit);
  if (decision.cause == nullptr || !savings.check || savings.check->residual_share <= kMaxResidual)
    return;
  decision.confidence = std::min(decision.confidence, kResidualConfidence);
  decision.caveats.push_back(
      fmt::format("{} of the step is gaps between operations that nothing recorded explains.",
                  Percent(savings.check->residual_share)));
}

void CapConfidence(Decision& decision, const Savings& savings, const Grounds& grounds) {
  double& confidence = decision.confidence;
  if (decision.cause != nullptr && decision.cause->finding != nullptr)
    CapOfRanks(decision, grounds);
  else
    CapOfReplay(decision, savings);
  if (grounds.lossy) confidence *= kLossyConfidence;
  if (const double share = savings.recording_ns / savings.step_ns;
      share > kHeavyRecording && !savings.recording_measured) {
    confidence *= std::max(0.0, 1 - share);
    decision.caveats.push_back(
        fmt::format("Recording overhead is about {} of the step and is subtracted using an "
                    "estimate: record with TRACEINJECT_AB=steps to measure it.",
                    Percent(share)));
  }
  if (decision.cause != nullptr && decision.runner_up != nullptr && decision.margin < kThinMargin) {
    confidence = std::min(confidence, kThinConfidence);
    decision.caveats.push_back(fmt::format(
        "{} {}: the order of the two is uncertain.",
        TitleOn(decision.runner_up->label, decision.runner_up->place),
        decision.margin < 0 ? "may save more, but less surely by the scatter of the steps"
                            : "would save nearly as much"));
  }
  if (decision.label == "comm_exposed" && grounds.one_rank) {
    confidence = std::min(confidence, kOneRankConfidence);
    decision.caveats.emplace_back(
        "With one rank recorded, waiting for other ranks cannot be separated from data transfer: "
        "the cause may be a slow rank elsewhere. Record all ranks.");
  }
  if (grounds.source == StepSource::kStructure) {
    confidence = std::min(confidence, grounds.step_confidence);
    if (grounds.step_confidence < kSureOfSteps)
      decision.caveats.push_back(
          fmt::format("The program marks no steps: steps inferred from repeating work (confidence "
                      "{}). Mark them with NVTX ranges named 'step <n>'.",
                      Percent(grounds.step_confidence)));
  }
  if (IsOneWindow(grounds)) {
    confidence = std::min(confidence, kWindowConfidence);
    decision.caveats.push_back(
        grounds.marked > 0
            ? OfWindow(grounds) + ": nothing shows how steps vary. Record three or more."
        : grounds.in_windows
            ? "Fewer than three complete steps were found in the selected part of "
              "the run: it is analyzed as a whole. Select a longer part, or record "
              "three or more steps at a time (TRACEINJECT_WINDOW=every:100:3)."
            : "Fewer than three steps were found: the window is analyzed as a "
              "whole. Mark steps with NVTX ranges named 'step <n>'.");
  }
}

// What lies between regular steps, if it is known what it is, instead of no label.
void TakeBetween(const Savings& savings, const Grounds& grounds, Decision& decision) {
  if (savings.between.empty()) return;
  const CauseSaving& between = savings.between.front().saving;
  if (TitleOf(between.label) == between.label || between.low_ns < FloorOf(between.step_ns)) return;
  decision.cause = &between;
  decision.label = between.label;
  decision.abstained.clear();
  decision.nothing_stands_out = decision.unexplained = false;
  const double second = decision.runner_up == nullptr ? 0 : decision.runner_up->saved_ns;
  decision.margin = (between.saved_ns - second) / between.step_ns;
  decision.confidence = Stability(between, savings);
  CapConfidence(decision, savings, grounds);
}

Decision DecideOnSteps(const Savings& savings, const Grounds& grounds) {
  Decision decision;
  decision.working = grounds.working;
  if (std::string reason = Unfit(savings, grounds); !reason.empty()) {
    Abstain(decision, std::move(reason));
    return decision;
  }
  const CauseSaving* best = nullptr;
  for (const CauseSaving& saving : savings.causes) {
    if (AboveFloor(saving, savings.step_ns) && (best == nullptr || saving.low_ns > best->low_ns))
      best = &saving;
  }
  for (const CauseSaving& saving : savings.causes) {
    if (&saving != best && saving.saved_ns > 0 && decision.runner_up == nullptr)
      decision.runner_up = &saving;
  }
  if (best == nullptr) {
    NothingToSave(decision, savings, grounds);
    CapConfidence(decision, savings, grounds);
    return decision;
  }
  const double second = decision.runner_up == nullptr ? 0 : decision.runner_up->saved_ns;
  decision.margin = (best->saved_ns - second) / savings.step_ns;
  if (grounds.unknown_ns > best->saved_ns && grounds.unknown_ns >= FloorOf(savings.step_ns)) {
    Abstain(decision, UnknownLaunches(grounds));
    return decision;
  }
  if (best->label == kHostWaitLabel) {
    decision.unexplained = true;
    Abstain(decision, HostWaits(*best, grounds));
    return decision;
  }
  if (IsOneWindow(grounds) &&
      (best->saved_ns < kWindowShare * savings.step_ns || best->saved_ns < kWindowLead * second)) {
    Abstain(decision,
            fmt::format("{}, and over {} no cause stands out: {} {}, {} {}. {}", OfWindow(grounds),
                        grounds.marked > 0 ? "so little time" : "the whole window", best->label,
                        Rounded(best->saved_ns),
                        decision.runner_up == nullptr
                            ? "nothing else"
                            : TitleOn(decision.runner_up->label, decision.runner_up->place),
                        Rounded(second),
                        grounds.marked > 0
                            ? "Record three or more steps."
                            : "Mark steps with NVTX ranges named 'step <n>', or record longer."));
    return decision;
  }
  decision.cause = best;
  decision.label = best->label;
  decision.confidence =
      decision.margin < 0 ? ChanceOfMore(*best, *decision.runner_up) : Stability(*best, savings);
  CapConfidence(decision, savings, grounds);
  return decision;
}

}  // namespace

Decision Decide(const Savings& savings, const Grounds& grounds) {
  Decision decision = DecideOnSteps(savings, grounds);
  if (decision.nothing_stands_out || decision.unexplained) TakeBetween(savings, grounds, decision);
  return decision;
}

}  // namespace traceinject
