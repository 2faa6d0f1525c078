// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/trend_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/compare/text_comparison.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

constexpr std::size_t kDayWidth = 10;     // of FormatDate()
constexpr std::size_t kCommitWidth = 12;  // as Git abbreviates in large repositories
constexpr std::size_t kValueWidth = 40;
constexpr int kSettingsOfAChange = 6;

std::string ValueText(const std::string& value) {
  return value.empty() ? "none" : ShortenMiddle(value, kValueWidth);
}

std::string ShortCommit(const std::string& commit) { return commit.substr(0, kCommitWidth); }

}  // namespace

std::string SignedPercent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::string DayOf(std::int64_t unix_ns) { return FormatDate(unix_ns).substr(0, kDayWidth); }

std::string GroupTitle(const proto::TrendGroup& group) {
  return fmt::format("{}, {} on {}", group.program(), Plural(group.ranks(), "rank"),
                     group.gpu().empty() ? "a GPU that is not known" : group.gpu());
}

std::string GroupSentence(const proto::TrendGroup& group) {
  const std::string first = DayOf(group.runs(0).start_unix_ns()),
                    last = DayOf(group.runs().rbegin()->start_unix_ns());
  std::string text = Plural(group.runs_size(), "run");
  text += first == last ? " of " + first : fmt::format(" from {} to {}", first, last);
  if (group.has_scatter_share())
    text += fmt::format("; runs of one level differ by {}", Percent(group.scatter_share()));
  return text;
}

std::string SettingsText(const google::protobuf::RepeatedPtrField<proto::SettingChange>& changes,
                         int most) {
  std::string text;
  for (int i = 0; i < std::min(changes.size(), most); ++i) {
    const proto::SettingChange& change = changes[i];
    text += fmt::format("{}{} {}: {} -> {}", i == 0 ? "" : "; ", change.kind(), change.name(),
                        ValueText(change.before()), ValueText(change.after()));
  }
  if (changes.size() > most) text += fmt::format("; and {} more", changes.size() - most);
  return text;
}

std::string ChangeSentence(const proto::TrendGroup& group, const proto::LevelChange& change) {
  const proto::TrendRun& run = group.runs(change.run());
  std::string text =
      fmt::format("{} -> {} ({}, 95 % interval {} to {}) since {} of {}",
                  FormatTime(change.before_ns()), FormatTime(change.after_ns()),
                  SignedPercent(change.change_share()), SignedPercent(change.low_share()),
                  SignedPercent(change.high_share()), run.name(), DayOf(run.start_unix_ns()));
  if (!run.commit().empty()) text += fmt::format(", commit {}", ShortCommit(run.commit()));
  for (const proto::PartChange& part : change.parts())
    text += fmt::format("{}{} {}", &part == &change.parts(0) ? ": " : ", ", part.name(),
                        SignedTime(part.after_ns() - part.before_ns()));
  if (change.verdict_before() != change.verdict_after())
    text += fmt::format("; the verdict changed from {} to {}", change.verdict_before(),
                        change.verdict_after());
  if (change.settings_size() > 0)
    text += "; changed with it: " + SettingsText(change.settings(), kSettingsOfAChange);
  return text;
}

}  // namespace traceinject
