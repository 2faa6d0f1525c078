// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/event_arguments.h"

#include <fmt/format.h>

#include "analyzer/metrics/kernels/data_types.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

std::string ListOf(const std::int32_t (&extent)[3]) {
  return fmt::format("[{}, {}, {}]", extent[0], extent[1], extent[2]);
}

}  // namespace

const std::vector<Argument>& HostArguments::Of(const HostEvent& event) {
  list_.clear();
  const std::uint32_t row = event.row;
  switch (event.kind) {
    case HostEventKind::kApi: {
      const std::uint64_t correlation = rank_.api.correlation[row];
      if (correlation != 0)
        list_.push_back(Argument::Count("correlation", static_cast<std::int64_t>(correlation)));
      const std::int32_t result = rank_.api.result[row];
      if (result != 0) list_.push_back(Argument::Count("result", result));
      break;
    }
    case HostEventKind::kNvtx: {
      const std::string& domain = rank_.nvtx_domains[rank_.nvtx.domain[row]];
      if (!domain.empty()) list_.push_back(Argument::Text("domain", domain));
      const std::uint32_t category = rank_.nvtx.category[row];
      if (category != kNone) list_.push_back(Argument::Count("category", category));
      break;
    }
    case HostEventKind::kProfiled:
      OfProfiled(row);
      break;
    case HostEventKind::kDataWait: {
      const DataWaits& waits = rank_.data_waits;
      if (waits.batch[row] >= 0) list_.push_back(Argument::Count("batch", waits.batch[row]));
      if (waits.samples[row] >= 0) list_.push_back(Argument::Count("samples", waits.samples[row]));
      if (waits.loader[row] != kNone)
        list_.push_back(Argument::Count("workers", rank_.loaders[waits.loader[row]].workers));
      break;
    }
    case HostEventKind::kCollective:
      OfCollective(row);
      break;
    case HostEventKind::kGemm:
      OfGemm(row);
      break;
    case HostEventKind::kAttention:
      OfAttention(row);
      break;
    case HostEventKind::kHostSpan:
    case HostEventKind::kStepMark:
    case HostEventKind::kCount:
      break;
  }
  return list_;
}

// As torch.profiler names them, so that what was imported is exported as it was.
void HostArguments::OfProfiled(std::uint32_t row) {
  const ProfiledRanges& ranges = rank_.profiled;
  if (const std::string_view shapes = rank_.string(ranges.input_shapes[row]); !shapes.empty()) {
    // A file may say anything.
    const bool is_list = shapes.find_first_not_of("[], -0123456789") == std::string_view::npos;
    list_.push_back(is_list ? Argument::List("Input Dims", shapes)
                            : Argument::Text("Input Dims", shapes));
  }
  if (ranges.sequence[row] < 0) return;
  list_.push_back(Argument::Count("Sequence number", ranges.sequence[row]));
  list_.push_back(Argument::Count("Fwd thread id", ranges.forward_thread[row]));
}

void HostArguments::OfCollective(std::uint32_t row) {
  const Collectives& calls = rank_.collectives;
  if (calls.bytes[row] >= 0) list_.push_back(Argument::Count("bytes", calls.bytes[row]));
  if (calls.peer[row] >= 0) list_.push_back(Argument::Count("peer", calls.peer[row]));
  if (calls.root[row] >= 0) list_.push_back(Argument::Count("root", calls.root[row]));
  if (calls.communicator[row] != kNone) {
    const Communicator& communicator = rank_.communicators[calls.communicator[row]];
    scratch_ = fmt::format("{:#x}", communicator.hash);
    list_.push_back(Argument::Text("communicator", scratch_));
    if (!communicator.name.empty())
      list_.push_back(Argument::Text("communicator name", communicator.name));
    if (communicator.size) list_.push_back(Argument::Count("ranks", *communicator.size));
  }
  const std::uint32_t plan = calls.plan[row];
  if (plan == kNone) return;
  const CollectivePlans& plans = rank_.plans;
  if (plans.sequence[plan] >= 0) list_.push_back(Argument::Count("sequence", plans.sequence[plan]));
  if (plans.algorithm[plan] != kNone)
    list_.push_back(Argument::Text("algorithm", rank_.string(plans.algorithm[plan])));
  if (plans.protocol[plan] != kNone)
    list_.push_back(Argument::Text("protocol", rank_.string(plans.protocol[plan])));
  if (plans.channels[plan] >= 0) list_.push_back(Argument::Count("channels", plans.channels[plan]));
}

void HostArguments::OfGemm(std::uint32_t row) {
  const GemmShape& shape = rank_.gemm_shapes[rank_.gemms.shape[row]];
  list_.push_back(Argument::Count("m", shape.m));
  list_.push_back(Argument::Count("n", shape.n));
  list_.push_back(Argument::Count("k", shape.k));
  list_.push_back(Argument::Count("batch", shape.batch));
  scratch_ = fmt::format("{} x {} = {}", DataTypeName(shape.type_a), DataTypeName(shape.type_b),
                         DataTypeName(shape.type_c));
  list_.push_back(Argument::Text("types", scratch_));
}

void HostArguments::OfAttention(std::uint32_t row) {
  const AttentionShape& shape = rank_.attention_shapes[rank_.attentions.shape[row]];
  struct Figure {
    std::string_view key;
    std::int64_t value;
  };
  for (const Figure& figure :
       {Figure{"batch", shape.batch}, Figure{"heads", shape.heads},
        Figure{"kv heads", shape.kv_heads}, Figure{"query length", shape.query_length},
        Figure{"key length", shape.key_length}, Figure{"head size", shape.head_size},
        Figure{"causal", shape.causal}}) {
    if (figure.value >= 0) list_.push_back(Argument::Count(figure.key, figure.value));
  }
}

GpuArguments::GpuArguments(const Rank& rank, const Device& device) : rank_(rank), device_(device) {
  if (rank.collectives.size() == 0) return;
  for (const NcclLaunch& launch : LinkNccl(rank, device).launches) {
    if (launch.first_op == kNone) continue;
    if (auto nccl = KinetoNcclOf(rank, launch)) nccl_.emplace(launch.first_op, std::move(*nccl));
  }
}

const std::vector<Argument>& GpuArguments::Of(std::size_t row) {
  list_.clear();
  const GpuOps& ops = device_.ops;
  const Stream& stream = rank_.streams[ops.stream[row]];
  list_.push_back(Argument::Count("device", device_.ordinal));
  list_.push_back(Argument::Count("context", stream.context));
  list_.push_back(Argument::Count("stream", stream.stream_id));
  list_.push_back(Argument::Count("correlation", static_cast<std::int64_t>(ops.correlation[row])));
  if (ops.kind[row] == OpKind::kKernel) {
    OfKernel(row);
  } else {
    const Transfer& transfer = rank_.transfers[ops.detail[row]];
    const TimeNs length = ops.end[row] - ops.start[row];
    list_.push_back(Argument::Count("bytes", transfer.bytes));
    if (length > 0)
      list_.push_back(
          Argument::Real("memory bandwidth (GB/s)",
                         static_cast<double>(transfer.bytes) / static_cast<double>(length)));
    if (transfer.src_device >= 0)
      list_.push_back(Argument::Count("fromDevice", transfer.src_device));
    if (transfer.dst_device >= 0) list_.push_back(Argument::Count("toDevice", transfer.dst_device));
  }
  const std::uint32_t node = ops.graph_node[row];
  if (node != kNone) {
    list_.push_back(Argument::Count("graph id", rank_.graph_nodes[node].graph_id));
    list_.push_back(Argument::Count("graph node id",
                                    static_cast<std::int64_t>(rank_.graph_nodes[node].node_id)));
  }
  OfNccl(row);
  return list_;
}

void GpuArguments::OfKernel(std::size_t row) {
  const std::uint32_t index = device_.ops.detail[row];
  const KernelShape& shape = rank_.shapes[index];
  const ShapeText& text = TextOf(index);
  list_.push_back(Argument::Count("registers per thread", shape.registers));
  list_.push_back(
      Argument::Count("shared memory", shape.static_shared_bytes + shape.dynamic_shared_bytes));
  list_.push_back(Argument::List("grid", text.grid));
  list_.push_back(Argument::List("block", text.block));
  list_.push_back(Argument::Text("class", KernelClassName(device_.ops.kernel_class[row])));
}

void GpuArguments::OfNccl(std::size_t row) {
  if (nccl_.empty()) return;
  const auto found = nccl_.find(row);
  if (found == nccl_.end()) return;
  const KinetoNccl& nccl = found->second;
  list_.push_back(Argument::Text("Collective name", nccl.collective));
  list_.push_back(Argument::Count("In msg nelems", nccl.in_elements));
  list_.push_back(Argument::Count("Out msg nelems", nccl.out_elements));
  if (nccl.group_size) list_.push_back(Argument::Count("Group size", *nccl.group_size));
  list_.push_back(Argument::Text("dtype", nccl.dtype));
  if (!nccl.group_name.empty())
    list_.push_back(Argument::Text("Process Group Name", nccl.group_name));
}

const GpuArguments::ShapeText& GpuArguments::TextOf(std::uint32_t shape) {
  const auto [entry, is_new] = shapes_.try_emplace(shape);
  if (is_new) entry->second = {ListOf(rank_.shapes[shape].grid), ListOf(rank_.shapes[shape].block)};
  return entry->second;
}

}  // namespace traceinject
