// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyzer/tries/foretell.h"
#include "analyzer/tries/wishes.h"
#include "injector/options/try_list.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

constexpr std::string_view kSeparators = ",+";  // each of its own, together

TryEffect WorstEffect(const std::string& tried) {
  TryEffect worst = TryEffect::kNothing;
  for (const TryWish& wish : WishesOf(tried)) {
    if (const TryLever* lever = FindTryLever(wish.lever)) worst = std::max(worst, lever->effect);
  }
  return worst;
}

std::string_view EffectText(TryEffect effect) {
  switch (effect) {
    case TryEffect::kNothing:
      return "";
    case TryEffect::kMemory:
      return "memory";
    case TryEffect::kRounding:
      return "rounding";
    case TryEffect::kNumerics:
      return "numbers have fewer bits";
    case TryEffect::kMeaning:
      return "the program may do something else";
  }
  return "";
}

proto::TriedFix FixOf(std::string tried) {
  proto::TriedFix fix;
  fix.set_effect(EffectOf(tried));
  fix.set_permanent(PermanentOf(tried));
  fix.set_tried(std::move(tried));
  return fix;
}

// With what the verdict foretells of it.
void SetForetold(const proto::Verdict& verdict, proto::TriedFix& fix) {
  fix.set_label(verdict.label());
  Foretell({&verdict}, fix);
}

const proto::Lever* LeverOf(const proto::Verdict& verdict, const std::string& tried) {
  for (const proto::Lever& lever : verdict.levers()) {
    if (lever.try_() == tried) return &lever;
  }
  return nullptr;
}

bool IsPlanned(const TryPlan& plan, const std::string& tried) {
  return std::any_of(plan.fixes.begin(), plan.fixes.end(),
                     [&](const proto::TriedFix& fix) { return fix.tried() == tried; });
}

// Empty: it may be tried without being asked for.
std::string WhyNotAsked(const std::string& tried, bool allow_numerics) {
  const TryEffect effect = WorstEffect(tried);
  if (effect == TryEffect::kNumerics && !allow_numerics)
    return fmt::format("{} is not tried: it changes numbers; --allow-numerics, or --fixes {}",
                       tried, tried);
  if (effect == TryEffect::kMeaning)
    return fmt::format("{} is not tried: it may change what the program does; --fixes {}", tried,
                       tried);
  return {};
}

// A lever that both have would be named twice.
bool CanBeJoined(const std::string& a, const std::string& b) {
  std::vector<TryWish> wishes;
  return ParseTryList(a + "," + b, &wishes);
}

TryPlan PlanOfVerdict(const proto::Verdict& verdict, const TryChoice& choice) {
  TryPlan plan;
  for (const proto::Lever& lever : verdict.levers()) {
    if (lever.try_().empty() || IsPlanned(plan, lever.try_())) continue;
    const std::string why_not = WhyNotAsked(lever.try_(), choice.allow_numerics);
    if (!why_not.empty()) {
      plan.notes.push_back(why_not);
      continue;
    }
    if (plan.fixes.size() == choice.most) break;
    plan.fixes.push_back(FixOf(lever.try_()));
    plan.fixes.back().set_setting(lever.setting());
    SetForetold(verdict, plan.fixes.back());
  }
  if (plan.fixes.size() < 2) return plan;
  const std::string first = plan.fixes[0].tried(), second = plan.fixes[1].tried();
  if (!CanBeJoined(first, second)) return plan;
  plan.fixes.push_back(FixOf(first + "," + second));
  SetForetold(verdict, plan.fixes.back());
  return plan;
}

// "a=1,b=2+c=3" as {"a=1", "b=2,c=3"}; empty: it is no such list. What begins with no lever belongs
// to the value before it.
std::vector<std::string> PartsOfList(std::string_view list) {
  std::vector<std::string> parts;
  char separator = ',';
  while (!list.empty()) {
    const std::string_view piece = list.substr(0, list.find_first_of(kSeparators));
    const bool is_lever = !LeverOfPiece(piece).empty();
    if (parts.empty() && !is_lever) return {};
    if (is_lever && separator == ',')
      parts.emplace_back(piece);
    else
      parts.back().append(1, is_lever ? ',' : separator).append(piece);
    list.remove_prefix(piece.size());
    if (list.empty()) break;
    separator = list.front();
    list.remove_prefix(1);
  }
  return parts;
}

Result<TryPlan> PlanOfList(const proto::Verdict& verdict, std::string_view list) {
  TryPlan plan;
  for (std::string& part : PartsOfList(list)) {
    std::vector<TryWish> wishes;
    if (!ParseTryList(part, &wishes))
      return Error{fmt::format("--fixes {}: {} names a lever twice", list, part)};
    plan.fixes.push_back(FixOf(std::move(part)));
  }
  if (plan.fixes.empty())
    return Error{fmt::format(
        "--fixes {}: expected auto, or lever=value,... of those that --levers lists", list)};
  for (proto::TriedFix& fix : plan.fixes) {
    const proto::Lever* const lever = LeverOf(verdict, fix.tried());
    if (lever != nullptr) fix.set_setting(lever->setting());
    if (lever != nullptr || ReachOf(verdict.label(), fix.tried()) == TryReach::kAll)
      SetForetold(verdict, fix);
  }
  return plan;
}

}  // namespace

std::string EffectOf(const std::string& tried) {
  return std::string(EffectText(WorstEffect(tried)));
}

std::string PermanentOf(const std::string& tried) {
  std::string text;
  for (const TryWish& wish : WishesOf(tried)) {
    const TryLever* const lever = FindTryLever(wish.lever);
    std::string one;
    if (lever == nullptr) {
      const std::string name = wish.lever.substr(kTryVariable.size());
      one = wish.value.empty() ? "unset " + name : fmt::format("export {}={}", name, wish.value);
    } else {
      one = fmt::format(fmt::runtime(std::string(lever->permanent)), wish.value);
    }
    if (!one.empty()) text += (text.empty() ? "" : "\n") + one;
  }
  return text;
}

Result<TryPlan> PlanTries(const proto::Report& report, const TryChoice& choice) {
  if (choice.fixes != "auto") return PlanOfList(report.verdict(), choice.fixes);
  return PlanOfVerdict(report.verdict(), choice);
}

}  // namespace traceinject
