// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/gate_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/compare/text_comparison.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxParts = 2;
constexpr int kMaxSettings = 3;
constexpr std::size_t kNameWidth = 60;
constexpr double kMuch = 0.1;

std::string SlowerParts(const Comparison& comparison) {
  std::vector<const proto::StepPart*> parts;
  for (const proto::StepPart& part : comparison.parts()) {
    if (part.change().certain() && part.change().change_ns() > 0) parts.push_back(&part);
  }
  std::sort(parts.begin(), parts.end(), [](const proto::StepPart* a, const proto::StepPart* b) {
    return a->change().change_ns() > b->change().change_ns();
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), kMaxParts); ++i)
    text += fmt::format("{}{} {} per step", i > 0 ? ", " : "", parts[i]->name(),
                        SignedTime(parts[i]->change().change_ns()));
  return text;
}

// The kernel that got slower most, if that is a good part of the change.
std::string SlowestKernel(const Comparison& comparison) {
  const double least = kMuch * static_cast<double>(comparison.step_ns().change_ns());
  for (const proto::KernelChange& kernel : comparison.kernels().rows()) {
    const std::int64_t change_ns = kernel.step_ns().change_ns();
    if (!kernel.has_adjusted_p() || change_ns <= 0 || static_cast<double>(change_ns) < least)
      continue;
    return fmt::format("; kernel with the largest change: {} ({}, {} per step)",
                       ShortKernelNames({kernel.name()}, kNameWidth).front(), kernel.state(),
                       SignedTime(change_ns));
  }
  return "";
}

std::string OtherSettings(const Comparison& comparison) {
  std::string text;
  for (int i = 0; i < std::min(comparison.settings_size(), kMaxSettings); ++i) {
    const proto::SettingChange& setting = comparison.settings(i);
    const auto value = [](const std::string& word) { return word.empty() ? "none" : word; };
    text += fmt::format("{} {} {} -> {}", i > 0 ? "," : "; other differences:", setting.name(),
                        value(setting.before()), value(setting.after()));
  }
  if (comparison.settings_size() > kMaxSettings)
    text += fmt::format(", and {} more", comparison.settings_size() - kMaxSettings);
  return text;
}

std::string LimitSentence(const Report& report) {
  const proto::Verdict& verdict = report.verdict();
  if (!verdict.abstained().empty()) return "the verdict is " + TitleOn(verdict);
  std::string text = fmt::format("the verdict is {}", TitleOn(verdict));
  if (verdict.has_saved_ns())
    text += fmt::format(", which costs {} per step", FormatTime(verdict.saved_ns()));
  if (verdict.levers_size() > 0) text += "; try " + SettingText(verdict.levers(0));
  return text;
}

// Empty: nothing got slower for certain.
std::string ChangeSentence(const Comparison& comparison) {
  const std::string parts = SlowerParts(comparison);
  if (parts.empty()) return "";
  return fmt::format("slower than the baseline: {}{}{}; ", parts, SlowestKernel(comparison),
                     OtherSettings(comparison));
}

}  // namespace

std::string CauseSentence(const Report& report, const Comparison& comparison) {
  return ChangeSentence(comparison) + LimitSentence(report);
}

}  // namespace traceinject
