// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string>
#include <string_view>

#include "analyzer/metrics/report/report_writer.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

constexpr std::string_view kAfterTimes = ": ";

// Those that change nothing, but note something for `analyze try`, are no changes.
bool ChangesNothing(std::string_view key) {
  const TryLever* const lever = FindTryLever(key.substr(0, key.find('=')));
  return lever != nullptr && lever->permanent.empty();
}

proto::TriedChange ChangeOf(const SystemFact& fact) {
  proto::TriedChange change;
  change.set_lever(fact.key);
  std::int64_t times = 0;
  const char* const end = fact.value.data() + fact.value.size();
  const char* const after = std::from_chars(fact.value.data(), end, times).ptr;
  std::string_view text(after, static_cast<std::size_t>(end - after));
  if (text.starts_with(kAfterTimes)) text.remove_prefix(kAfterTimes.size());
  change.set_times(times);
  change.set_text(times > 0 ? std::string(text) : fact.reason);
  return change;
}

}  // namespace

// Of ranks that were asked for the same, the one that it took effect in most often.
void ReportWriter::Tries(Report& to) const {
  for (const Rank& rank : run_.ranks) {
    for (const SystemFact& fact : rank.facts) {
      if (fact.kind != kTryFact || ChangesNothing(fact.key)) continue;
      const proto::TriedChange change = ChangeOf(fact);
      proto::TriedChange* known = nullptr;
      for (proto::TriedChange& one : *to.mutable_tried()) {
        if (one.lever() == change.lever()) known = &one;
      }
      if (known == nullptr)
        *to.add_tried() = change;
      else if (change.times() > known->times())
        *known = change;
    }
  }
}

}  // namespace traceinject
