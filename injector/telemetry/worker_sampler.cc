// SPDX-License-Identifier: Apache-2.0
#include "injector/telemetry/worker_sampler.h"

#include <algorithm>

#include "injector/base/own_child.h"

namespace traceinject {
namespace {

std::int64_t StartOf(const ProcStat& stat, const WorkerClock& now) {
  return now.time - (now.boottime_ns - stat.start_ticks * TickNs());
}

}  // namespace

std::optional<ProcStat> WorkerSampler::ReadStat(std::int64_t pid) const {
  const auto text = ReadTextFile(Folder(pid) + "/stat");
  return text ? ParseProcStat(*text) : std::nullopt;
}

std::vector<std::int64_t> WorkerSampler::Children() const {
  std::vector<std::int64_t> children;
  const auto tasks = ListFolder(proc_ + "/self/task");
  bool listed = false;
  for (const std::string& task : tasks.value_or(std::vector<std::string>())) {
    const auto text = ReadTextFile(proc_ + "/self/task/" + task + "/children");
    if (!text) continue;
    listed = true;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find(' ', at), text->size());
      if (const std::int64_t pid = WholeNumber(text->substr(at, end - at)); pid > 0)
        children.push_back(pid);
      at = end + 1;
    }
  }
  if (listed) return children;
  // A kernel without CONFIG_PROC_CHILDREN.
  for (const std::string& name : ListFolder(proc_).value_or(std::vector<std::string>())) {
    const std::int64_t pid = WholeNumber(name);
    if (pid <= 0) continue;
    const auto stat = ReadStat(pid);
    if (stat && stat->parent == pid_) children.push_back(pid);
  }
  return children;
}

bool WorkerSampler::IsPython(std::int64_t pid) const {
  const std::string path = ReadLinkText(Folder(pid) + "/exe");
  return path.substr(path.rfind('/') + 1).starts_with("python");
}

// A child that was forked while recording has this process' open devices and cannot use them; one
// from before, or that runs a program of its own, has only those that it opened.
bool WorkerSampler::UsesGpu(const WorkerRow& worker) const {
  const std::string folder = Folder(worker.pid);
  if (worker.start >= 0 &&
      ReadTextFile(folder + "/cmdline") == ReadTextFile(proc_ + "/self/cmdline"))
    return false;
  const auto files = ListFolder(folder + "/fd");
  return files && std::any_of(files->begin(), files->end(), [&](const std::string& file) {
           const std::string path = ReadLinkText(folder + "/fd/" + file);
           constexpr std::string_view kDevice = "/dev/nvidia";
           return path.starts_with(kDevice) && path.size() > kDevice.size() &&
                  path[kDevice.size()] >= '0' && path[kDevice.size()] <= '9';
         });
}

// Null: there are too many.
WorkerSampler::Worker* WorkerSampler::Add(std::int64_t pid, const ProcStat& stat,
                                          const WorkerClock& now) {
  if (workers_.size() >= kMax) return nullptr;
  Worker& worker = workers_[pid];
  worker = Worker();
  worker.row.id = ++last_id_;
  worker.row.pid = pid;
  worker.row.start = StartOf(stat, now);
  worker.start_ticks = stat.start_ticks;
  worker.cpu_ns = stat.cpu_ticks * TickNs();
  return &worker;
}

void WorkerSampler::End(Worker* worker, const WorkerClock& now, Found* found) {
  if (worker->states > 0) AddSample(worker, now, found);
  worker->row.ended = true;
  worker->row.end = now.time;
  found->workers.push_back(worker->row);
}

bool WorkerSampler::Tell(std::int64_t pid, std::uint32_t loader, const WorkerClock& now,
                         Found* found) {
  const auto stat = ReadStat(pid);
  if (!stat) return false;
  const auto known = workers_.find(pid);
  Worker* worker = known != workers_.end() && known->second.start_ticks == stat->start_ticks
                       ? &known->second
                       : Add(pid, *stat, now);
  if (worker == nullptr || (worker->named && worker->row.loader == loader)) return true;
  worker->named = true;
  worker->row.loader = loader;
  found->workers.push_back(worker->row);
  return true;
}

void WorkerSampler::FindChildren(const WorkerClock& now, Found* found) {
  for (const std::int64_t pid : Children()) {
    const pid_t own = g_own_child.load(std::memory_order_acquire);
    if (workers_.contains(pid) || own == pid || own == kOwnChildToCome || !IsPython(pid)) continue;
    const auto stat = ReadStat(pid);
    if (!stat || stat->state == 'Z') continue;
    if (UsesGpu({0, pid, 0, StartOf(*stat, now), 0, false})) continue;
    if (const Worker* worker = Add(pid, *stat, now)) found->workers.push_back(worker->row);
  }
  // One that nobody named may have started another program, or taken a GPU.
  for (auto entry = workers_.begin(); entry != workers_.end();) {
    Worker& worker = entry->second;
    const bool leaves = !worker.named && (!IsPython(worker.row.pid) || UsesGpu(worker.row));
    if (leaves) End(&worker, now, found);
    entry = leaves ? workers_.erase(entry) : std::next(entry);
  }
}

void WorkerSampler::LookAtStates(const WorkerClock& now, Found* found) {
  for (auto entry = workers_.begin(); entry != workers_.end();) {
    Worker& worker = entry->second;
    const auto stat = ReadStat(worker.row.pid);
    const bool same = stat && stat->start_ticks == worker.start_ticks;
    if (same) worker.cpu_ns = stat->cpu_ticks * TickNs();
    if (!same || stat->state == 'Z' || stat->state == 'X') {
      End(&worker, now, found);
      entry = workers_.erase(entry);
      continue;
    }
    ++worker.states;
    if (stat->state == 'D') ++worker.states_disk;
    ++entry;
  }
}

void WorkerSampler::AddSample(Worker* worker, const WorkerClock& now, Found* found) const {
  found->samples.push_back({now.time, worker->row.id, worker->cpu_ns, worker->read_bytes,
                            worker->states, worker->states_disk});
  worker->states = worker->states_disk = 0;
}

void WorkerSampler::Sample(const WorkerClock& now, Found* found) {
  for (auto& [pid, worker] : workers_) {
    const auto text = ReadTextFile(Folder(pid) + "/io");
    // Not of a process that just ended: what it had read stays.
    if (text) {
      const std::int64_t bytes = WholeNumber(StatusValue(*text, "read_bytes"));
      worker.read_bytes = std::max(worker.read_bytes, bytes);
    }
    AddSample(&worker, now, found);
  }
}

}  // namespace traceinject
