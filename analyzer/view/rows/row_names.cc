// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_names.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "analyzer/view/rows/code_text.h"
#include "analyzer/view/rows/event_text.h"

namespace traceinject {

RowNames::RowNames(const Run& run, const RowModel& model, std::uint32_t row, const RowNames* known)
    : run_(run),
      model_(model),
      row_(model.rows[row]),
      rank_(run.ranks[row_.rank]),
      row_index_(row),
      table_(TableOf(row_.kind)) {
  if (known != nullptr && table_ != Table::kOwn && known->table_ == table_ &&
      &known->rank_ == &rank_) {
    names_ = known->names_;
    return;
  }
  std::vector<Name> names;
  switch (table_) {
    case Table::kOperations:
      names = OperationNames();
      break;
    case Table::kCalls:
      names = CallNames();
      break;
    case Table::kTexts:
      names = Texts();
      break;
    case Table::kPlaces:
      names = PlaceNames();
      break;
    case Table::kOwn:
      names = OwnLabels();
      break;
  }
  names_ = std::make_shared<const std::vector<Name>>(std::move(names));
}

RowNames::Table RowNames::TableOf(RowKind kind) {
  switch (kind) {
    case RowKind::kDevice:
    case RowKind::kStream:
      return Table::kOperations;
    case RowKind::kCalls:
      return Table::kCalls;
    case RowKind::kNvtx:
    case RowKind::kOperators:
    case RowKind::kCollectives:
      return Table::kTexts;
    case RowKind::kCode:
    case RowKind::kFrames:
      return Table::kPlaces;
    default:
      return Table::kOwn;
  }
}

// Kernels by shape, then copies by direction, then memsets.
std::vector<RowNames::Name> RowNames::OperationNames() const {
  std::vector<Name> names;
  const std::vector<std::string>& labels = model_.kernel_labels[row_.rank];
  for (std::size_t shape = 0; shape < labels.size(); ++shape) {
    names.push_back({labels[shape], rank_.string(rank_.shapes[shape].name)});
  }
  for (unsigned direction = 0; direction < kCopyDirections; ++direction) {
    const std::string_view name = CopyDirectionName(static_cast<std::uint8_t>(direction));
    names.push_back({name, name});
  }
  names.push_back({kMemsetLabel, kMemsetLabel});
  return names;
}

std::vector<RowNames::Name> RowNames::CallNames() const {
  std::vector<Name> names;
  for (const ApiName& name : rank_.api_names) names.push_back({name.name, name.name});
  return names;
}

std::vector<RowNames::Name> RowNames::Texts() const {
  std::vector<Name> names;
  for (const std::string& text : rank_.strings) names.push_back({text, text});
  names.push_back({});  // without text
  return names;
}

std::vector<RowNames::Name> RowNames::PlaceNames() const {
  std::vector<Name> names;
  const std::vector<std::string>& labels = model_.place_labels[row_.rank];
  for (std::size_t place = 0; place < labels.size(); ++place) {
    names.push_back({labels[place], rank_.string(rank_.places[place].file)});
  }
  return names;
}

// What has no table of names has few events.
std::vector<RowNames::Name> RowNames::OwnLabels() {
  std::vector<Name> names;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (std::uint32_t lane = 0; lane < row_.lanes.size(); ++lane) {
    std::vector<std::uint32_t>& of_events = per_lane_.emplace_back();
    for (std::uint32_t event = 0; event < row_.lanes[lane].size(); ++event) {
      const std::string_view label = EventLabel(run_, model_, {row_index_, lane, event});
      const auto [found, is_new] = numbers.emplace(label, static_cast<std::uint32_t>(names.size()));
      if (is_new) names.push_back({label, label});
      of_events.push_back(found->second);
    }
  }
  return names;
}

std::uint32_t RowNames::Of(const EventRef& ref) const {
  const std::uint32_t source = row_.lanes[ref.lane].source(ref.event);
  switch (table_) {
    case Table::kOperations:
      return OfOperation(source);
    case Table::kCalls:
      return rank_.api.name[source];
    case Table::kTexts: {
      const std::uint32_t text = row_.kind == RowKind::kNvtx ? rank_.nvtx.text[source]
                                 : row_.kind == RowKind::kOperators
                                     ? rank_.profiled.name[source]
                                     : rank_.collectives.function[source];
      return text == kNone ? static_cast<std::uint32_t>(rank_.strings.size()) : text;
    }
    case Table::kPlaces:
      return PlaceOf(run_, model_, ref);
    case Table::kOwn:
      break;
  }
  return per_lane_[ref.lane][ref.event];
}

std::uint32_t RowNames::OfOperation(std::uint32_t op) const {
  const GpuOps& ops = rank_.devices[row_.device].ops;
  const auto copies = static_cast<std::uint32_t>(rank_.shapes.size());
  switch (ops.kind[op]) {
    case OpKind::kKernel:
      return ops.detail[op];
    case OpKind::kMemcpy: {
      const std::uint8_t direction = rank_.transfers[ops.detail[op]].kind;
      return copies + (direction < kCopyDirections ? direction : 0);
    }
    case OpKind::kMemset:
      break;
  }
  return copies + kCopyDirections;
}

}  // namespace traceinject
