// SPDX-License-Identifier: Apache-2.0
// The sections of the text report, each written below what the page holds already. text.cc puts
// them in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/layout/text_layout.h"
#include "analyzer/report/text/text.h"
#include "schemas/ranks.pb.h"
#include "schemas/report.pb.h"

namespace traceinject {

// What every section needs.
struct TextReport {
  const proto::Report& report;
  const TextOptions& options;
  ReportPage& page;
};

using TextRows = std::vector<std::vector<std::string>>;
template <typename Message>
using Repeated = google::protobuf::RepeatedPtrField<Message>;

inline constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();
inline constexpr int kAnySource = -1;

// What a table leaves out is said.
void WriteMore(TextReport& to, std::size_t shown, int all);
// What to name in commands that show more.
std::string RunName(const TextReport& to);

// Why these figures of a source, or of any, are not given; null: they are.
const proto::Withheld* FindWithheld(const TextReport& to, std::string_view figures, int source);

// text_first_screen.cc
// The verdict, and the least that has to be known beside it.
void WriteFirstScreen(TextReport& to);
// Which steps the figures are of, and what is outside of them.
void WriteScope(TextReport& to);

// text_verdict.cc
void WriteVerdict(TextReport& to);

// text_rank_findings.cc
// What ranks do to each other: as one section of the report, and for a page of its own.
void WriteRankFindings(const Repeated<proto::RankFinding>& findings, ReportPage& page);

// text_hygiene.cc
void WriteHygiene(TextReport& to);

// text_links.cc
// What the links between ranks carry; nothing where nothing is known.
void WriteLinks(const proto::Ranks& ranks, TextPage& page, std::size_t width);

// text_stalls.cc
// What a run that hung is opened for, before all else; nothing for another one.
void WriteHungRun(TextReport& to);

// text_verdict.cc
// That the program was changed for the recording; nothing where it was not.
void WriteTried(TextReport& to);
void WriteStalls(TextReport& to);

// text_steps.cc
void WriteSteps(TextReport& to, const proto::DeviceSteps& steps);
// text_run_time.cc
// What the recorded time went into; nothing without regular steps.
void WriteRunTime(TextReport& to, const proto::DeviceSteps& steps);
// text_steps.cc
void WriteSamples(TextReport& to);

// text_waterfall.cc
// From the peak of the GPU that the verdict is about to what it achieves.
void WriteWaterfall(TextReport& to);

// text_partition.cc
void WriteTime(TextReport& to);
void WriteRatios(TextReport& to, const proto::Partition& partition);
void WriteSpreads(TextReport& to);
void WriteDevices(TextReport& to);

// text_gaps.cc
void WriteIdleCauses(TextReport& to, const proto::IdleCauses& causes, std::int64_t idle_ns,
                     int source);
void WriteCaptureGaps(TextReport& to, const proto::DeviceReport& device);
void WriteGaps(TextReport& to, const proto::DeviceReport& device);

// text_kernels.cc
void WriteKernels(TextReport& to, const proto::KernelTotals& totals,
                  const Repeated<proto::Kernel>& kernels, std::size_t rows);
void WriteKernelFindings(TextReport& to, const Repeated<proto::KernelFinding>& findings);
void WriteKernelClasses(TextReport& to, const Repeated<proto::KernelClass>& classes);

// text_memory.cc
void WriteCopies(TextReport& to, const Repeated<proto::Copy>& copies, std::size_t rows);
void WriteMemoryCalls(TextReport& to, const proto::MemoryCalls& memory);
void WriteAllocator(TextReport& to, const proto::DeviceReport& device);

// text_telemetry.cc
void WriteTelemetry(TextReport& to, const proto::Telemetry& telemetry);
// That hardware counters were sampled, in one line.
void WriteCounterSampling(TextReport& to, const proto::CounterSampling& sampling);
// What they show over the judged steps.
void WriteMeasuredUse(TextReport& to, const proto::MeasuredUse& use);

// text_nccl.cc
void WriteNccl(TextReport& to, const proto::Nccl& nccl, std::size_t rows);
// Of that, what stands above the table, and below it about its first `rows`.
void WriteNcclTotals(TextReport& to, const proto::Nccl& nccl);
void WriteNcclNotes(TextReport& to, const proto::Nccl& nccl, std::size_t rows);
void WriteRankLink(TextReport& to, const proto::RankLink& link, const std::string& label);
void WriteLinkFindings(TextReport& to, const proto::DeviceReport& device);
void WriteNcclTransports(TextReport& to, const proto::Nccl& nccl);

// text_flops.cc
void WritePeaks(TextReport& to, const proto::DeviceReport& device);
void WriteMatrixProducts(TextReport& to, const proto::MatrixProducts& products, std::size_t rows);
void WriteMfu(TextReport& to);

// text_cost.cc
void WriteRecordingCosts(TextReport& to);

// text_health.cc
void WriteHealth(TextReport& to);
void WriteTrust(TextReport& to);

}  // namespace traceinject
