// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

using proto::ConditionResult;

// Text fit for an attribute and for content: XML 1.0 forbids control characters, which Printable()
// replaces, and U+FFFE and U+FFFF.
std::string Escaped(std::string_view text) {
  std::string escaped;
  const std::string printable = Printable(text);
  for (std::size_t i = 0; i < printable.size(); ++i) {
    switch (printable[i]) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&apos;";
        break;
      default:
        escaped += printable[i];
    }
  }
  for (const std::string_view forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = escaped.find(forbidden, at)) != std::string::npos;)
      escaped.replace(at, forbidden.size(), "?");
  }
  return escaped;
}

bool IsSkipped(const ConditionResult& one, bool allow_unknown) {
  return allow_unknown && one.outcome() == ConditionResult::OUTCOME_UNKNOWN;
}

std::string Case(const ConditionResult& one, const std::string& cause, bool allow_unknown) {
  std::string text =
      fmt::format("  <testcase classname=\"traceinject.gate\" name=\"{}\" time=\"0\"",
                  Escaped(one.condition()));
  if (one.outcome() == ConditionResult::OUTCOME_PASSED) return text + "/>\n";
  const std::string reason = Escaped(one.reason());
  if (IsSkipped(one, allow_unknown))
    return text + fmt::format(">\n    <skipped message=\"{}\"/>\n  </testcase>\n", reason);
  const bool unknown = one.outcome() == ConditionResult::OUTCOME_UNKNOWN;
  const std::string more = unknown || cause.empty() ? "" : "; cause: " + cause;
  return text +
         fmt::format(">\n    <failure type=\"{}\" message=\"{}\">{}: {}</failure>\n  </testcase>\n",
                     unknown ? "unknown" : "failed", reason, Escaped(one.origin()),
                     reason + Escaped(more));
}

}  // namespace

std::string WriteJunit(const proto::GateResult& result, bool allow_unknown) {
  std::ptrdiff_t skipped = 0, passed = 0;
  std::string cases;
  for (const ConditionResult& one : result.conditions()) {
    skipped += IsSkipped(one, allow_unknown) ? 1 : 0;
    passed += one.outcome() == ConditionResult::OUTCOME_PASSED ? 1 : 0;
    cases += Case(one, result.cause(), allow_unknown);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"analyze gate\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "time=\"0\">\n{}</testsuite>\n",
      result.conditions_size(), result.conditions_size() - skipped - passed, skipped, cases);
}

}  // namespace traceinject
