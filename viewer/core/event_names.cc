// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/event_names.h"

#include <unordered_map>

#include "viewer/core/event_text.h"

namespace traceinject {

EventNames::EventNames(const Run& run, const RowModel& model, std::uint32_t row)
    : run_(run),
      model_(model),
      row_(model.rows[row]),
      rank_(run.ranks[row_.rank]),
      row_index_(row) {
  switch (row_.kind) {
    case RowKind::kDevice:
    case RowKind::kStream:
      AddOperationNames();
      break;
    case RowKind::kCalls:
      for (const ApiName& name : rank_.api_names) names_.push_back({name.name, name.name});
      break;
    case RowKind::kNvtx:
    case RowKind::kCollectives:
      for (const std::string& text : rank_.strings) names_.push_back({text, text});
      names_.push_back({});  // without text
      break;
    default:
      AddLabels();
      break;
  }
}

void EventNames::AddOperationNames() {
  const std::vector<std::string>& labels = model_.kernel_labels[row_.rank];
  for (std::size_t shape = 0; shape < labels.size(); ++shape) {
    names_.push_back({labels[shape], rank_.string(rank_.shapes[shape].name)});
  }
  copies_ = static_cast<std::uint32_t>(names_.size());
  for (unsigned kind = 0; kind < kCopyDirections; ++kind) {
    const std::string_view name = CopyDirectionName(static_cast<std::uint8_t>(kind));
    names_.push_back({name, name});
  }
  memset_ = static_cast<std::uint32_t>(names_.size());
  names_.push_back({kMemsetLabel, kMemsetLabel});
}

// What has no table of names has few events.
void EventNames::AddLabels() {
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (std::uint32_t lane = 0; lane < row_.lanes.size(); ++lane) {
    std::vector<std::uint32_t>& of_events = per_lane_.emplace_back();
    for (std::uint32_t event = 0; event < row_.lanes[lane].size(); ++event) {
      const std::string_view label = EventLabel(run_, model_, {row_index_, lane, event});
      const auto [found, is_new] = known.emplace(label, static_cast<std::uint32_t>(names_.size()));
      if (is_new) names_.push_back({label, label});
      of_events.push_back(found->second);
    }
  }
}

std::uint32_t EventNames::OfText(std::uint32_t text) const {
  return text == kNone ? static_cast<std::uint32_t>(rank_.strings.size()) : text;
}

std::uint32_t EventNames::Of(const EventRef& ref) const {
  if (!per_lane_.empty()) return per_lane_[ref.lane][ref.event];
  const std::uint32_t source = row_.lanes[ref.lane].source(ref.event);
  switch (row_.kind) {
    case RowKind::kCalls:
      return rank_.api.name[source];
    case RowKind::kNvtx:
      return OfText(rank_.nvtx.text[source]);
    case RowKind::kCollectives:
      return OfText(rank_.collectives.function[source]);
    default:
      break;
  }
  const GpuOps& ops = rank_.devices[row_.device].ops;
  switch (ops.kind[source]) {
    case OpKind::kKernel:
      return ops.detail[source];
    case OpKind::kMemcpy: {
      const std::uint8_t kind = rank_.transfers[ops.detail[source]].kind;
      return copies_ + (kind < kCopyDirections ? kind : 0);
    }
    case OpKind::kMemset:
      break;
  }
  return memset_;
}

}  // namespace traceinject
