// SPDX-License-Identifier: Apache-2.0
// The metrics that a report gives: one table, from which they are written and documented.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/report/formats/recording_facts.h"
#include "schemas/report.pb.h"

namespace traceinject {

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

struct MetricSample {
  MetricLabels labels;
  double value = 0;
};

enum class MetricType { kGauge, kCounter, kInfo, kStateSet };

// A GPU of the report, with its steps.
struct DeviceView {
  const proto::Report& report;
  const proto::DeviceReport& device;
  const proto::DeviceSteps& steps;
};

// A run with what is known of its files.
struct RunView {
  const proto::Report& report;
  const RecordingFacts& facts;
};

struct Metric {
  std::string_view name;  // without "traceinject_"; ends in its unit
  MetricType type = MetricType::kGauge;
  std::string_view unit;  // of OpenMetrics; empty: none
  std::string_view labels, help;
  // One of these: a figure of each GPU, or any samples, of the report or with the files' facts.
  std::optional<double> (*of_device)(const DeviceView&) = nullptr;
  std::vector<MetricSample> (*of_report)(const proto::Report&) = nullptr;
  std::vector<MetricSample> (*of_run)(const RunView&) = nullptr;
};

// In the order in which they are written.
std::span<const Metric> Metrics();

// What is known of a metric; may be empty.
std::vector<MetricSample> SamplesOf(const Metric& metric, const RunView& run);

}  // namespace traceinject
