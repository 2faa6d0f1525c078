// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/formats/openmetrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/report/formats/metric_table.h"

namespace traceinject {
namespace {

std::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kCounter:
      return "counter";
    case MetricType::kInfo:
      return "info";
    case MetricType::kStateSet:
      return "stateset";
  }
  return "unknown";
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : Printable(text)) {
    if (letter == '\\' || letter == '"') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string_view Suffix(MetricType type) {
  if (type == MetricType::kCounter) return "_total";
  return type == MetricType::kInfo ? "_info" : "";
}

template <typename... Values>
void AddLine(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
  text += '\n';
}

std::string LinesOf(const Metric& metric, const std::vector<MetricSample>& samples,
                    const std::string& job) {
  std::string lines;
  for (const MetricSample& sample : samples) {
    if (!std::isfinite(sample.value)) continue;
    std::string labels = job.empty() ? "" : fmt::format("job=\"{}\"", Escaped(job));
    for (const auto& [key, value] : sample.labels)
      labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", key, Escaped(value));
    if (!labels.empty()) labels = "{" + labels + "}";
    AddLine(lines, "traceinject_{}{}{} {}", metric.name, Suffix(metric.type), labels, sample.value);
  }
  return lines;
}

void AddFamily(const Metric& metric, MetricsDialect dialect, std::string& text) {
  const std::string family = fmt::format("traceinject_{}", metric.name);
  const bool plain = dialect == MetricsDialect::kPrometheus;
  // In the older format a family is called as its samples are.
  const std::string declared = plain ? family + std::string(Suffix(metric.type)) : family;
  const bool is_plain_type =
      metric.type == MetricType::kGauge || metric.type == MetricType::kCounter;
  AddLine(text, "# TYPE {} {}", declared,
          plain && !is_plain_type ? TypeName(MetricType::kGauge) : TypeName(metric.type));
  if (!plain && !metric.unit.empty()) AddLine(text, "# UNIT {} {}", family, metric.unit);
  AddLine(text, "# HELP {} {}", declared, metric.help);
}

}  // namespace

MetricLines WriteMetricLines(const proto::Report& report, const RecordingFacts& facts,
                             const std::string& job) {
  MetricLines lines;
  for (const Metric& metric : Metrics())
    lines.push_back(LinesOf(metric, SamplesOf(metric, {report, facts}), job));
  return lines;
}

MetricLines WriteNoMetricLines(const std::string& job) {
  MetricLines lines;
  for (const Metric& metric : Metrics())
    lines.push_back(metric.name == "recording_readable" ? LinesOf(metric, {{{}, 0}}, job) : "");
  return lines;
}

std::string WriteMetricPage(std::span<const MetricLines* const> runs, MetricsDialect dialect) {
  std::string text;
  for (std::size_t i = 0; i < Metrics().size(); ++i) {
    // Nothing of a metric without samples.
    if (std::all_of(runs.begin(), runs.end(), [&](const auto* run) { return (*run)[i].empty(); }))
      continue;
    AddFamily(Metrics()[i], dialect, text);
    for (const MetricLines* run : runs) text += (*run)[i];
  }
  if (dialect == MetricsDialect::kOpenMetrics) text += "# EOF\n";
  return text;
}

std::string WriteOpenMetrics(const proto::Report& report, MetricsDialect dialect) {
  const MetricLines lines = WriteMetricLines(report, {}, "");
  const MetricLines* const runs[] = {&lines};
  return WriteMetricPage(runs, dialect);
}

std::string MetricTable() {
  TableText table;
  table.rows.push_back({"METRIC", "TYPE", "UNIT", "LABELS", "WHAT IT IS"});
  for (const Metric& metric : Metrics())
    table.rows.push_back({fmt::format("traceinject_{}", metric.name),
                          std::string(TypeName(metric.type)), std::string(metric.unit),
                          std::string(metric.labels), std::string(metric.help)});
  return FormatTable(table);
}

}  // namespace traceinject
