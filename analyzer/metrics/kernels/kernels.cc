// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/kernels.h"

#include <algorithm>
#include <limits>

namespace traceinject {
namespace {

struct Sums {
  std::int64_t count = 0;
  TimeNs total_ns = 0, min_ns = std::numeric_limits<TimeNs>::max(), max_ns = 0;
};

bool SameLaunch(const KernelShape& a, const KernelShape& b) {
  return std::equal(a.grid, a.grid + 3, b.grid) && std::equal(a.block, a.block + 3, b.block) &&
         std::equal(a.cluster, a.cluster + 3, b.cluster) && a.registers == b.registers &&
         a.static_shared_bytes == b.static_shared_bytes &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

template <typename Stats>
bool MoreTime(const Stats& a, const Stats& b) {
  return a.total_ns > b.total_ns;
}

}  // namespace

void KernelCounter::Count(ByName& entry, const ByShape& of) {
  const auto same =
      std::find_if(entry.shapes.begin(), entry.shapes.end(),
                   [&](const ByShape& known) { return SameLaunch(known.shape, of.shape); });
  if (same != entry.shapes.end()) {
    same->count += of.count;
  } else {
    entry.shapes.push_back(of);
  }
}

void KernelCounter::Add(const Rank& rank, const Device& device, const OpRanges& ranges,
                        const KernelWorks& works) {
  const GpuOps& ops = device.ops;
  std::vector<Sums> by_shape(rank.shapes.size());
  for (const OpRange& range : ranges) {
    for (std::size_t row = range.begin; row < range.end; ++row) {
      if (ops.kind[row] != OpKind::kKernel) continue;
      Sums& sums = by_shape[ops.detail[row]];
      const TimeNs duration = ops.end[row] - ops.start[row];
      ++sums.count;
      sums.total_ns += duration;
      sums.min_ns = std::min(sums.min_ns, duration);
      sums.max_ns = std::max(sums.max_ns, duration);
    }
  }
  for (std::size_t i = 0; i < by_shape.size(); ++i) {
    const Sums& sums = by_shape[i];
    if (sums.count == 0) continue;
    const KernelShape& shape = rank.shapes[i];
    ByName& entry = names_[std::string(rank.string(shape.name))];
    KernelStats& stats = entry.stats;
    stats.kernel_class = shape.kernel_class;
    if (stats.count == 0) stats.traits = TraitsOf(rank.string(shape.name), shape.kernel_class);
    stats.min_ns = stats.count == 0 ? sums.min_ns : std::min(stats.min_ns, sums.min_ns);
    stats.max_ns = std::max(stats.max_ns, sums.max_ns);
    stats.count += sums.count;
    stats.total_ns += sums.total_ns;
    Count(entry, {shape, FitLaunch(shape, device), sums.count});
  }
  for (const auto& [name, work] : works) names_[std::string(rank.string(name))].stats.work += work;
}

void KernelCounter::Add(const KernelCounter& other) {
  for (const auto& [name, from] : other.names_) {
    ByName& entry = names_[name];
    KernelStats& stats = entry.stats;
    stats.kernel_class = from.stats.kernel_class;
    stats.traits = from.stats.traits;
    stats.min_ns = stats.count == 0 ? from.stats.min_ns : std::min(stats.min_ns, from.stats.min_ns);
    stats.max_ns = std::max(stats.max_ns, from.stats.max_ns);
    stats.count += from.stats.count;
    stats.total_ns += from.stats.total_ns;
    stats.work += from.stats.work;
    for (const ByShape& shape : from.shapes) Count(entry, shape);
  }
}

KernelTable KernelCounter::Finish() const {
  KernelTable table;
  std::vector<KernelClassStats> classes(static_cast<std::size_t>(KernelClass::kOther) + 1);
  for (const auto& [name, entry] : names_) {
    KernelStats stats = entry.stats;
    stats.name = name;
    const auto& most =
        *std::max_element(entry.shapes.begin(), entry.shapes.end(),
                          [](const ByShape& a, const ByShape& b) { return a.count < b.count; });
    stats.shape = most.shape;
    stats.shape_count = most.count;
    stats.fit = most.fit;
    table.count += stats.count;
    table.total_ns += stats.total_ns;
    KernelClassStats& by_class = classes[static_cast<std::size_t>(stats.kernel_class)];
    by_class.count += stats.count;
    by_class.total_ns += stats.total_ns;
    table.kernels.push_back(std::move(stats));
  }
  std::sort(table.kernels.begin(), table.kernels.end(),
            [](const KernelStats& a, const KernelStats& b) {
              return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
            });
  table.unclassified_ns = classes.back().total_ns;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    classes[i].kernel_class = static_cast<KernelClass>(i);
    if (classes[i].count > 0 || classes[i].kernel_class == KernelClass::kOther)
      table.classes.push_back(classes[i]);
  }
  std::stable_sort(table.classes.begin(), table.classes.end(), MoreTime<KernelClassStats>);
  return table;
}

}  // namespace traceinject
