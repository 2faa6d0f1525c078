// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_facts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace traceinject {
namespace {

constexpr std::int64_t kLatestBase_ns = std::int64_t{1} << 62;

std::string Uuid(std::string_view text) {
  return text.empty() || text.starts_with("GPU-") ? std::string(text) : "GPU-" + std::string(text);
}

}  // namespace

Status NsysFacts::Read() {
  using Part = Status (NsysFacts::*)();
  constexpr std::array<Part, 7> kParts = {
      &NsysFacts::ReadSession, &NsysFacts::ReadProcesses, &NsysFacts::ReadThreads,
      &NsysFacts::ReadHost,    &NsysFacts::ReadGpus,      &NsysFacts::ReadCudaDevices,
      &NsysFacts::ReadStreams,
  };
  for (const Part part : kParts) {
    const Status status = (this->*part)();
    if (!status.ok()) return status;
  }
  return Done{};
}

Status NsysFacts::ReadSession() {
  const Status base = rows_.ForEachRowOf("TARGET_INFO_SESSION_START_TIME", {}, {"utcEpochNs"},
                                         [&](const SqlRow& row) {
                                           const std::int64_t start_ns = row.int64(0);
                                           if (start_ns >= 0 && start_ns <= kLatestBase_ns)
                                             base_ns_ = start_ns;
                                         });
  if (!base.ok()) return base;
  return rows_.ForEachRowOf(
      "ANALYSIS_DETAILS", {}, {"startTime", "stopTime"}, [&](const SqlRow& row) {
        const Interval session{row.int64(0), row.int64(1)};
        if (!IsPlausible(session.start) || !IsPlausible(session.end) || row.is_null(1)) return;
        if (session.start < session.end) session_ = session;
      });
}

Status NsysFacts::ReadProcesses() {
  return rows_.ForEachRowOf("PROCESSES", {}, {"globalPid", "name"}, [&](const SqlRow& row) {
    processes_[NsysProcessKey(row.int64(0))] = row.text(1);
  });
}

Status NsysFacts::ReadThreads() {
  return rows_.ForEachRowOf("ThreadNames", {}, {"globalTid", "nameId"}, [&](const SqlRow& row) {
    const std::string* name = strings_.Find(row.int64(1));
    if (name != nullptr) threads_[row.int64(0)] = *name;
  });
}

Status NsysFacts::ReadHost() {
  return rows_.ForEachRowOf("TARGET_INFO_SYSTEM_ENV", {}, {"name", "value"},
                            [&](const SqlRow& row) {
                              if (row.text(0) == "Hostname") host_ = row.text(1);
                            });
}

Status NsysFacts::ReadGpus() {
  return rows_.ForEachRowOf(
      "TARGET_INFO_GPU", {},
      {"id", "name", "uuid", "busLocation", "smCount", "computeMajor", "computeMinor", "clockRate",
       "totalMemory", "l2CacheSize", "smMajor", "smMinor", "cuDevice"},
      [&](const SqlRow& row) {
        Device device;
        device.name = row.text(1);
        device.uuid = Uuid(row.text(2));
        device.pci_bus_id = row.text(3);
        device.sm_count = row.optional_int(4);
        // Old versions have the second pair only.
        const int major = row.is_null(5) ? 10 : 5;
        device.cc_major = row.optional_int(major);
        device.cc_minor = row.optional_int(major + 1);
        if (row.int64(7) > 0) device.sm_clock_khz = Narrow(row.int64(7) / 1000);
        device.memory_bytes = row.optional_int64(8);
        device.l2_bytes = row.optional_int64(9);
        device.ordinal = row.is_null(12) ? -1 : Narrow(row.int64(12));
        gpus_[row.int64(0)] = std::move(device);
      });
}

Status NsysFacts::ReadCudaDevices() {
  return rows_.ForEachRowOf("TARGET_INFO_CUDA_DEVICE", {}, {"pid", "cudaId", "gpuId", "uuid"},
                            [&](const SqlRow& row) {
                              if (row.is_null(0) || row.is_null(1)) return;
                              CudaDevice& device = cuda_devices_[{row.int64(0), row.int64(1)}];
                              if (!row.is_null(2)) device.gpu = row.int64(2);
                              device.uuid = Uuid(row.text(3));
                            });
}

Status NsysFacts::ReadStreams() {
  const auto key = [](const SqlRow& row) {
    return StreamKey(row.int64(0), row.int64(1), row.int64(2));
  };
  const Status described = rows_.ForEachRowOf("TARGET_INFO_CUDA_STREAM", {},
                                              {"processId", "contextId", "streamId", "priority"},
                                              [&](const SqlRow& row) {
                                                if (!row.is_null(3))
                                                  priorities_[key(row)] = Narrow(row.int64(3));
                                              });
  if (!described.ok()) return described;
  return rows_.ForEachRowOf("TARGET_INFO_NVTX_CUDA_STREAM", {},
                            {"processId", "contextId", "streamId", "name"},
                            [&](const SqlRow& row) { stream_names_[key(row)] = row.text(3); });
}

// By the GPU that the process saw under this number; without such a row, or if it leads nowhere (an
// export of a container, of a part of the machine), by CUDA's number of it on the machine.
std::optional<Device> NsysFacts::FindGpu(std::int64_t pid, int ordinal) const {
  if (const auto seen = cuda_devices_.find({pid, ordinal}); seen != cuda_devices_.end()) {
    const CudaDevice& device = seen->second;
    const auto by_id = device.gpu ? gpus_.find(*device.gpu) : gpus_.end();
    if (by_id != gpus_.end()) return by_id->second;
    for (const auto& [id, gpu] : gpus_) {
      if (!gpu.uuid.empty() && gpu.uuid == device.uuid) return gpu;
    }
  }
  if (const auto by_id = gpus_.find(ordinal); by_id != gpus_.end()) return by_id->second;
  for (const auto& [id, gpu] : gpus_) {
    if (gpu.ordinal == ordinal) return gpu;
  }
  return AnyGpu();
}

// Which one it was is not known: what all of them have in common is.
std::optional<Device> NsysFacts::AnyGpu() const {
  if (gpus_.empty()) return std::nullopt;
  Device any = gpus_.begin()->second;
  if (gpus_.size() == 1) return any;
  const bool alike = std::all_of(gpus_.begin(), gpus_.end(), [&](const auto& gpu) {
    return gpu.second.name == any.name && gpu.second.memory_bytes == any.memory_bytes;
  });
  if (!alike) return std::nullopt;
  any.uuid.clear();
  any.pci_bus_id.clear();
  return any;
}

void NsysFacts::DescribeDevice(std::int64_t pid, Device& device) const {
  std::optional<Device> found = FindGpu(pid, device.ordinal);
  if (!found) return;
  Device described = *std::move(found);  // without events
  described.ordinal = device.ordinal;
  described.ops = std::move(device.ops);
  device = std::move(described);
}

void NsysFacts::Describe(std::uint64_t process_key, Rank& rank) const {
  const std::int64_t pid = rank.process.pid;
  rank.process.host = host_;
  if (const auto name = processes_.find(process_key); name != processes_.end())
    rank.process.executable = name->second;
  for (Thread& thread : rank.threads) {
    const auto global = static_cast<std::int64_t>(process_key << 24) | thread.tid;
    if (const auto name = threads_.find(global); name != threads_.end()) thread.name = name->second;
  }
  for (Device& device : rank.devices) DescribeDevice(pid, device);
  for (Stream& stream : rank.streams) {
    const StreamKey key(pid, stream.context, stream.stream_id);
    if (const auto found = priorities_.find(key); found != priorities_.end())
      stream.priority = found->second;
    if (const auto found = stream_names_.find(key); found != stream_names_.end()) {
      stream.name = static_cast<std::uint32_t>(rank.strings.size());
      rank.strings.push_back(found->second);
    }
  }
  if (!session_) return;
  rank.start = std::min(session_->start, rank.start);
  rank.end = session_->end;
}

}  // namespace traceinject
