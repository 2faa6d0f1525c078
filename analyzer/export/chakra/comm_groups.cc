// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/comm_groups.h"

#include <fmt/format.h>

#include <set>

namespace traceinject {

std::vector<int> NumbersOfRanks(const Run& run) {
  std::vector<int> numbers;
  std::set<int> used;
  for (const Rank& rank : run.ranks) {
    if (!rank.rank || *rank.rank < 0 || !used.insert(*rank.rank).second) break;
    numbers.push_back(*rank.rank);
  }
  if (numbers.size() == run.ranks.size()) return numbers;
  numbers.clear();
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank)
    numbers.push_back(static_cast<int>(rank));
  return numbers;
}

CommGroups::CommGroups(const Run& run) : run_(run) {
  const std::vector<int> numbers = NumbersOfRanks(run);
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    for (const Communicator& communicator : run.ranks[rank].communicators) {
      const auto [entry, is_new] = groups_.try_emplace(communicator.hash);
      Group& group = entry->second;
      if (is_new) group.number = static_cast<int>(groups_.size());
      if (communicator.size) group.size = communicator.size;
      if (communicator.rank) group.members[*communicator.rank] = numbers[rank];
    }
  }
}

const CommGroups::Group* CommGroups::Find(std::size_t rank, std::uint32_t communicator) const {
  const auto& communicators = run_.ranks[rank].communicators;
  if (communicator >= communicators.size()) return nullptr;
  return &groups_.at(communicators[communicator].hash);
}

int CommGroups::NumberOf(std::size_t rank, std::uint32_t communicator) const {
  const Group* group = Find(rank, communicator);
  return group == nullptr ? 0 : group->number;
}

std::optional<int> CommGroups::MemberOf(std::size_t rank, std::uint32_t communicator,
                                        int member) const {
  const Group* group = Find(rank, communicator);
  if (group == nullptr) return std::nullopt;
  const auto found = group->members.find(member);
  return found == group->members.end() ? std::nullopt : std::optional(found->second);
}

std::string CommGroups::Json() const {
  std::map<int, std::string> lines;
  for (const auto& [hash, group] : groups_) {
    if (static_cast<int>(group.members.size()) != group.size.value_or(0)) continue;
    std::string members;
    for (const auto& [member, number] : group.members)
      members += fmt::format("{}{}", members.empty() ? "" : ", ", number);
    lines[group.number] = fmt::format("\"{}\": [{}]", group.number, members);
  }
  std::string text;
  for (const auto& [number, line] : lines) text += (text.empty() ? "\n  " : ",\n  ") + line;
  return "{" + text + "\n}\n";
}

}  // namespace traceinject
