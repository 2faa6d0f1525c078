// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/metrics/links/copy_findings.h"
#include "analyzer/metrics/links/nccl_transports.h"
#include "analyzer/metrics/links/rank_link.h"
#include "analyzer/metrics/report/report_writer.h"
#include "analyzer/metrics/report/set_if.h"

namespace traceinject {
std::string ReportWriter::NcclCaveat(const std::vector<NcclRow>& rows) const {
  if (rows.empty()) return "";
  const auto split = [](const NcclRow& row) { return row.transfer_ns.has_value(); };
  std::string text =
      "Kernel time includes waiting for other ranks, so algbw and busbw are lower bounds.";
  if (std::any_of(rows.begin(), rows.end(), split)) {
    text +=
        " Transfer is busbw over the shortest kernel time of each operation on any rank, that is "
        "without waiting.";
  } else if (run_.ranks.size() == 1) {
    text += " With one recorded process, waiting and transfer cannot be separated.";
  } else {
    text +=
        " Waiting and transfer could not be separated: not all ranks of a communicator are known.";
  }
  return text;
}

void ReportWriter::NcclOf(const std::vector<const DeviceFigures*>& devices, proto::Nccl& to) const {
  std::vector<NcclSource> sources;
  CommKernels kernels;
  std::int64_t linked = 0, calls = 0;
  for (const DeviceFigures* found : devices) {
    sources.push_back({found->rank, &found->nccl, found->times});
    kernels.nccl += found->comm_kernels.nccl;
    kernels.other += found->comm_kernels.other;
    linked += CountLinked(found->nccl, found->ranges);
  }
  const std::vector<NcclRow> rows = SummarizeNccl(sources, options_.by_communicator);
  for (const NcclRow& row : rows) {
    calls += row.calls;
    proto::NcclRow& one = *to.add_rows();
    one.set_function(row.function);
    if (!row.algorithm.empty()) one.set_algorithm(row.algorithm);
    if (!row.protocol.empty()) one.set_protocol(row.protocol);
    SetIf(row.communicator_size, [&](int v) { one.set_communicator_size(v); });
    SetIf(row.bucket_low_bytes, [&](std::int64_t v) { one.set_bucket_low_bytes(v); });
    SetIf(row.bucket_high_bytes, [&](std::int64_t v) { one.set_bucket_high_bytes(v); });
    one.set_count(row.count);
    one.set_calls(row.calls);
    SetIf(row.bytes, [&](std::int64_t v) { one.set_bytes(v); });
    one.set_kernel_ns(row.kernel_ns);
    one.set_exposed_ns(row.exposed_ns);
    SetIf(row.channels_min, [&](int v) { one.set_channels_min(v); });
    SetIf(row.channels_max, [&](int v) { one.set_channels_max(v); });
    one.set_communicator(row.communicator);
    SetIf(row.algbw_gb_per_s(), [&](double v) { one.set_algbw_gb_per_s(v); });
    SetIf(row.busbw_gb_per_s(), [&](double v) { one.set_busbw_gb_per_s(v); });
    one.set_busbw_reason(row.busbw_reason());
    one.set_latency_bound(row.latency_bound());
    SetIf(row.transfer_ns, [&](TimeNs v) { one.set_transfer_ns(v); });
    SetIf(row.transfer_busbw_gb_per_s(), [&](double v) { one.set_transfer_busbw_gb_per_s(v); });
  }
  to.set_kernels(kernels.nccl + kernels.other);
  to.set_linked_kernels(linked);
  to.set_other_kernels(kernels.other);
  to.set_calls(calls);
  to.set_caveat(NcclCaveat(rows));
}

void ReportWriter::LinksOf(const DeviceFigures& found, proto::DeviceReport& to) const {
  const std::optional<HostLink>& host = found.host_link;
  if (host) {
    to.mutable_host_link()->set_name(host->name);
    to.mutable_host_link()->set_gb_per_s(host->gb_per_s);
  }
  for (const LinkFinding& finding : FindInCopies(found.copies, host, found.partition.busy_ns())) {
    proto::LinkFinding& one = *to.add_link_findings();
    one.set_name(finding.name);
    one.set_text(finding.text);
    one.set_setting(finding.setting);
    one.set_change(finding.change);
    one.set_source(finding.source);
  }
  const auto link = FindRankLink(*found.rank, *found.device, found.nccl, found.times, host);
  if (!link) return;
  proto::RankLink& one = *to.mutable_nccl()->mutable_link();
  one.set_busbw_gb_per_s(link->busbw_gb_per_s);
  one.set_waiting_included(link->waiting_included);
  one.set_name(link->name);
  SetIf(link->link_gb_per_s, [&](double v) { one.set_link_gb_per_s(v); });
  SetIf(link->link_share(), [&](double v) { one.set_link_share(v); });
  one.set_reason(link->reason);
  one.set_nvls(link->nvls);
}

void ReportWriter::TransportsOf(proto::Nccl& to) const {
  for (const NcclConnections& transport : SummarizeNcclTransports(run_)) {
    proto::NcclTransport& one = *to.add_transports();
    SetIf(transport.size, [&](int v) { one.set_communicator_size(v); });
    one.set_communicators(transport.communicators);
    one.set_ranks_told(transport.ranks_told);
    SetIf(transport.nodes, [&](int v) { one.set_nodes(v); });
    one.set_network(transport.network);
    SetIf(transport.rings, [&](int v) { one.set_rings(v); });
    SetIf(transport.trees, [&](int v) { one.set_trees(v); });
    SetIf(transport.channels, [&](int v) { one.set_channels(v); });
    SetIf(transport.nvls_channels, [&](int v) { one.set_nvls_channels(v); });
    one.set_nvls(transport.nvls);
    for (const NcclPath& path : transport.paths) {
      proto::NcclPath& way = *one.add_paths();
      way.set_name(path.name);
      way.set_pairs(path.pairs);
      way.set_channels_min(path.channels_min);
      way.set_channels_max(path.channels_max);
    }
    for (const NcclRemark& remark : transport.remarks) one.add_remarks(remark.text);
  }
}

}  // namespace traceinject
