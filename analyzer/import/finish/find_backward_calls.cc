// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/find_backward_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/model/calls/attention_links.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {
namespace {

constexpr int kTorch = 1;  // attention_shape.library

bool IsTold(const Rank& rank) {
  const Attentions& calls = rank.attentions;
  for (std::size_t row = 0; row < calls.size(); ++row) {
    if (calls.backward[row] != 0 && rank.attention_shapes[calls.shape[row]].library == kTorch)
      return true;
  }
  return false;
}

// A forward call, or a kernel of none; or the launch of a kernel of the backward.
struct Event {
  TimeNs time = 0;
  std::uint32_t row = kNone;     // of the forward call
  std::uint32_t launch = kNone;  // of a kernel of the backward
  std::uint32_t name = kNone;    // of that kernel
};

class Search {
 public:
  explicit Search(Rank& rank) : rank_(rank), links_(rank), products_(rank.threads.size()) {
    for (std::size_t row = 0; row < rank.gemms.size(); ++row)
      products_[rank.gemms.thread[row]].push_back(rank.gemms.start[row]);
  }

  // Of all devices; the rows to be added.
  Attentions Find() {
    std::vector<std::vector<Event>> events;
    std::vector<bool> placed(rank_.attentions.size(), false);
    for (const Device& device : rank_.devices) events.push_back(KernelsOf(device, placed));
    // Their kernels are lost or come from a graph; on which GPU is known where there is one.
    for (std::uint32_t row = 0; row < placed.size() && events.size() == 1; ++row) {
      if (!placed[row]) AddForward(row, events.front());
    }
    for (std::vector<Event>& of_device : events) {
      std::sort(of_device.begin(), of_device.end(), [](const Event& a, const Event& b) {
        return std::tie(a.time, a.launch) < std::tie(b.time, b.launch);
      });
      Match(of_device);
    }
    return std::move(found_);
  }

 private:
  // The kernels of the backward that the thread launches for one node.
  struct Group {
    TimeNs last = 0;                // launch
    std::set<std::uint32_t> names;  // each comes once
  };

  std::vector<Event> KernelsOf(const Device& device, std::vector<bool>& placed) {
    std::vector<Event> events;
    const GpuOps& ops = device.ops;
    for (std::size_t op = 0; op < ops.size(); ++op) {
      const KernelClass kernel_class = ops.kernel_class[op];
      const std::uint32_t launch = ops.launch[op];
      if (launch == kNone || ops.kind[op] != OpKind::kKernel || !IsLaunch(launch)) continue;
      const std::uint32_t row = links_.Of(launch, kernel_class);
      if (row != kNone && !placed[row]) {
        placed[row] = true;
        AddForward(row, events);
      }
      if (row != kNone || !AttentionLinks::IsAttention(kernel_class)) continue;
      Event event{rank_.api.start[launch], kNone, kNone, kNone};
      if (kernel_class == KernelClass::kAttentionBackward) {
        event.launch = launch;
        event.name = rank_.shapes[ops.detail[op]].name;
      }
      events.push_back(event);
    }
    return events;
  }

  // Not what came from a graph: its kernels were not launched when the backward was made.
  bool IsLaunch(std::uint32_t launch) const {
    return rank_.api_names[rank_.api.name[launch]].api_class == ApiClass::kLaunch;
  }

  void AddForward(std::uint32_t row, std::vector<Event>& events) const {
    const Attentions& calls = rank_.attentions;
    if (calls.backward[row] != 0 || calls.gradient[row] != 1 || links_.by_products(row) ||
        rank_.attention_shapes[calls.shape[row]].library != kTorch)
      return;
    events.push_back({calls.start[row], row, kNone, kNone});
  }

  void Match(const std::vector<Event>& events) {
    std::vector<std::uint32_t> open;  // forward calls without a backward, the latest last
    std::map<std::uint32_t, Group> groups;
    for (const Event& event : events) {
      if (event.launch == kNone) {
        open.push_back(event.row);
        continue;
      }
      Group& group = groups[rank_.api.thread[event.launch]];
      const bool goes_on = !group.names.empty() && !group.names.contains(event.name) &&
                           !HasProduct(event.launch, group.last, event.time);
      if (!goes_on) {
        group.names.clear();
        if (!open.empty()) {
          if (open.back() != kNone) AddBackward(open.back(), event);
          open.pop_back();
        }
      }
      group.names.insert(event.name);
      group.last = event.time;
    }
  }

  // Whether the thread of the launch asked for a product in (from, to).
  bool HasProduct(std::uint32_t launch, TimeNs from, TimeNs to) const {
    const std::vector<TimeNs>& products = products_[rank_.api.thread[launch]];
    const auto next = std::upper_bound(products.begin(), products.end(), from);
    return next != products.end() && *next < to;
  }

  void AddBackward(std::uint32_t forward, const Event& event) {
    found_.start.push_back(event.time);
    found_.end.push_back(kOpen);
    found_.thread.push_back(rank_.api.thread[event.launch]);
    found_.shape.push_back(rank_.attentions.shape[forward]);
    found_.backward.push_back(1);
    found_.gradient.push_back(-1);
  }

  const Rank& rank_;
  const AttentionLinks links_;
  std::vector<std::vector<TimeNs>> products_;  // by thread
  Attentions found_;
};

template <typename Column>
void Append(Column& to, const Column& from) {
  for (const auto value : from) to.push_back(value);
}

}  // namespace

void FindBackwardCalls(Rank& rank) {
  Attentions& calls = rank.attentions;
  if (calls.size() == 0 || IsTold(rank)) return;
  const Attentions found = Search(rank).Find();
  Append(calls.start, found.start);
  Append(calls.end, found.end);
  Append(calls.thread, found.thread);
  Append(calls.shape, found.shape);
  Append(calls.backward, found.backward);
  Append(calls.gradient, found.gradient);
  ApplyOrder(SortedOrder(calls.start, calls.end), calls.start, calls.end, calls.thread, calls.shape,
             calls.backward, calls.gradient);
}

}  // namespace traceinject
