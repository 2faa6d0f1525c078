// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/job_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/text_layout.h"

namespace traceinject {
namespace {

struct Host {
  std::set<int> ranks;  // -1: a process without one
  std::set<std::string> gpus;
  std::int64_t devices = 0, steps = 0, operations = 0, cut_off = 0;
};

std::string RanksOf(const Host& host) {
  std::vector<int> ranks(host.ranks.begin(), host.ranks.end());
  if (ranks.front() < 0) return "-";
  return NumberRanges(ranks);
}

std::map<std::string, Host> HostsOf(const Job& job) {
  std::map<std::string, Host> hosts;
  for (const RankSummary& rank : job.ranks) {
    Host& host = hosts[rank.host];
    host.ranks.insert(rank.rank);
    host.gpus.insert(Printable(rank.gpu));
    ++host.devices;
    host.steps = std::max(host.steps, static_cast<std::int64_t>(rank.steps.size()));
    for (const GroupOperations& group : rank.groups)
      host.operations += static_cast<std::int64_t>(group.count());
    host.cut_off += rank.closed ? 0 : 1;
  }
  return hosts;
}

std::string Title(const Job& job, std::size_t hosts) {
  std::set<int> ranks;
  int world = 0;
  for (const RankSummary& rank : job.ranks) {
    ranks.insert(rank.rank);
    world = std::max(world, rank.world_size);
  }
  const auto known = static_cast<std::int64_t>(ranks.size());
  const std::string on = fmt::format(" on {} host{}", hosts, hosts == 1 ? "" : "s");
  if (*ranks.begin() < 0)
    return fmt::format("{} GPUs of processes that are no ranks of a job,{}", job.ranks.size(), on);
  const std::string of = known < world ? fmt::format(" of {}", FormatCount(world)) : "";
  return fmt::format("{}{} ranks{}", FormatCount(known), of, on);
}

}  // namespace

std::string JobText(const Job& job) {
  const std::map<std::string, Host> hosts = HostsOf(job);
  TextPage page(false);
  page.Sentence(Title(job, hosts.size()), 0);
  if (const std::string& run_id = job.ranks.front().run_id; !run_id.empty())
    page.Sentence(fmt::format("attempt: {}", Printable(run_id)));
  std::vector<std::vector<std::string>> rows = {
      {"host", "ranks", "GPU", "GPUs", "steps", "NCCL operations", "cut off"}};
  for (const auto& [name, host] : hosts) {
    rows.push_back({name.empty() ? "-" : Printable(name), RanksOf(host),
                    JoinFirst({host.gpus.begin(), host.gpus.end()}, 2), FormatCount(host.devices),
                    FormatCount(host.steps), FormatCount(host.operations),
                    FormatCount(host.cut_off)});
  }
  page.Table(rows, 3, 6);
  for (const std::string& note : job.notes) page.Sentence("note: " + Printable(note));
  return page.text();
}

}  // namespace traceinject
