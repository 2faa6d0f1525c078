// SPDX-License-Identifier: Apache-2.0
// Turns what the metrics found into the messages of report.proto. Of its parts, kernels, NCCL and
// health and stalls are in files of their own (report_kernels.cc, report_nccl.cc, ...).
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/idle/host_activity.h"
#include "analyzer/metrics/kernels/kernel_findings.h"
#include "analyzer/metrics/kernels/mfu.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/metrics/report/device_figures.h"
#include "analyzer/metrics/report/health.h"

namespace traceinject {

// Of a kernel its own name, of others what they do.
std::string OperationName(const Rank& rank, const GpuOps& ops, std::uint32_t op);

// Times become relative to the origin.
class ReportWriter {
 public:
  ReportWriter(const Run& run, const ReportOptions& options, TimeNs origin)
      : run_(run), options_(options), origin_(origin) {}

  void Sources(Report& report) const;
  void Device(const DeviceFigures& found, const HostActivities& activities,
              proto::DeviceReport& to) const;
  void DataLoaders(const std::deque<DeviceFigures>& devices, Report& to) const;
  void NvtxRanges(const std::deque<DeviceFigures>& devices, Report& to) const;
  void RunSums(const std::deque<DeviceFigures>& devices, proto::Run& to) const;
  void MfuBlock(const Mfu& mfu, proto::Mfu& to) const;
  void Stalls(Report& to) const;
  void LastStacks(Report& to) const;
  void RecordingCosts(Report& to) const;
  void Tries(Report& to) const;
  void HealthBlock(const RecordingHealth& health, proto::Health& to) const;

 private:
  void WindowOf(const Window& window, proto::Window& to) const;
  void PartitionOf(const Partition& partition, proto::Partition& to) const;
  void Causes(const IdleCauses& causes, proto::IdleCauses& to) const;
  void GapOf(const DeviceFigures& found, const Gap& gap, const HostActivities& activities,
             proto::Gap& to) const;
  void CaptureGaps(const DeviceFigures& found, proto::DeviceReport& to) const;
  void Peaks(const GpuSpec& spec, proto::GpuPeaks& to) const;
  // Kernels, copies and NCCL work: the same fields in a device and in the run.
  template <typename To>
  void Kernels(const KernelTable& table, To& to) const;
  // Of the first device that tells something of a kernel.
  template <typename To>
  void CountersOf(const std::vector<const DeviceFigures*>& devices, To& to) const;
  void FindingsOf(const std::vector<KernelFinding>& findings,
                  google::protobuf::RepeatedPtrField<proto::KernelFinding>& to) const;
  template <typename To>
  void Copies(const std::vector<CopyStats>& copies, To& to) const;
  void NcclOf(const std::vector<const DeviceFigures*>& devices, proto::Nccl& to) const;
  void TransportsOf(proto::Nccl& to) const;
  void LinksOf(const DeviceFigures& found, proto::DeviceReport& to) const;
  void WaterfallBlock(const DeviceFigures& found, proto::Waterfall& to) const;
  void MemoryOf(const MemoryCalls& memory, proto::MemoryCalls& to) const;
  void ProductsOf(const MatrixProducts& products, const AttentionCalls& attention,
                  const std::optional<StepFlops>& step, proto::MatrixProducts& to) const;
  void SamplesOfMemory(const DeviceFigures& found, proto::DeviceReport& to) const;
  void JoinOf(const JoinRate& join, proto::Join& to) const;
  std::string NcclCaveat(const std::vector<NcclRow>& rows) const;

  const Run& run_;
  const ReportOptions& options_;
  TimeNs origin_;
};

}  // namespace traceinject
