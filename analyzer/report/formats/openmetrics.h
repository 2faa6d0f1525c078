// SPDX-License-Identifier: Apache-2.0
// The report's figures as metrics, for Prometheus and what reads its formats.
// https://prometheus.io/docs/specs/om/open_metrics_spec/
#pragma once

#include <string>

#include "schemas/report.pb.h"

namespace traceinject {

enum class MetricsDialect {
  kOpenMetrics,  // application/openmetrics-text; version=1.0.0
  // text/plain; version=0.0.4, which knows no info and no stateset: they are gauges. The textfile
  // collector of node_exporter refuses a file with other types.
  kPrometheus,
};

// What is not known is not there.
std::string WriteOpenMetrics(const proto::Report& report, MetricsDialect dialect);
// Where there is no report, since no recording could be read (yet).
std::string WriteNoMetrics(MetricsDialect dialect);

// One line a metric: name, type, unit, labels, what it is.
std::string MetricTable();

}  // namespace traceinject
