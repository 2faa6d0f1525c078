// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/hygiene.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/metrics/links/nccl_transports.h"
#include "analyzer/metrics/machine/data_parallel.h"
#include "analyzer/metrics/machine/device_checks.h"
#include "analyzer/metrics/machine/hygiene_checks.h"
#include "analyzer/metrics/machine/machine_checks.h"

namespace traceinject {
namespace {

// Findings of one check with one text are one, of several subjects.
class Findings {
 public:
  // subject: a host, process or GPU; empty: there is only one.
  void Add(std::string_view check, const std::string& subject, const std::string& text) {
    Same* same = nullptr;
    for (Same& known : by_check_[check]) same = known.text == text ? &known : same;
    if (same == nullptr) same = &by_check_[check].emplace_back(Same{text, {}});
    const auto known = std::find(same->subjects.begin(), same->subjects.end(), subject);
    if (known == same->subjects.end() && !subject.empty()) same->subjects.push_back(subject);
  }

  void Write(proto::Report& report) const {
    for (const HygieneCheck& check : HygieneChecks()) {
      const auto found = by_check_.find(check.name);
      if (found == by_check_.end()) continue;
      for (const Same& same : found->second) Write(check, same, *report.add_hygiene());
    }
  }

 private:
  struct Same {
    std::string text;
    std::vector<std::string> subjects;
  };

  static void Write(const HygieneCheck& check, const Same& same, proto::HygieneFinding& to) {
    to.set_name(std::string(check.name));
    to.set_severity(std::string(HygieneSeverityName(check.severity)));
    to.set_text(same.subjects.empty() ? same.text : JoinFirst(same.subjects) + ": " + same.text);
    to.set_change(std::string(check.change));
    to.set_source(std::string(check.source));
  }

  std::map<std::string_view, std::vector<Same>> by_check_;
};

// PCI addresses of the GPUs with work, by host.
std::map<std::string, std::set<std::string>> GpusOfHosts(const Run& run) {
  std::map<std::string, std::set<std::string>> gpus;
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices) {
      if (device.ops.size() > 0 && !device.pci_bus_id.empty())
        gpus[rank.process.host].insert(PciPlace(device.pci_bus_id));
    }
  }
  return gpus;
}

bool HasDataWorkers(const Rank& rank) {
  return !rank.workers.empty() ||
         std::any_of(rank.loaders.begin(), rank.loaders.end(),
                     [](const DataLoader& loader) { return loader.workers > 0; });
}

void CheckProcesses(const Run& run, Findings& findings) {
  const auto gpus = GpusOfHosts(run);
  std::set<std::string_view> hosts;
  for (const Rank& rank : run.ranks) hosts.insert(rank.process.host);
  for (const Rank& rank : run.ranks) {
    const std::string process = run.ranks.size() > 1 ? ProcessLabel(run, rank) : std::string();
    MachineUse use;
    if (const auto here = gpus.find(rank.process.host); here != gpus.end()) use.gpus = here->second;
    use.several_ranks = rank.process.world_size.value_or(1) > 1 || run.ranks.size() > 1;
    use.data_workers = HasDataWorkers(rank);
    for (const HygieneProof& proof : CheckMachine(rank.facts, use)) {
      std::string subject = process;
      if (proof.of == HygieneProof::Of::kHost)
        subject = hosts.size() > 1 ? rank.process.host : std::string();
      if (proof.of == HygieneProof::Of::kGpu)
        subject += fmt::format("{}GPU {}", process.empty() ? "" : " ", proof.gpu);
      findings.Add(proof.check, subject, proof.text);
    }
    if (const auto found = FindDataParallel(rank))
      findings.Add("data_parallel", process,
                   fmt::format("one process drives {} GPUs, as torch.nn.DataParallel does: {} NCCL "
                               "broadcasts and {} reductions on each",
                               found->gpus, found->broadcasts, found->reductions));
  }
}

void CheckConnections(const Run& run, Findings& findings) {
  for (const NcclConnections& transport : SummarizeNcclTransports(run)) {
    const std::string ranks =
        transport.size ? fmt::format("of {} ranks", *transport.size) : std::string();
    for (const NcclRemark& remark : transport.remarks) {
      std::string text = remark.text;
      text.pop_back();  // the full stop
      findings.Add(remark.check, ranks, text);
    }
  }
}

void CheckModels(const proto::Report& report, Findings& findings) {
  std::map<std::string, int> models;
  for (const proto::DeviceReport& device : report.devices()) ++models[device.name()];
  if (models.size() < 2) return;
  std::vector<std::string> counts;
  for (const auto& [name, count] : models) counts.push_back(fmt::format("{} x {}", count, name));
  findings.Add("mixed_gpus", "", "mixed GPU models in one job: " + JoinFirst(counts));
}

}  // namespace

void AddHygiene(const Run& run, proto::Report& report) {
  Findings findings;
  CheckProcesses(run, findings);
  CheckConnections(run, findings);
  CheckModels(report, findings);
  for (const proto::DeviceReport& device : report.devices()) {
    if (!device.has_telemetry()) continue;
    for (const HygieneProof& proof : CheckTelemetry(device.telemetry()))
      findings.Add(proof.check, device.label(), proof.text);
  }
  findings.Write(report);
}

}  // namespace traceinject
