// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_choices.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

namespace traceinject {
namespace {

template <typename Rows>
std::vector<std::string> IdsOf(const RowModel& model, const Rows& rows) {
  std::vector<std::string> ids;
  for (const std::uint32_t row : rows) ids.push_back(model.rows[row].id);
  return ids;
}

std::set<std::uint32_t> Without(const std::set<std::uint32_t>& rows,
                                const std::set<std::uint32_t>& others) {
  std::set<std::uint32_t> left;
  std::set_difference(rows.begin(), rows.end(), others.begin(), others.end(),
                      std::inserter(left, left.end()));
  return left;
}

// Those of groups in which a row stands before one that was before it at first.
std::vector<std::uint32_t> Reordered(const RowModel& model,
                                     const std::vector<std::uint32_t>& order) {
  std::map<std::uint32_t, std::uint32_t> last;  // of each group
  std::set<std::uint32_t> groups;
  for (const std::uint32_t row : order) {
    const std::uint32_t group = model.rows[row].parent;
    const auto [before, first] = last.try_emplace(group, row);
    if (!first && row < before->second) groups.insert(group);
    before->second = row;
  }
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t row : order) {
    if (groups.contains(model.rows[row].parent)) rows.push_back(row);
  }
  return rows;
}

}  // namespace

RowChoices FirstChoices(const RowModel& model, const std::set<std::uint32_t>& open_ranks,
                        std::size_t most_open) {
  const auto is_rank = [](const Row& row) { return row.kind == RowKind::kRank; };
  const bool many_ranks = std::count_if(model.rows.begin(), model.rows.end(), is_rank) >
                          static_cast<std::ptrdiff_t>(most_open);
  RowChoices choices;
  for (std::uint32_t index = 0; index < model.rows.size(); ++index) {
    const Row& row = model.rows[index];
    const bool folded =
        is_rank(row) ? many_ranks && !open_ranks.contains(row.rank) : IsFoldedAtFirst(row.kind);
    if (folded) choices.collapsed.insert(index);
  }
  return choices;
}

SavedRows SaveRows(const RowModel& model, const RowChoices& choices, const RowChoices& first) {
  return {IdsOf(model, Without(choices.collapsed, first.collapsed)),
          IdsOf(model, Without(first.collapsed, choices.collapsed)), IdsOf(model, choices.hidden),
          IdsOf(model, choices.pinned), IdsOf(model, Reordered(model, choices.order))};
}

RestoredRows RestoreRows(const RowModel& model, const SavedRows& saved, const RowChoices& first) {
  std::map<std::string_view, std::uint32_t> rows;
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) rows[model.rows[row].id] = row;
  RestoredRows restored;
  restored.choices = first;
  const auto each = [&rows](const std::vector<std::string>& ids, std::vector<std::string>& unknown,
                            auto add) {
    std::set<std::string_view> seen;
    for (const std::string& id : ids) {
      if (!seen.insert(id).second) continue;
      const auto found = rows.find(id);
      found == rows.end() ? unknown.push_back(id) : add(found->second);
    }
  };
  RowChoices& choices = restored.choices;
  each(saved.collapsed, restored.unknown.collapsed,
       [&](std::uint32_t row) { choices.collapsed.insert(row); });
  each(saved.opened, restored.unknown.opened,
       [&](std::uint32_t row) { choices.collapsed.erase(row); });
  each(saved.hidden, restored.unknown.hidden,
       [&](std::uint32_t row) { choices.hidden.insert(row); });
  each(saved.pinned, restored.unknown.pinned, [&](std::uint32_t row) {
    if (!IsHeading(model.rows[row].kind)) choices.pinned.push_back(row);
  });
  each(saved.order, restored.unknown.order,
       [&](std::uint32_t row) { choices.order.push_back(row); });
  return restored;
}

}  // namespace traceinject
