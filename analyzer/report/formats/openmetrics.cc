// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/formats/openmetrics.h"

#include <fmt/format.h>

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

class Writer {
 public:
  explicit Writer(MetricsDialect dialect) : dialect_(dialect) {}

  // Nothing of a metric without samples.
  void Add(const Metric& metric, const std::vector<MetricSample>& samples) {
    if (samples.empty()) return;
    const std::string family = fmt::format("traceinject_{}", metric.name);
    const std::string name = family + std::string(Suffix(metric.type));
    const bool plain = dialect_ == MetricsDialect::kPrometheus;
    // In the older format a family is called as its samples are.
    const std::string& declared = plain ? name : family;
    const bool is_plain_type =
        metric.type == MetricType::kGauge || metric.type == MetricType::kCounter;
    Line("# TYPE {} {}", declared,
         plain && !is_plain_type ? TypeName(MetricType::kGauge) : TypeName(metric.type));
    if (!plain && !metric.unit.empty()) Line("# UNIT {} {}", family, metric.unit);
    Line("# HELP {} {}", declared, metric.help);
    for (const MetricSample& sample : samples) AddSample(name, sample);
  }

  std::string Finish() {
    if (dialect_ == MetricsDialect::kOpenMetrics) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  static std::string_view Suffix(MetricType type) {
    if (type == MetricType::kCounter) return "_total";
    return type == MetricType::kInfo ? "_info" : "";
  }

  template <typename... Values>
  void Line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }

  void AddSample(const std::string& name, const MetricSample& sample) {
    if (!std::isfinite(sample.value)) return;
    std::string labels;
    for (const auto& [key, value] : sample.labels)
      labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", key, Escaped(value));
    if (!labels.empty()) labels = "{" + labels + "}";
    Line("{}{} {}", name, labels, sample.value);
  }

  MetricsDialect dialect_;
  std::string text_;
};

}  // namespace

std::string WriteOpenMetrics(const proto::Report& report, MetricsDialect dialect) {
  Writer writer(dialect);
  for (const Metric& metric : Metrics()) writer.Add(metric, SamplesOf(metric, report));
  return writer.Finish();
}

std::string WriteNoMetrics(MetricsDialect dialect) {
  Writer writer(dialect);
  for (const Metric& metric : Metrics()) {
    if (metric.name == "recording_readable") writer.Add(metric, {{{}, 0}});
  }
  return writer.Finish();
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
