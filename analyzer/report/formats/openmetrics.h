// SPDX-License-Identifier: Apache-2.0
// The report's figures as metrics, for Prometheus and what reads its formats.
// https://prometheus.io/docs/specs/om/open_metrics_spec/
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/report/formats/recording_facts.h"
#include "schemas/report.pb.h"

namespace traceinject {

enum class MetricsDialect {
  kOpenMetrics,  // application/openmetrics-text; version=1.0.0
  // text/plain; version=0.0.4, which knows no info and no stateset: they are gauges. The textfile
  // collector of node_exporter refuses a file with other types.
  kPrometheus,
};

// Samples of a run, written once for many pages: lines by metric, in the order of the table.
using MetricLines = std::vector<std::string>;

// What is not known is not there. `job`: the label of that name; empty: without it.
MetricLines WriteMetricLines(const proto::Report& report, const RecordingFacts& facts,
                             const std::string& job);
// Where there is no report, since no recording could be read (yet).
MetricLines WriteNoMetricLines(const std::string& job);

// A page of them: each metric once, with the samples of all runs. Linear in its size.
std::string WriteMetricPage(std::span<const MetricLines* const> runs, MetricsDialect dialect);
// That of one run.
std::string WriteOpenMetrics(const proto::Report& report, MetricsDialect dialect);

// One line a metric: name, type, unit, labels, what it is.
std::string MetricTable();

}  // namespace traceinject
