// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/links.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "analyzer/metrics/links/match_collectives.h"

namespace traceinject {
namespace {

// Rows of the operations that have a launch, by (launch, start): a counting sort, since operations
// are sorted by start already.
PackedColumn<std::uint32_t> SortByLaunch(const GpuOps& ops, std::size_t calls) {
  std::vector<std::uint32_t> place(calls + 1, 0);
  for (const std::uint32_t launch : ops.launch) {
    if (launch < calls) ++place[launch + 1];
  }
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<std::uint32_t> sorted(place.back());
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.launch[op] < calls) sorted[place[ops.launch[op]]++] = op;
  }
  PackedColumn<std::uint32_t> packed;
  packed.Append(sorted);
  return packed;
}

template <typename Item, typename Key>
void SortBy(std::vector<Item>& items, Key key) {
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) { return key(a) < key(b); });
}

// Of the items whose key is `wanted`, in a column sorted by it, the first place and one past the
// last.
template <typename Column, typename Key, typename Wanted>
std::pair<std::size_t, std::size_t> Equal(const Column& column, const Wanted& wanted, Key key) {
  const auto first_that_is_not = [&](std::size_t low, auto before) {
    for (std::size_t high = column.size(); low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      if (before(key(column[middle]))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const std::size_t first = first_that_is_not(0, [&](const auto& value) { return value < wanted; });
  return {first, first_that_is_not(first, [&](const auto& value) { return !(wanted < value); })};
}

}  // namespace

Links::Links(const Run& run) : run_(&run) {
  IndexLaunched();
  IndexCollectives();
}

Links::Links(const Run& run, const RowModel& model) : Links(run) { IndexRows(model); }

std::array<std::uint32_t, 4> Links::KeyOf(const Row& row) {
  const bool on_gpu = row.kind == RowKind::kStream;
  return {static_cast<std::uint32_t>(row.kind), row.rank, on_gpu ? row.device : 0,
          on_gpu ? row.stream : row.thread};
}

void Links::IndexRows(const RowModel& model) {
  model_ = &model;
  rows_.clear();
  for (std::uint32_t row = 0; row < model_->rows.size(); ++row) {
    rows_.push_back({KeyOf(model_->rows[row]), row});
  }
  SortBy(rows_, [](const RowKey& row) { return row.parts; });
}

void Links::IndexLaunched() {
  for (const Rank& rank : run_->ranks) {
    auto& devices = launched_.emplace_back();
    for (const Device& device : rank.devices) {
      devices.push_back(SortByLaunch(device.ops, rank.api.size()));
    }
  }
}

void Links::IndexCollectives() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // rank, device
  std::vector<NcclLinks> links;
  for (std::uint32_t rank = 0; rank < run_->ranks.size(); ++rank) {
    const std::vector<Device>& devices = run_->ranks[rank].devices;
    for (std::uint32_t device = 0; device < devices.size(); ++device) {
      if (devices[device].ops.size() == 0) continue;
      places.emplace_back(rank, device);
      links.push_back(LinkNccl(run_->ranks[rank], devices[device]));
    }
  }
  std::vector<NcclMember> members;
  std::vector<Launches> launches(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    members.push_back({&run_->ranks[places[i].first], &links[i]});
    for (const NcclLaunch& launch : links[i].launches) {
      launches[i].push_back(
          {places[i].first, places[i].second, launch.first_op, launch.first_call, kNone});
    }
  }
  std::uint32_t number = 0;
  for (const SameOperation& operation : MatchOperations(members)) {
    for (const MemberLaunch& one : operation) {
      Launch& launch = launches[one.member][one.launch];
      launch.operation = number;
    }
    ++number;
  }
  for (Launches& of_device : launches) {
    by_kernel_.insert(by_kernel_.end(), of_device.begin(), of_device.end());
    of_device = {};
  }
  SortBy(by_kernel_, [](const Launch& l) { return std::tuple(l.rank, l.device, l.kernel); });
  for (std::uint32_t i = 0; i < by_kernel_.size(); ++i) {
    if (by_kernel_[i].call != kNone) by_call_.push_back(i);
    if (by_kernel_[i].operation != kNone) by_operation_.push_back(i);
  }
  SortBy(by_call_, [this](std::uint32_t i) { return CallOf(by_kernel_[i]); });
  // Of one operation they stay in the order of ranks.
  SortBy(by_operation_, [this](std::uint32_t i) { return by_kernel_[i].operation; });
}

// The event of a row that starts at a time and comes from a row of the model's columns.
void Links::AddEvent(RowKind kind, std::uint32_t rank, std::uint32_t group, std::uint32_t member,
                     TimeNs start_ns, std::uint32_t source, std::vector<EventRef>& events) const {
  const std::array<std::uint32_t, 4> wanted = {static_cast<std::uint32_t>(kind), rank, group,
                                               member};
  const auto [first, last] = Equal(rows_, wanted, [](const RowKey& row) { return row.parts; });
  if (first == last) return;
  const std::uint32_t row = rows_[first].row;
  const std::vector<Lane>& lanes = model_->rows[row].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    for (std::size_t event = lanes[lane].FirstEndingAfter(start_ns);
         event < lanes[lane].size() && lanes[lane].start(event) <= start_ns; ++event) {
      if (lanes[lane].source(event) != source || lanes[lane].start(event) != start_ns) continue;
      events.push_back({row, lane, static_cast<std::uint32_t>(event)});
      return;
    }
  }
}

void Links::AddOp(std::uint32_t rank, std::uint32_t device, std::uint32_t op,
                  std::vector<EventRef>& events) const {
  const GpuOps& ops = run_->ranks[rank].devices[device].ops;
  AddEvent(RowKind::kStream, rank, device, ops.stream[op], ops.start[op], op, events);
}

void Links::AddApiCall(std::uint32_t rank, std::uint32_t call,
                       std::vector<EventRef>& events) const {
  const ApiCalls& api = run_->ranks[rank].api;
  AddEvent(RowKind::kCalls, rank, 0, api.thread[call], api.start[call], call, events);
}

void Links::AddCollectiveCall(std::uint32_t rank, std::uint32_t call,
                              std::vector<EventRef>& events) const {
  const Collectives& all = run_->ranks[rank].collectives;
  AddEvent(RowKind::kCollectives, rank, 0, all.thread[call], all.start[call], call, events);
}

void Links::AddLaunchedBy(std::uint32_t rank, std::uint32_t call, LinkedEvents& linked) const {
  struct Op {
    TimeNs start = 0;
    std::uint32_t device = 0, op = 0;
  };
  std::vector<Op> all;
  for (std::uint32_t device = 0; device < launched_[rank].size(); ++device) {
    const GpuOps& ops = run_->ranks[rank].devices[device].ops;
    const PackedColumn<std::uint32_t>& sorted = launched_[rank][device];
    const auto [first, last] =
        Equal(sorted, call, [&](std::uint32_t op) { return ops.launch[op]; });
    // By start within a device, so that no more of each can be among the first of all.
    for (std::size_t i = first; i < std::min(last, first + kMaxEffects); ++i) {
      all.push_back({ops.start[sorted[i]], device, sorted[i]});
    }
    linked.effects_left_out += last - first;
  }
  SortBy(all, [](const Op& op) { return op.start; });
  if (all.size() > kMaxEffects) all.resize(kMaxEffects);
  linked.effects_left_out -= all.size();
  for (const Op& op : all) AddOp(rank, op.device, op.op, linked.effects);
}

template <typename AddPeer>
void Links::AddPeers(const Launch& launch, AddPeer add) const {
  if (launch.operation == kNone) return;
  const auto [first, last] = Equal(by_operation_, launch.operation, [this](std::uint32_t other) {
    return by_kernel_[other].operation;
  });
  for (std::size_t i = first; i < last; ++i) {
    const Launch& peer = by_kernel_[by_operation_[i]];
    if (peer.rank != launch.rank || peer.device != launch.device) add(peer);
  }
}

LinkedEvents Links::Of(const EventRef& ref) const {
  LinkedEvents linked;
  if (run_ == nullptr || model_ == nullptr) return linked;
  const Row& row = model_->rows[ref.row];
  const std::uint32_t source = model_->lane(ref).source(ref.event);
  if (row.kind == RowKind::kDevice || row.kind == RowKind::kStream) {
    const std::uint32_t call = run_->ranks[row.rank].devices[row.device].ops.launch[source];
    if (call != kNone) AddApiCall(row.rank, call, linked.causes);
    const auto [first, last] =
        Equal(by_kernel_, std::tuple(row.rank, row.device, source),
              [](const Launch& l) { return std::tuple(l.rank, l.device, l.kernel); });
    if (first == last) return linked;
    const Launch& launch = by_kernel_[first];
    if (launch.call != kNone) AddCollectiveCall(row.rank, launch.call, linked.causes);
    AddPeers(launch,
             [&](const Launch& peer) { AddOp(peer.rank, peer.device, peer.kernel, linked.peers); });
  } else if (row.kind == RowKind::kCalls) {
    AddLaunchedBy(row.rank, source, linked);
  } else if (row.kind == RowKind::kCollectives) {
    const auto [first, last] = Equal(by_call_, std::tuple(row.rank, source),
                                     [this](std::uint32_t i) { return CallOf(by_kernel_[i]); });
    for (std::size_t i = first; i < last; ++i) {
      const Launch& launch = by_kernel_[by_call_[i]];
      AddOp(row.rank, launch.device, launch.kernel, linked.effects);
      AddPeers(launch, [&](const Launch& peer) {
        if (peer.call != kNone) AddCollectiveCall(peer.rank, peer.call, linked.peers);
      });
    }
  }
  return linked;
}

}  // namespace traceinject
