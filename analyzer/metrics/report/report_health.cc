// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "analyzer/metrics/report/report_writer.h"
#include "analyzer/metrics/report/set_if.h"

namespace traceinject {
namespace {

proto::Health::Grade GradeOf(HealthGrade grade) {
  switch (grade) {
    case HealthGrade::kGood:
      return proto::Health::GRADE_GOOD;
    case HealthGrade::kLossy:
      return proto::Health::GRADE_LOSSY;
    case HealthGrade::kBad:
      return proto::Health::GRADE_BAD;
    case HealthGrade::kUnknown:
      break;
  }
  return proto::Health::GRADE_UNKNOWN;
}

proto::HealthLine::Severity SeverityOf(HealthSeverity severity) {
  switch (severity) {
    case HealthSeverity::kError:
      return proto::HealthLine::SEVERITY_ERROR;
    case HealthSeverity::kDataLoss:
      return proto::HealthLine::SEVERITY_DATA_LOSS;
    case HealthSeverity::kNotice:
      return proto::HealthLine::SEVERITY_NOTICE;
    case HealthSeverity::kInfo:
      break;
  }
  return proto::HealthLine::SEVERITY_INFO;
}

}  // namespace

void ReportWriter::HealthBlock(const RecordingHealth& health, proto::Health& to) const {
  to.set_grade(GradeOf(health.grade));
  for (const std::string& reason : health.reasons) to.add_reasons(reason);
  to.set_records_seen(health.records_seen);
  to.set_records_lost(health.records_lost);
  SetIf(health.lost_share, [&](double v) { to.set_lost_share(v); });
  for (const HealthLine& line : health.lines) {
    proto::HealthLine& one = *to.add_lines();
    one.set_severity(SeverityOf(line.severity));
    one.set_source(static_cast<int>(line.rank));
    one.set_name(line.name);
    one.set_value(line.value);
    one.set_text(line.text);
    one.set_detail(line.detail);
  }
}

}  // namespace traceinject
