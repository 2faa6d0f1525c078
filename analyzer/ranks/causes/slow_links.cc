// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/slow_links.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/common/median.h"

namespace traceinject {
namespace {

template <typename T>
std::set<T> Shared(const std::vector<std::set<T>>& slow, const std::vector<std::set<T>>& fast) {
  if (slow.empty()) return {};
  std::set<T> shared = slow.front();
  for (const std::set<T>& other : slow)
    std::erase_if(shared, [&](const T& one) { return !other.contains(one); });
  for (const std::set<T>& other : fast)
    std::erase_if(shared, [&](const T& one) { return other.contains(one); });
  return shared;
}

template <typename T>
std::set<T> Union(const std::vector<std::set<T>>& sets) {
  std::set<T> all;
  for (const std::set<T>& one : sets) all.insert(one.begin(), one.end());
  return all;
}

// Names what the slow groups share and the fast ones do not have.
class Blame {
 public:
  Blame(const Job& job, const std::vector<MatchedGroup>& groups) : job_(job), groups_(groups) {}

  void Assign(const std::vector<std::size_t>& slow, const std::vector<std::size_t>& fast,
              SlowGroups& to) const {
    const auto collect = [&](const std::vector<std::size_t>& which, auto of) {
      std::vector<decltype(of(which.front()))> sets;
      for (const std::size_t g : which) sets.push_back(of(g));
      return sets;
    };
    const auto ranks = [&](std::size_t g) { return RanksOf(g); };
    const auto hosts = [&](std::size_t g) { return HostsOf(g); };
    const auto pairs = [&](std::size_t g) { return PairsOf(g); };
    const std::set<std::size_t> rank = Shared(collect(slow, ranks), collect(fast, ranks));
    const std::set<std::string> host = Shared(collect(slow, hosts), collect(fast, hosts));
    const auto pair = Shared(collect(slow, pairs), collect(fast, pairs));
    // The narrowest that explains it: the two ranks of a link, a rank of several slow groups, else
    // a host or the way between two; of a single slow group its ranks.
    if (const std::set<std::size_t> all = Union(collect(slow, ranks)); all.size() == 2) {
      to.ranks.assign(all.begin(), all.end());
    } else if (rank.size() != 1 && host.size() == 1) {
      to.hosts.assign(host.begin(), host.end());
    } else if (rank.size() != 1 && pair.size() == 1) {
      to.hosts = {pair.begin()->first, pair.begin()->second};
    } else {
      to.ranks.assign(rank.begin(), rank.end());
    }
  }

 private:
  std::set<std::size_t> RanksOf(std::size_t g) const {
    std::set<std::size_t> ranks;
    for (const GroupMember& member : groups_[g].members) ranks.insert(member.summary);
    return ranks;
  }
  std::set<std::string> HostsOf(std::size_t g) const {
    std::set<std::string> hosts;
    for (const GroupMember& member : groups_[g].members) {
      const std::string& host = job_.ranks[member.summary].host;
      if (!host.empty()) hosts.insert(host);
    }
    return hosts;
  }
  std::set<std::pair<std::string, std::string>> PairsOf(std::size_t g) const {
    const std::set<std::string> hosts = HostsOf(g);
    std::set<std::pair<std::string, std::string>> pairs;
    for (auto a = hosts.begin(); a != hosts.end(); ++a) {
      for (auto b = std::next(a); b != hosts.end(); ++b) pairs.emplace(*a, *b);
    }
    return pairs;
  }

  const Job& job_;
  const std::vector<MatchedGroup>& groups_;
};

// Slow groups of one size, with the class of work that takes most of their time.
struct SlowSet {
  std::map<std::size_t, double> usual_share;  // per slow group: usual / own, of its main class
  std::map<std::size_t, double> total_ns;     // of that class
  const LinkClass* main = nullptr;
  double main_ns = 0, bytes = 0, ns_per_byte = 0, usual = 0;
};

void AddClass(const LinkClass& key, const std::vector<GroupRate>& rates, const UsualRate& usual,
              SlowSet& to) {
  std::vector<double> slow;
  double slow_ns = 0, bytes = 0;
  for (const GroupRate& rate : rates) {
    if (rate.count < kMinTransfers || rate.ns_per_byte <= usual.limit) continue;
    slow.push_back(rate.ns_per_byte);
    slow_ns += rate.total_ns;
    bytes = rate.bytes / static_cast<double>(rate.count);
    if (rate.total_ns <= to.total_ns[rate.group]) continue;
    to.total_ns[rate.group] = rate.total_ns;
    to.usual_share[rate.group] = usual.ns_per_byte / rate.ns_per_byte;
  }
  if (slow.empty() || slow_ns <= to.main_ns) return;
  to.main = &key;
  to.main_ns = slow_ns;
  to.bytes = bytes;
  to.ns_per_byte = Median(std::move(slow));
  to.usual = usual.ns_per_byte;
}

// Slow groups of one size or several, as one finding.
SlowGroups Describe(const std::vector<const SlowSet*>& sets) {
  SlowGroups link;
  double most_ns = 0;
  for (const SlowSet* set : sets) {
    for (const auto& [group, share] : set->usual_share) link.groups.push_back(group);
    if (set->main_ns <= most_ns) continue;
    most_ns = set->main_ns;
    link.size = set->main->size;
    link.function = set->main->function;
    link.bytes = std::llround(set->bytes);
    link.transfer_ns = set->ns_per_byte * set->bytes;
    link.usual_ns = set->usual * set->bytes;
  }
  std::sort(link.groups.begin(), link.groups.end());
  return link;
}

JobSaving SavingOfUsual(const std::vector<const SlowSet*>& sets, const JobReplay& replay) {
  JobChange usual;
  usual.transfer = [&](std::size_t g) {
    for (const SlowSet* set : sets) {
      if (const auto found = set->usual_share.find(g); found != set->usual_share.end())
        return found->second;
    }
    return 1.0;
  };
  return SavingOf(replay, usual);
}

}  // namespace

std::vector<SlowGroups> FindSlowLinks(const Job& job, const std::vector<MatchedGroup>& groups,
                                      const LinkRates& rates, const JobReplay& replay) {
  std::map<int, SlowSet> by_size;
  std::set<std::size_t> compared;
  for (const auto& [key, list] : rates) {
    if (!IsComparable(key)) continue;
    const UsualRate usual = UsualOf(list);
    if (usual.ns_per_byte <= 0) continue;
    AddClass(key, list, usual, by_size[key.size]);
    for (const GroupRate& rate : list) {
      if (rate.count >= kMinTransfers) compared.insert(rate.group);
    }
  }
  std::erase_if(by_size, [](const auto& one) { return one.second.main == nullptr; });
  const Blame blame(job, groups);
  const auto make = [&](const std::vector<const SlowSet*>& sets) {
    SlowGroups link = Describe(sets);
    std::vector<std::size_t> fast;
    for (const std::size_t g : compared) {
      const bool of_size = std::any_of(sets.begin(), sets.end(), [&](const SlowSet* set) {
        return set->main->pair ? groups[g].pair
                               : !groups[g].pair && set->main->size == groups[g].size;
      });
      if (of_size && !std::binary_search(link.groups.begin(), link.groups.end(), g))
        fast.push_back(g);
    }
    blame.Assign(link.groups, fast, link);
    link.saving = SavingOfUsual(sets, replay);
    return link;
  };
  std::vector<const SlowSet*> all;
  for (const auto& [size, set] : by_size) all.push_back(&set);
  if (all.empty()) return {};
  // One cause for all is likelier than one for each.
  std::vector<SlowGroups> links{make(all)};
  if (all.size() == 1 || !links.front().ranks.empty() || !links.front().hosts.empty()) return links;
  links.clear();
  for (const SlowSet* set : all) links.push_back(make({set}));
  std::stable_sort(links.begin(), links.end(), [](const SlowGroups& a, const SlowGroups& b) {
    return a.saving.ns > b.saving.ns;
  });
  return links;
}

}  // namespace traceinject
