// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/foreign/foreign_process.h"

#include <algorithm>

#include "analyzer/model/api_class.h"
#include "analyzer/model/demangle.h"
#include "analyzer/model/for_each_value.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

constexpr std::int64_t kHighestDevice = 1023;

// cudaLaunchKernel of cudaLaunchKernel_v7000.
std::string_view WithoutVersion(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return name;
  const std::string_view head = name.substr(0, last + 1);
  // A short one is part of the name: cuMemcpyDtoHAsync_v2.
  return head.ends_with("_v") && name.size() - head.size() >= 4 ? head.substr(0, head.size() - 2)
                                                                : name;
}

template <typename Map, typename Key>
std::pair<std::uint32_t, bool> Entry(Map& map, const Key& key, std::size_t next) {
  const auto [entry, is_new] = map.try_emplace(key, static_cast<std::uint32_t>(next));
  return {entry->second, is_new};
}

}  // namespace

std::uint32_t ForeignProcess::StringIndex(std::string_view text) {
  const auto [index, is_new] = Entry(strings_by_text_, std::string(text), rank_.strings.size());
  if (is_new) rank_.strings.emplace_back(text);
  return index;
}

std::uint32_t ForeignProcess::StringIndex(std::int64_t id) {
  if (const auto known = strings_by_id_.find(id); known != strings_by_id_.end())
    return known->second;
  const std::string* text = strings_->Find(id);
  if (text == nullptr) return kNone;
  return strings_by_id_[id] = StringIndex(*text);
}

std::uint32_t ForeignProcess::ThreadIndex(std::int64_t tid) {
  const auto [index, is_new] = Entry(threads_, tid, rank_.threads.size());
  if (is_new) rank_.threads.push_back({tid, ""});
  return index;
}

std::uint32_t ForeignProcess::DomainIndex(std::int64_t id, std::string_view name) {
  const auto [index, is_new] = Entry(domains_, id, rank_.nvtx_domains.size());
  if (is_new) rank_.nvtx_domains.emplace_back(name);
  return index;
}

std::uint32_t ForeignProcess::EventNumber(std::int64_t context, std::int64_t event) {
  return Entry(events_, std::pair(context, event), events_.size()).first;
}

Device& ForeignProcess::DeviceOf(int ordinal) {
  const auto found = std::find_if(rank_.devices.begin(), rank_.devices.end(),
                                  [&](const Device& each) { return each.ordinal == ordinal; });
  if (found != rank_.devices.end()) return *found;
  rank_.devices.emplace_back().ordinal = ordinal;
  return rank_.devices.back();
}

std::uint32_t ForeignProcess::StreamIndex(std::int64_t device, std::int64_t context,
                                          std::int64_t stream) {
  if (device < 0 || device > kHighestDevice || context < 0 || context >= kNone || stream < 0 ||
      stream >= kNone)
    return kNone;
  const auto [index, is_new] =
      Entry(streams_, std::array{device, context, stream}, rank_.streams.size());
  if (is_new)
    rank_.streams.push_back({static_cast<int>(device), static_cast<std::uint32_t>(context),
                             static_cast<std::uint32_t>(stream)});
  return index;
}

GpuOps* ForeignProcess::Begin(const ForeignOperation& operation) {
  const std::uint32_t stream = StreamIndex(operation.device, operation.context, operation.stream);
  if (stream == kNone) return nullptr;
  GpuOps& ops = DeviceOf(static_cast<int>(operation.device)).ops;
  ops.start.push_back(operation.start);
  ops.end.push_back(operation.end);
  ops.stream.push_back(stream);
  ops.correlation.push_back(operation.correlation);
  std::uint32_t node = kNone;
  if (operation.graph_node != 0) {
    const auto [index, is_new] = Entry(
        graph_nodes_, std::pair(operation.graph, operation.graph_node), rank_.graph_nodes.size());
    if (is_new) rank_.graph_nodes.push_back({operation.graph, operation.graph_node});
    node = index;
  }
  ops.graph_node.push_back(node);
  return &ops;
}

ForeignProcess::KernelName ForeignProcess::KernelNameOf(std::int64_t name_id) {
  const auto [entry, is_new] = kernel_names_.try_emplace(name_id);
  if (!is_new) return entry->second;
  if (const std::string* text = strings_->Find(name_id)) {
    const std::string readable = Demangle(*text);
    entry->second = {StringIndex(readable), ClassifyKernel(readable)};
  }
  return entry->second;
}

std::uint32_t ForeignProcess::ShapeIndex(const KernelShape& shape) {
  const ShapeKey key = {shape.name,
                        shape.grid[0],
                        shape.grid[1],
                        shape.grid[2],
                        shape.block[0],
                        shape.block[1],
                        shape.block[2],
                        shape.cluster[0],
                        shape.cluster[1],
                        shape.cluster[2],
                        shape.registers,
                        shape.static_shared_bytes,
                        shape.dynamic_shared_bytes,
                        shape.local_bytes};
  const auto [index, is_new] = Entry(shapes_, key, rank_.shapes.size());
  if (is_new) rank_.shapes.push_back(shape);
  return index;
}

bool ForeignProcess::AddKernel(const ForeignOperation& operation, KernelShape shape,
                               std::int64_t name_id) {
  GpuOps* ops = Begin(operation);
  if (ops == nullptr) return false;
  const KernelName name = KernelNameOf(name_id);
  shape.name = name.text;
  shape.kernel_class = name.kernel_class;
  ops->kind.push_back(OpKind::kKernel);
  ops->kernel_class.push_back(name.kernel_class);
  ops->detail.push_back(ShapeIndex(shape));
  return true;
}

bool ForeignProcess::AddKernel(const ForeignOperation& operation, std::string_view name) {
  GpuOps* ops = Begin(operation);
  if (ops == nullptr) return false;
  KernelShape shape;
  shape.name = StringIndex(name);
  ops->kind.push_back(OpKind::kKernel);
  ops->kernel_class.push_back(KernelClass::kOther);
  ops->detail.push_back(ShapeIndex(shape));
  return true;
}

bool ForeignProcess::AddTransfer(const ForeignOperation& operation, OpKind kind,
                                 const Transfer& transfer) {
  GpuOps* ops = Begin(operation);
  if (ops == nullptr) return false;
  ops->kind.push_back(kind);
  ops->kernel_class.push_back(kind == OpKind::kMemcpy ? KernelClass::kMemcpy
                                                      : KernelClass::kMemset);
  ops->detail.push_back(static_cast<std::uint32_t>(rank_.transfers.size()));
  rank_.transfers.push_back(transfer);
  return true;
}

void ForeignProcess::AddApi(TimeNs start, TimeNs end, std::int64_t tid, std::int64_t name_id,
                            std::string_view name, std::uint64_t correlation, std::int32_t result) {
  const auto [entry, is_new] = api_names_.try_emplace(name_id);
  if (is_new) entry->second = ApiNameIndex(WithoutVersion(name));
  ApiCalls& api = rank_.api;
  api.start.push_back(start);
  api.end.push_back(end);
  api.thread.push_back(ThreadIndex(tid));
  api.name.push_back(entry->second);
  api.correlation.push_back(correlation);
  api.result.push_back(result);
}

std::uint32_t ForeignProcess::ApiNameIndex(std::string_view name) {
  const auto [index, is_new] = Entry(api_names_by_text_, std::string(name), rank_.api_names.size());
  if (is_new) rank_.api_names.push_back({DomainOfApi(name), ClassifyApi(name), std::string(name)});
  return index;
}

std::uint32_t ForeignProcess::FindApi(std::uint64_t correlation) {
  if (correlation == 0) return kNone;
  if (calls_by_id_.empty()) {
    ForEachValue(rank_.api.correlation,
                 [&](std::uint32_t row, std::uint64_t id) { calls_by_id_.emplace_back(id, row); });
    std::sort(calls_by_id_.begin(), calls_by_id_.end());
  }
  const auto found = std::lower_bound(calls_by_id_.begin(), calls_by_id_.end(),
                                      std::pair(correlation, std::uint32_t{0}));
  return found != calls_by_id_.end() && found->first == correlation ? found->second : kNone;
}

bool ForeignProcess::IsAsync(std::uint64_t correlation) {
  const std::uint32_t call = FindApi(correlation);
  return call != kNone &&
         rank_.api_names[rank_.api.name[call]].name.find("Async") != std::string::npos;
}

}  // namespace traceinject
