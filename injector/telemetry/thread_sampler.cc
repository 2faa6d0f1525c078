// SPDX-License-Identifier: Apache-2.0
#include "injector/telemetry/thread_sampler.h"

#include <cstdio>

#include "machine/proc_files.h"

namespace traceinject {

// Time and number of turns on a processor, where the kernel accounts for them.
bool ThreadSampler::ReadCpu(const std::string& folder, Known* now) const {
  const auto text = ReadTextFile(folder + "/schedstat");
  long long cpu_ns = 0, runqueue_ns = 0, slices = 0;
  // A kernel that does not account for them may show zeros.
  if (!text || std::sscanf(text->c_str(), "%lld %lld %lld", &cpu_ns, &runqueue_ns, &slices) != 3 ||
      slices == 0)
    return false;
  now->row.cpu_ns = cpu_ns;
  now->row.runqueue_ns = runqueue_ns;
  now->slices = slices;
  return true;
}

// `now` is what is known of the thread. False: it ended.
bool ThreadSampler::Read(const std::string& folder, Known* now) const {
  const Known before = *now;
  const bool accounted = ReadCpu(folder, now);
  if (accounted && now->slices == before.slices && now->row.cpu_ns == before.row.cpu_ns)
    return true;
  const auto text = ReadTextFile(folder + "/stat");
  const auto stat = text ? ParseProcStat(*text) : std::nullopt;
  if (!stat) return false;
  now->start_ticks = stat->start_ticks;
  now->row.minor_faults = stat->minor_faults;
  now->row.major_faults = stat->major_faults;
  if (!accounted) {
    now->row.cpu_ns = stat->cpu_ticks * TickNs();
    now->row.runqueue_ns = -1;
  }
  const auto status = ReadTextFile(folder + "/status");
  const auto switches = [&](const char* name) {
    return status ? WholeNumber(StatusValue(*status, name)) : -1;
  };
  now->row.voluntary_switches = switches("voluntary_ctxt_switches");
  now->row.involuntary_switches = switches("nonvoluntary_ctxt_switches");
  return true;
}

bool ThreadSampler::Sample(std::int64_t time, std::vector<ThreadSample>* samples) {
  const auto names = ListFolder(folder_);
  if (!names) return false;
  ++round_;
  for (const std::string& name : *names) {
    const std::int64_t tid = WholeNumber(name);
    if (tid < 0) continue;
    auto [entry, fresh] = known_.try_emplace(tid);
    Known& known = entry->second;
    Known now = known;
    if (!Read(folder_ + "/" + name, &now)) continue;
    now.round = round_;
    fresh = fresh || now.start_ticks != known.start_ticks;
    const HostSampleRow &a = now.row, &b = known.row;
    now.stored = fresh || a.cpu_ns != b.cpu_ns || a.runqueue_ns != b.runqueue_ns ||
                 a.minor_faults != b.minor_faults || a.major_faults != b.major_faults ||
                 a.voluntary_switches != b.voluntary_switches ||
                 a.involuntary_switches != b.involuntary_switches;
    if (now.stored) {
      if (!fresh && !known.stored) {
        known.row.time = last_time_;
        samples->push_back({tid, known.start_ticks, known.row});
      }
      now.row.time = time;
      samples->push_back({tid, now.start_ticks, now.row});
    }
    known = now;
  }
  std::erase_if(known_, [this](const auto& thread) { return thread.second.round != round_; });
  last_time_ = time;
  return true;
}

}  // namespace traceinject
