// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/data_parallel.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace traceinject {
namespace {

// Fewer may belong to the beginning of a program.
constexpr std::int64_t kMin = 3;

enum class Kind : std::uint8_t { kNone, kBroadcast, kReduction, kOtherCollective };

// "ncclDevKernel_Broadcast_RING_LL(...)", "ncclKernel_Reduce_RING_LL_Sum_float(...)".
Kind KindOf(std::string_view name) {
  for (const std::string_view prefix : {"ncclDevKernel_", "ncclKernel_"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.starts_with("Broadcast_")) return Kind::kBroadcast;
    return name.starts_with("Reduce_") ? Kind::kReduction : Kind::kOtherCollective;
  }
  return Kind::kNone;
}

}  // namespace

std::optional<DataParallel> FindDataParallel(const Rank& rank) {
  const auto working = std::count_if(rank.devices.begin(), rank.devices.end(),
                                     [](const Device& device) { return device.ops.size() > 0; });
  if (working < 2) return std::nullopt;
  std::vector<Kind> kinds;
  for (const KernelShape& shape : rank.shapes) kinds.push_back(KindOf(rank.string(shape.name)));
  DataParallel found;
  for (const Device& device : rank.devices) {
    if (device.ops.size() == 0) continue;
    DataParallel here;
    for (std::size_t i = 0; i < device.ops.size(); ++i) {
      if (device.ops.kind[i] != OpKind::kKernel) continue;
      const Kind kind = kinds[device.ops.detail[i]];
      if (kind == Kind::kOtherCollective) return std::nullopt;
      here.broadcasts += kind == Kind::kBroadcast;
      here.reductions += kind == Kind::kReduction;
    }
    const bool first = found.gpus++ == 0;
    found.broadcasts = first ? here.broadcasts : std::min(found.broadcasts, here.broadcasts);
    found.reductions = first ? here.reductions : std::min(found.reductions, here.reductions);
  }
  if (found.broadcasts < kMin) return std::nullopt;
  return found;
}

}  // namespace traceinject
