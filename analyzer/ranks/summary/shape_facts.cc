// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/shape_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/kernel_places.h"
#include "analyzer/model/calls/library_calls.h"
#include "analyzer/ranks/summary/line_facts.h"

namespace traceinject {
namespace {

// What one thread launched of a shape. Stacks are counted by thread, as those of autograd run no
// Python.
struct ThreadLaunches {
  std::int64_t count = 0, stacks = 0;
  TimeNs total_ns = 0;
  // Stacks by place of Rank::places, and module (of Rank::strings) in whose call they are.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> places;
};

using ShapeKey = std::pair<std::uint32_t, WorkShape>;  // index into the kernels

WorkShape ShapeOfOperation(const Rank& rank, const GpuOps& ops, std::size_t row,
                           const LibraryCalls& calls) {
  WorkShape shape;
  const std::uint32_t product = calls.ProductOf(ops.launch[row]);
  if (product != kNone) {
    const GemmShape& gemm = rank.gemm_shapes[rank.gemms.shape[product]];
    shape.product = {gemm.m, gemm.n, gemm.k, gemm.batch};
    return shape;
  }
  const KernelShape& launched = rank.shapes[ops.detail[row]];
  std::copy(std::begin(launched.grid), std::end(launched.grid), shape.launch.begin());
  std::copy(std::begin(launched.block), std::end(launched.block), shape.launch.begin() + 3);
  return shape;
}

class ShapeCounter {
 public:
  ShapeCounter(const DeviceAnalysis& found, const std::vector<KernelFacts>& kernels)
      : rank_(*found.rank),
        ops_(found.device->ops),
        sites_(rank_),
        modules_(rank_, SiteFrame::kModule),
        stacks_(StacksOfLaunches(rank_)),
        calls_(rank_) {
    std::unordered_map<std::string_view, std::uint32_t> by_text;
    for (std::uint32_t i = 0; i < kernels.size(); ++i) by_text.emplace(kernels[i].name, i);
    for (std::uint32_t id = 0; id < rank_.strings.size(); ++id) {
      const auto kernel = by_text.find(rank_.strings[id]);
      if (kernel != by_text.end()) kernel_of_name_.emplace(id, kernel->second);
    }
  }

  void Count(const Intervals& times) {
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.kind[row] != OpKind::kKernel || ops_.kernel_class[row] == KernelClass::kComm ||
          !Contains(times, ops_.start[row]))
        continue;
      const auto kernel = kernel_of_name_.find(rank_.shapes[ops_.detail[row]].name);
      if (kernel != kernel_of_name_.end()) CountOne(kernel->second, row);
    }
  }

  // Of all kernels, the shapes with most of the time.
  void Hand(std::vector<KernelFacts>& kernels) const {
    std::vector<std::pair<TimeNs, const ShapeKey*>> order;
    for (const auto& [key, threads] : launches_) {
      TimeNs total = 0;
      for (const auto& [thread, launches] : threads) total += launches.total_ns;
      order.emplace_back(total, &key);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (order.size() > kMaxShapeFacts) order.resize(kMaxShapeFacts);
    for (const auto& [total, key] : order)
      kernels[key->first].shapes.push_back(FactsOf(key->second, launches_.at(*key)));
  }

 private:
  using ByThread = std::map<std::uint32_t, ThreadLaunches>;

  void CountOne(std::uint32_t kernel, std::size_t row) {
    const std::uint32_t launch = ops_.launch[row];
    ThreadLaunches& launches = launches_[{kernel, ShapeOfOperation(rank_, ops_, row, calls_)}]
                                        [launch == kNone ? kNone : rank_.api.thread[launch]];
    ++launches.count;
    launches.total_ns += ops_.end[row] - ops_.start[row];
    const auto stack = stacks_.find(ops_.correlation[row]);
    if (stack == stacks_.end()) return;
    ++launches.stacks;
    ++launches.places[{sites_.Of(stack->second).place, modules_.Of(stack->second).module}];
  }

  ShapeFacts FactsOf(const WorkShape& shape, const ByThread& threads) const {
    ShapeFacts facts;
    facts.shape = shape;
    std::map<std::string, double> lines;
    for (const auto& [thread, launches] : threads) {
      facts.count += launches.count;
      facts.total_ns += launches.total_ns;
      for (const auto& [at, stacks] : launches.places) {
        if (at.first == kNone) continue;
        lines[TextOf(at.first, at.second)] += static_cast<double>(launches.total_ns) *
                                              static_cast<double>(stacks) /
                                              static_cast<double>(launches.stacks);
      }
    }
    facts.lines = LinesOf(lines, kMaxLines);
    return facts;
  }

  // "model.py:41 in forward (GPT.h.*.attn)".
  std::string TextOf(std::uint32_t place, std::uint32_t module) const {
    const std::string text = PlaceText(rank_, place);
    if (module == kNone) return text;
    return fmt::format("{} ({})", text, WithoutNumbers(rank_.string(module)));
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const CodeSites sites_, modules_;
  const std::unordered_map<std::uint64_t, std::uint32_t> stacks_;
  const LibraryCalls calls_;
  std::unordered_map<std::uint32_t, std::uint32_t> kernel_of_name_;
  std::map<ShapeKey, ByThread> launches_;
};

}  // namespace

void AddShapes(const DeviceAnalysis& found, RankSummary& to) {
  if (to.kernels.empty()) return;  // there are no regular steps
  ShapeCounter counter(found, to.kernels);
  counter.Count(found.steps.regular_times());
  counter.Hand(to.kernels);
}

}  // namespace traceinject
